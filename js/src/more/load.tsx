import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { loadModule } from "../load";
import { asKernelError, type Store } from "../store";
import type { KernelError } from "../transport";
import { ErrorBox } from "../ui";
import type * as Entry from "./entry";
import { SHARED } from "./shared";

export type Parts = typeof Entry;

let parts: Parts | null = null;

/** For a page that has all in one file. */
export function provideParts(all: Parts): void {
  parts = all;
}

/** Fetches the later part of the page, once. */
export function loadParts(store: Store): Promise<Parts> {
  if (parts) return Promise.resolve(parts);
  const ask = <T,>(kind: string, body?: Record<string, unknown>) => store.ask<T>(kind, body);
  return loadModule<{ default: (require: (name: string) => unknown) => Parts }>(ask, "more").then((made) => {
    parts ??= made.default((name) => SHARED[name]);
    return parts;
  });
}

type Props<K extends keyof Parts> = Parts[K] extends ComponentType<infer P> ? P : Parameters<Parts[K]>[0];

/** A component of the later part; nothing for the moment until it is there. */
export function Later<K extends keyof Parts>(props: { store: Store; part: K; give: Props<K> }) {
  const [, setReady] = useState(parts !== null);
  const [error, setError] = useState<KernelError | null>(null);
  const load = () => {
    setError(null);
    loadParts(props.store).then(
      () => setReady(true),
      (reason) => setError(asKernelError(reason)),
    );
  };
  useEffect(() => {
    if (!parts) load();
  }, []);
  if (error) return <ErrorBox error={error} onRetry={load} />;
  if (!parts) return null;
  const Part = parts[props.part] as unknown as ComponentType<Props<K>>;
  return <Part {...(props.give as Props<K> & object)} />;
}
