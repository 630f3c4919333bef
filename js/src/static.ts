import type { Checkpoint, Hello, Model } from "./types";

/** What an exported page carries. */
export interface StaticData {
  hello: Hello;
  checkpoints: Record<string, Checkpoint>;
  /** What tabs ask for when they are opened: by kind, or by kind and checkpoint. */
  answers?: Record<string, object>;
  height?: number;
  theme?: string;
}

type Handler = (...args: never[]) => void;

/** A model without a kernel: it answers from the data in the page. */
export class StaticModel implements Model {
  private readonly handlers = new Map<string, Set<Handler>>();

  constructor(private readonly data: StaticData) {}

  get(name: string): unknown {
    if (name === "height") return this.data.height ?? this.data.hello.height ?? 560;
    if (name === "theme") return this.data.theme ?? this.data.hello.theme ?? "auto";
    return undefined;
  }

  on(event: string, fn: Handler): void {
    const set = this.handlers.get(event) ?? new Set();
    this.handlers.set(event, set.add(fn));
  }

  off(event: string, fn?: Handler): void {
    if (fn) this.handlers.get(event)?.delete(fn);
    else this.handlers.delete(event);
  }

  send(content: unknown): void {
    const message = content as { id: number; kind: string; checkpoint?: string; name?: string };
    queueMicrotask(() => this.emit({ re: message.id, ...this.answer(message) }));
  }

  private emit(message: object): void {
    for (const fn of this.handlers.get("msg:custom") ?? []) (fn as (m: object) => void)(message);
  }

  private answer(message: { kind: string; checkpoint?: string; name?: string }): object {
    const about = message.checkpoint ?? message.name;
    const kept = this.data.answers?.[about === undefined ? message.kind : `${message.kind} ${about}`];
    if (kept) return { ok: true, result: kept };
    switch (message.kind) {
      case "hello":
        return { ok: true, result: this.data.hello };
      case "select":
        return { ok: true, result: {} };
      case "checkpoint": {
        const found = this.data.checkpoints[message.checkpoint ?? ""];
        if (found) return { ok: true, result: found };
        return refusal("NotExported", "The values of this checkpoint were not exported.");
      }
      default:
        return refusal("NoKernel", `An exported page has no kernel: "${message.kind}" needs one.`);
    }
  }
}

function refusal(type: string, message: string): object {
  return { ok: false, error: { type, message } };
}
