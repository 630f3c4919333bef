import type { Ask } from "../load";
import type { Checkpoint, Hello } from "../types";

/** Tabs that are a module of their own. */
export type LazyTab = "Graph" | "Storage" | "Memory";

/** What such a tab is given: plain values, so that it needs no part of the page's own code. */
export interface TabProps {
  tab: LazyTab;
  /** A prefix for ids and names in the document. */
  view: string;
  answer: Checkpoint;
  /** The namespace of a nested graph that the checkpoint is in; undefined: the one that is shown. */
  at: string | undefined;
  step: number | null;
  /** The newest checkpoint; another one means that there is more to know. */
  head: string | null;
  hello: Hello;
  /** Stands for the history: answers that do not change are kept as long as it lives. */
  history: object;
  ask: Ask;
  goTo(tab: string): void;
  pick(id: string): void;
  openNamespace(ns: string): void;
  /** The newest row on the way from the root to here that a node made. */
  lastRun(node: string): { id: string; step: number | null } | null;
}

export interface TabsModule {
  show(host: HTMLElement, props: TabProps | null): void;
}

export interface Failure {
  type: string;
  message: string;
  traceback: string | null;
}

/** An error as it is shown. It may come from another module, whose classes are not ours. */
export function failureOf(reason: unknown): Failure {
  const told = (
    typeof reason === "object" && reason !== null ? reason : { message: String(reason) }
  ) as Partial<Failure>;
  return { type: told.type ?? "Error", message: told.message ?? "", traceback: told.traceback ?? null };
}
