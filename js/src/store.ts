import { type Signal, signal } from "@preact/signals";
import { type LaneInput, Lanes } from "./lanes";
import { KernelError, Transport, type TransportOptions } from "./transport";
import type { Checkpoint, Hello, Model, RowsMsg, RowTuple, RunEvent, Unfinished } from "./types";

export interface Row {
  id: string;
  parent: string | null;
  step: number | null;
  source: string;
  time: number;
  nodes: string[];
  changed: string[];
  status: string;
  next: string[];
  copyOf: string | null;
  /** The version of the graph that saved it, where it named one. */
  version?: string | null | undefined;
  /** How many turns of a session there are. */
  turn?: number | null | undefined;
  /** Set on a row that hangs on its parent and has no checkpoint. */
  unfinished?: Unfinished;
}

export interface Branch {
  chain: number;
  tip: number;
  name: string;
  forkedFrom: number | null;
}

const CACHE_SIZE = 300;
const LOST = "Disconnected: the kernel was restarted or is gone. Run the cell again.";

/** All that is known of one model's thread; shared by the model's views. */
export class Store {
  readonly transport: Transport;
  readonly hello: Signal<Hello | null> = signal(null);
  readonly failure: Signal<KernelError | null> = signal(null);
  readonly slow = signal(false);
  readonly closed: Signal<string | null> = signal(null);
  readonly run: Signal<RunEvent | null> = signal(null);
  readonly notice: Signal<string> = signal("");
  /** Goes up whenever rows or lanes changed. */
  readonly version = signal(0);
  readonly selected: Signal<string | null> = signal(null);
  readonly answer: Signal<Checkpoint | null> = signal(null);
  readonly answerError: Signal<KernelError | null> = signal(null);
  readonly pending = signal(false);
  readonly lanes = new Lanes();
  /** Display order, oldest first, unfinished rows right after their parent. */
  rows: Row[] = [];
  head: string | null = null;
  checkpoints = 0;
  private real: Row[] = [];
  private readonly realAt = new Map<string, number>();
  private unfinished: Unfinished[] = [];
  private readonly cache = new Map<string, Checkpoint>();
  private ticket = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private started = false;
  /** A row to select as soon as it is there. */
  private wanted: string | null = null;

  constructor(model: Model, options: TransportOptions = {}) {
    this.transport = new Transport(model, options);
    this.transport.onSlow = (slow) => {
      this.slow.value = slow;
    };
    this.transport.onLost = () => this.setLost(true);
    this.transport.listen((message) => this.onEvent(message));
  }

  /** Says hello, once for all views. */
  start(): void {
    if (this.started) return;
    this.started = true;
    void this.load("hello", {});
  }

  openThread(thread: string, ns: string): Promise<void> {
    this.cache.clear();
    return this.load("thread", { thread, ns });
  }

  /** The host lost the kernel (it was restarted or is gone), or has it back. */
  setLost(lost: boolean): void {
    if (lost) {
      this.closed.value ??= LOST;
      this.run.value = null;
      this.transport.failAll(LOST);
    } else if (this.closed.peek() === LOST) {
      this.closed.value = null;
      void this.load("hello", {});
    }
  }

  retry(): void {
    void this.load("hello", {});
  }

  ask<T>(kind: string, body: Record<string, unknown> = {}): Promise<T> {
    return this.transport.request<T>(kind, body);
  }

  row(id: string | null): Row | undefined {
    return id === null ? undefined : this.rows[this.lanes.index(id)];
  }

  /** Selects a row and fetches its panels; waits `delay` ms so that held arrow keys ask once. */
  select(id: string, delay = 0): void {
    if (this.selected.peek() === id && this.answer.peek()?.id === id) return;
    this.selected.value = id;
    const asked = this.row(id)?.unfinished?.parent ?? id;
    const ticket = ++this.ticket;
    clearTimeout(this.timer);
    this.answerError.value = null;
    const known = this.cache.get(asked);
    if (known) {
      this.answer.value = known;
      this.pending.value = false;
    } else {
      this.pending.value = true;
    }
    const go = () => {
      this.ask("select", { checkpoint: asked }).catch(() => undefined);
      if (!known) void this.fetchPanels(asked, ticket);
    };
    if (delay > 0) this.timer = setTimeout(go, delay);
    else go();
  }

  /** Selects a row now, or when it comes. */
  selectWhenThere(id: string): void {
    if (this.row(id)) this.select(id);
    else this.wanted = id;
  }

  /** Forgets what was cached of a checkpoint and asks again. */
  refresh(): void {
    const id = this.selected.peek();
    if (id === null) return;
    const asked = this.row(id)?.unfinished?.parent ?? id;
    this.cache.delete(asked);
    this.pending.value = true;
    this.answerError.value = null;
    void this.fetchPanels(asked, ++this.ticket);
  }

  branches(): Branch[] {
    const out: Branch[] = [];
    let forks = 0;
    this.lanes.chains.forEach((chain, number) => {
      if (chain.virtual) return;
      let tip = chain.last;
      while (tip > chain.first && this.rows[tip]?.unfinished) tip = this.lanes.parentRow[tip] as number;
      const root = chain.parentRow < 0;
      const name = root ? (number === 0 ? "main" : `root ${number + 1}`) : `fork ${letters(forks++)}`;
      out.push({ chain: number, tip, name, forkedFrom: root ? null : (this.rows[chain.parentRow]?.step ?? null) });
    });
    return out;
  }

  private async fetchPanels(id: string, ticket: number): Promise<void> {
    try {
      const found = await this.ask<Checkpoint>("checkpoint", { checkpoint: id });
      this.remember(id, found);
      if (ticket !== this.ticket) return;
      this.answer.value = found;
      this.answerError.value = null;
    } catch (error) {
      if (ticket !== this.ticket) return;
      if (this.answer.peek()?.id !== id) this.answer.value = null;
      this.answerError.value = asKernelError(error);
    }
    this.pending.value = false;
  }

  private remember(id: string, found: Checkpoint): void {
    this.cache.set(id, found);
    if (this.cache.size > CACHE_SIZE) this.cache.delete(this.cache.keys().next().value as string);
  }

  private async load(kind: string, body: Record<string, unknown>): Promise<void> {
    this.failure.value = null;
    try {
      const got = await this.ask<Partial<Hello>>(kind, body);
      const hello = { ...(this.hello.peek() ?? {}), ...got } as Hello;
      this.applyRows({ ...hello.rows, reset: true });
      this.hello.value = hello;
      this.selectFirst(got.selected ?? null);
    } catch (error) {
      this.failure.value = asKernelError(error);
    }
  }

  private selectFirst(wanted: string | null): void {
    const id = [wanted, this.head, this.rows.at(-1)?.id ?? null].find((one) => one !== null && this.row(one));
    this.answer.value = null;
    this.selected.value = null;
    if (id) this.select(id);
    else this.pending.value = false;
  }

  private onEvent(message: Record<string, unknown>): void {
    switch (message.event) {
      case "rows":
        this.onRows(message);
        break;
      case "run":
        this.onRun(message as unknown as RunEvent);
        break;
      case "notice":
        this.notice.value = String(message.text ?? message.message ?? "");
        break;
      case "select":
        if (typeof message.checkpoint === "string" && this.row(message.checkpoint)) this.select(message.checkpoint);
        break;
      case "can":
      case "graph":
        this.onGraph(message);
        break;
      case "closed":
        this.closed.value = String(message.text ?? message.message ?? "The explorer's cell was run again or closed.");
        this.transport.failAll("Disconnected from the kernel: run the cell again.");
        break;
    }
  }

  /** Another graph, thread or ability: fields of hello are replaced. */
  private onGraph(message: Record<string, unknown>): void {
    const hello = this.hello.peek();
    if (!hello) return;
    const { event, selected, rows: _, ...fields } = message;
    this.hello.value = { ...hello, ...fields };
    if (event !== "graph") return;
    this.cache.clear();
    if (typeof selected === "string" && this.row(selected) && selected !== this.selected.peek()) this.select(selected);
    else this.refresh();
  }

  private onRun(event: RunEvent): void {
    this.run.value = event;
    if (event.state !== "running") this.refresh();
  }

  private onRows(message: Record<string, unknown>): void {
    const hello = this.hello.peek();
    if (typeof message.thread === "string" && hello?.thread && message.thread !== hello.thread) return;
    const body = (Array.isArray(message.rows) ? message : message.rows) as RowsMsg;
    const followed = this.selected.peek() !== null && this.selected.peek() === this.head;
    const before = this.head;
    this.applyRows(body);
    for (const row of body.rows) this.cache.delete(row[0]);
    for (const row of body.rows) if (row[1]) this.cache.delete(row[1]);
    const at = this.selected.peek();
    if (this.wanted && this.row(this.wanted)) {
      const id = this.wanted;
      this.wanted = null;
      this.select(id);
    } else if (at === null || !this.row(at)) this.selectFirst(null);
    else if (followed && this.head && this.head !== before) this.select(this.head, 120);
  }

  /** Takes rows in; a known id is replaced, a new one added. */
  applyRows(message: RowsMsg): void {
    if (message.reset) {
      this.real = [];
      this.realAt.clear();
    }
    const hadVirtual = this.unfinished.length > 0;
    this.unfinished = message.unfinished ?? [];
    const added: Row[] = [];
    const replaced: Row[] = [];
    for (const tuple of message.rows ?? []) {
      const row = toRow(tuple);
      const at = this.realAt.get(row.id);
      if (at === undefined) {
        this.realAt.set(row.id, this.real.length);
        this.real.push(row);
        added.push(row);
      } else {
        this.real[at] = row;
        replaced.push(row);
      }
    }
    this.head = message.head ?? this.head;
    if (message.reset) this.head = message.head;
    this.checkpoints = this.real.length;
    const grows = !message.reset && !hadVirtual && this.unfinished.length === 0;
    for (const row of replaced) this.rows[this.lanes.index(row.id)] = row;
    if (grows && this.lanes.append(added)) for (const row of added) this.rows.push(row);
    else this.layout();
    this.version.value++;
  }

  private layout(): void {
    if (this.unfinished.length === 0) this.rows = this.real.slice();
    else {
      const hung = groupBy(this.unfinished, (one) => one.parent);
      this.rows = [];
      for (const row of this.real) {
        this.rows.push(row);
        for (const one of hung.get(row.id) ?? []) this.rows.push(unfinishedRow(one));
      }
    }
    const input: LaneInput[] = this.rows.map((row) =>
      row.unfinished ? { id: row.id, parent: row.parent, virtual: true } : row,
    );
    this.lanes.set(input);
  }
}

const stores = new WeakMap<object, Store>();

/** The one store of a model. */
export function storeOf(model: Model): Store {
  let store = stores.get(model);
  if (!store) {
    store = new Store(model);
    stores.set(model, store);
  }
  return store;
}

export function asKernelError(error: unknown): KernelError {
  if (error instanceof KernelError) return error;
  return new KernelError("Error", error instanceof Error ? error.message : String(error));
}

function toRow(tuple: RowTuple): Row {
  const [id, parent, step, source, time, nodes, changed, status, next, copyOf, version, turn] = tuple;
  return { id, parent, step, source, time, nodes, changed, status, next, copyOf, version, turn };
}

function unfinishedRow(one: Unfinished): Row {
  return {
    id: `unfinished:${one.parent}:${one.task}`,
    parent: one.parent,
    step: null,
    source: "unfinished",
    time: 0,
    nodes: [one.name],
    changed: [],
    status: one.status,
    next: [],
    copyOf: null,
    unfinished: one,
  };
}

function groupBy<T>(list: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const one of list) out.set(key(one), [...(out.get(key(one)) ?? []), one]);
  return out;
}

/** 0 → A, 25 → Z, 26 → AA. */
export function letters(n: number): string {
  const last = String.fromCharCode(65 + (n % 26));
  return n < 26 ? last : letters(Math.floor(n / 26) - 1) + last;
}
