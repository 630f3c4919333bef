import { type Ask, loadModule } from "./load";
import type { Offline, OfflineData } from "./offline/entry";
import type { Checkpoint, Hello, Model } from "./types";

/** One namespace of an exported history. */
interface Space {
  hello: Partial<Hello>;
  checkpoints: Record<string, Checkpoint>;
  /** What tabs ask for when they are opened: by kind, or by kind and checkpoint. */
  answers?: Record<string, object>;
}

/** What an exported page carries. */
export interface StaticData extends Space {
  hello: Hello;
  /** The other namespaces. */
  spaces?: Record<string, Space>;
  /** What was left out, in a sentence. */
  cut?: string;
  height?: number;
  theme?: string;
}

type Handler = (...args: never[]) => void;

/** A model without a kernel: it answers from the data in the page. */
export class StaticModel implements Model {
  private readonly handlers = new Map<string, Set<Handler>>();

  private ns: string;
  private offline: Promise<Offline> | null = null;

  constructor(private readonly data: StaticData) {
    this.ns = data.hello.ns;
  }

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
    const message = content as Message;
    void this.answer(message).then((answer) => {
      this.emit({ re: message.id, ...answer });
      if (message.kind === "hello" && this.data.cut) this.emit({ event: "notice", text: this.data.cut });
    });
  }

  private emit(message: object): void {
    for (const fn of this.handlers.get("msg:custom") ?? []) (fn as (m: object) => void)(message);
  }

  private async answer(message: Message): Promise<object> {
    const space = this.space(message.at ?? this.ns);
    const about = message.kind === "inside" ? `${message.ns} ${message.owner}` : (message.checkpoint ?? message.name);
    const name = about === undefined ? message.kind : `${message.kind} ${about}`;
    const kept = (message.kind === "asset" ? this.data : space)?.answers?.[name];
    if (kept) return { ok: true, result: kept };
    switch (message.kind) {
      case "hello":
        return { ok: true, result: this.data.hello };
      case "select":
      case "ping":
        return { ok: true, result: {} };
      case "thread":
        return this.show(message);
      case "checkpoint": {
        const found = space?.checkpoints[message.checkpoint ?? ""];
        if (found) return { ok: true, result: found };
        return refusal("NotExported", "This checkpoint is not in the file: it was too much, or could not be read.");
      }
      default:
        return this.ask(message);
    }
  }

  private space(ns: string): Space | undefined {
    return ns === this.data.hello.ns ? this.data : this.data.spaces?.[ns];
  }

  /** Another namespace of the thread in the place of the one that is shown. */
  private show(message: Message): object {
    const ns = message.ns ?? "";
    const space = this.space(ns);
    if (!space || message.thread !== this.data.hello.thread) {
      return refusal("NotExported", "This page is an export of one thread: open the notebook to see others.");
    }
    this.ns = ns;
    return { ok: true, result: { ...this.data.hello, notes: {}, ...space.hello } };
  }

  /** What is worked out from the values, by a module that comes when it is first needed. */
  private async ask(message: Message): Promise<object> {
    try {
      this.offline ??= loadModule<{ offline(data: object): Offline }>(this.asset, "offline").then((it) =>
        it.offline(this.data as OfflineData),
      );
      return { ok: true, result: (await this.offline).answer(message as never, this.ns) };
    } catch (error) {
      return refusal("NotExported", error instanceof Error ? error.message : String(error));
    }
  }

  private readonly asset: Ask = async <T>(kind: string, body?: Record<string, unknown>) => {
    const found = this.data.answers?.[`${kind} ${body?.name}`];
    if (!found) throw new Error("This page was exported without the module that answers here.");
    return found as T;
  };
}

interface Message {
  id: number;
  kind: string;
  at?: string | null;
  checkpoint?: string;
  name?: string;
  ns?: string;
  owner?: string;
  thread?: string | null;
}

function refusal(type: string, message: string): object {
  return { ok: false, error: { type, message } };
}
