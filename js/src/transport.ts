import type { Model } from "./types";

/** An error that the kernel answered with. */
export class KernelError extends Error {
  constructor(
    readonly type: string,
    message: string,
    readonly traceback: string | null = null,
  ) {
    super(message);
    this.name = "KernelError";
  }
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  slow: ReturnType<typeof setTimeout>;
  late: ReturnType<typeof setTimeout>;
  isSlow: boolean;
}

export interface TransportOptions {
  /** After this long without an answer the kernel counts as busy. */
  slowMs?: number;
  /** After this long the request fails. */
  lateMs?: number;
}

type Listener = (message: Record<string, unknown>) => void;

/** Numbered requests and their answers over one model. */
export class Transport {
  private next = 1;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Set<Listener>();
  private slowCount = 0;
  private readonly slowMs: number;
  private readonly lateMs: number;
  /** Told whenever "the kernel is busy" starts or ends. */
  onSlow: (slow: boolean) => void = () => {};
  /** Told when a message could not be sent. */
  onLost: () => void = () => {};

  constructor(
    private readonly model: Model,
    options: TransportOptions = {},
  ) {
    this.slowMs = options.slowMs ?? 1500;
    this.lateMs = options.lateMs ?? 30 * 60 * 1000;
    this.model.on("msg:custom", this.receive as never);
  }

  request<T>(kind: string, body: Record<string, unknown> = {}): Promise<T> {
    const id = this.next++;
    return new Promise<T>((resolve, reject) => {
      const entry: Waiting = {
        resolve: resolve as (value: unknown) => void,
        reject,
        isSlow: false,
        slow: setTimeout(() => this.markSlow(entry), this.slowMs),
        late: setTimeout(() => {
          this.settle(id)?.reject(
            new KernelError("Timeout", `No answer to "${kind}": the kernel may have stopped. Run the cell again.`),
          );
        }, this.lateMs),
      };
      this.waiting.set(id, entry);
      try {
        this.model.send({ id, kind, ...body });
      } catch (error) {
        this.settle(id);
        const why = error instanceof Error ? error.message : String(error);
        reject(new KernelError("Disconnected", `No connection to the kernel (${why}). Run the cell again.`));
        this.onLost();
      }
    });
  }

  /** Whether a message can be sent at all. */
  reaches(): boolean {
    try {
      this.model.send({ id: 0, kind: "ping" });
      return true;
    } catch {
      return false;
    }
  }

  listen(fn: Listener): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  /** Fails all that waits, for instance when the kernel says that it closes. */
  failAll(message: string): void {
    for (const id of [...this.waiting.keys()]) {
      this.settle(id)?.reject(new KernelError("Disconnected", message));
    }
  }

  dispose(): void {
    this.model.off("msg:custom", this.receive as never);
    this.failAll("The explorer was closed.");
    this.listeners.clear();
  }

  private readonly receive = (raw: unknown): void => {
    const message = parse(raw);
    if (!message) return;
    if (typeof message.re === "number") this.answer(message.re, message);
    else if (typeof message.event === "string") for (const fn of this.listeners) fn(message);
  };

  private answer(id: number, message: Record<string, unknown>): void {
    const entry = this.settle(id);
    if (!entry) return;
    if (message.ok) {
      entry.resolve(message.result ?? {});
      return;
    }
    const error = (message.error ?? {}) as { type?: string; message?: string; traceback?: string };
    entry.reject(
      new KernelError(error.type ?? "Error", error.message ?? "The kernel gave no reason.", error.traceback ?? null),
    );
  }

  private settle(id: number): Waiting | undefined {
    const entry = this.waiting.get(id);
    if (!entry) return undefined;
    this.waiting.delete(id);
    clearTimeout(entry.slow);
    clearTimeout(entry.late);
    if (entry.isSlow) {
      this.slowCount--;
      if (this.slowCount === 0) this.onSlow(false);
    }
    return entry;
  }

  private markSlow(entry: Waiting): void {
    entry.isSlow = true;
    this.slowCount++;
    if (this.slowCount === 1) this.onSlow(true);
  }
}

function parse(raw: unknown): Record<string, unknown> | null {
  let value = raw;
  if (typeof value === "string") {
    try {
      value = JSON.parse(value);
    } catch {
      return null;
    }
  }
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}
