import { type Signal, signal } from "@preact/signals";
import { groupKey, inside } from "./display";
import { type Branch, Forest } from "./forest";
import type { Lanes } from "./lanes";
import { keyOf, placeOf, type Row, readRows } from "./rows";
import { KernelError, Transport, type TransportOptions } from "./transport";
import type { Checkpoint, Hello, Model, Nested, RowsMsg, RunEvent } from "./types";

export { type Branch, letters } from "./forest";
export type { Row } from "./rows";

/** What a fork is answered with. */
export interface Forked {
  checkpoint: string;
  before: string | null;
  panels?: Checkpoint;
}

/** An act that is over: how its run ended (null: it ran nothing), and the head before it. */
export interface After {
  state: RunEvent["state"] | null;
  before: string | null;
}

const CACHE_SIZE = 300;
/** Older checkpoints are read by themselves up to so many; beyond, when they are wanted. */
const READ_AHEAD = 100_000;
const NESTED_MS = 400;
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
  /** What the last act of this explorer did. */
  readonly after: Signal<After | null> = signal(null);
  /** The news of other code that was read and put away. */
  readonly changesSeen: Signal<unknown> = signal(null);
  /** What somebody wrote on checkpoints, by id. */
  readonly notes: Signal<ReadonlyMap<string, string>> = signal(new Map());
  /** Goes up whenever rows or lanes changed. */
  readonly version = signal(0);
  readonly selected: Signal<string | null> = signal(null);
  readonly answer: Signal<Checkpoint | null> = signal(null);
  readonly answerError: Signal<KernelError | null> = signal(null);
  readonly pending = signal(false);
  readonly forest = new Forest();
  /** Whether there are older checkpoints that were not read yet. */
  readonly more = signal(false);
  readonly reading = signal(false);
  private nestedTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly cache = new Map<string, Checkpoint>();
  private ticket = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private started = false;
  /** How many sheets are filled in for the selected row: while there is one, it stays selected. */
  held = 0;
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

  /** Shows another thread; null: the table of all. */
  openThread(thread: string | null, ns: string): Promise<void> {
    this.cache.clear();
    this.after.value = null;
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

  /** A request; a checkpoint may be given by its key in the page. */
  ask<T>(kind: string, body: Record<string, unknown> = {}): Promise<T> {
    const key = body.checkpoint;
    return this.transport.request<T>(kind, typeof key === "string" ? { ...body, ...placeOf(key) } : body);
  }

  get lanes(): Lanes {
    return this.forest.lanes;
  }

  get rows(): readonly Row[] {
    return this.forest.rows;
  }

  get head(): string | null {
    return this.forest.head;
  }

  get checkpoints(): number {
    return this.forest.count;
  }

  row(id: string | null): Row | undefined {
    return this.forest.row(id);
  }

  branches(): Branch[] {
    return this.forest.branches();
  }

  /** Selects a row and fetches its panels; waits `delay` ms so that held arrow keys ask once. */
  select(id: string, delay = 0): void {
    if (this.forest.hiddenBy(id) !== undefined) this.rearrange(() => this.forest.unfold(id));
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
      if (!known) void this.fetchPanels(asked, ticket, true);
      else if (!placeOf(asked).at) this.ask("select", { checkpoint: asked }).catch(() => undefined);
    };
    if (delay > 0) this.timer = setTimeout(go, delay);
    else go();
  }

  /** Selects a row now, or when it comes. */
  selectWhenThere(id: string): void {
    if (this.row(id)) this.select(id);
    else this.wanted = id;
  }

  /** The panels of a checkpoint, from the cache when they are there. */
  async panels(id: string): Promise<Checkpoint> {
    const known = this.cache.get(id);
    if (known) return known;
    const found = { ...(await this.ask<Checkpoint>("checkpoint", { checkpoint: id })), id };
    this.remember(id, found);
    return found;
  }

  /** A fork of a row was made, and its panels came with the answer; the new row's key. */
  forked(base: string, got: Forked, runs: boolean): string {
    const { at } = placeOf(base);
    const key = at === undefined ? got.checkpoint : keyOf(got.checkpoint, at);
    if (got.panels) this.remember(key, { ...got.panels, id: key });
    if (!runs) this.after.value = { state: null, before: got.before };
    if (at !== undefined) this.lookInside();
    return key;
  }

  /** Shows what an answer of the kind of hello tells: another history in the place of this one. */
  replaceAll(hello: Partial<Hello>): void {
    this.cache.clear();
    this.after.value = null;
    this.take(hello);
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

  // --- opening and folding ---------------------------------------------------------------------------------------------

  /** Changes how rows are shown. */
  rearrange(change: () => void): void {
    change();
    this.version.value++;
  }

  /** Shows the nested graphs of a row, or hides them. */
  async open(id: string, on: boolean): Promise<void> {
    const { forest } = this;
    const list = forest.opens.get(id) ?? [];
    const level = (this.row(id)?.level ?? 0) + 1;
    try {
      if (on) await Promise.all(list.map((one) => this.openGroup(one, level)));
      else for (const one of list) forest.groups.delete(groupKey(one));
      this.rearrange(() => forest.layout());
    } catch (error) {
      this.notice.value = asKernelError(error).message;
    }
  }

  private async openGroup(one: Nested, level: number): Promise<void> {
    const [ns, from] = one;
    const { checkpoint, at } = placeOf(from);
    const got = await this.ask<RowsMsg & { nested: Nested[] }>("inside", { ns, owner: checkpoint, at });
    this.forest.groups.set(groupKey(one), {
      rows: inside(readRows(got), ns, level),
      unfinished: got.unfinished.map((each) => ({ ...each, parent: keyOf(each.parent, ns) })),
      nested: got.nested.map(([inner, owner, node]) => [inner, keyOf(owner, ns), node]),
      more: got.more === true,
    });
  }

  /** Reads those of the nested graphs again that are open, and those in them. */
  private async reopen(list: readonly Nested[], level: number): Promise<void> {
    const { groups } = this.forest;
    const open = list.filter((one) => groups.has(groupKey(one)));
    await Promise.all(open.map((one) => this.openGroup(one, level)));
    await Promise.all(open.map((one) => this.reopen(groups.get(groupKey(one))?.nested ?? [], level + 1)));
  }

  /** Asks, a little later, which nested graphs there are; open ones are read again. */
  private lookInside(): void {
    if ((this.hello.peek()?.namespaces.length ?? 0) < 2 && !this.run.peek()) return;
    clearTimeout(this.nestedTimer);
    this.nestedTimer = setTimeout(async () => {
      try {
        const { nested } = await this.ask<{ nested?: Nested[] }>("nested");
        const same = String(nested ?? []) === String(this.forest.nested);
        this.forest.nested = nested ?? [];
        await this.reopen(this.forest.nested, 1);
        if (!same || this.forest.groups.size) this.rearrange(() => this.forest.layout());
        if (this.wanted) this.selectWhenThere(this.wanted);
        this.keepPlace();
      } catch {
        // an exported page, or a kernel that is gone: then there is nothing to open
      }
    }, NESTED_MS);
  }

  // --- older checkpoints -----------------------------------------------------------------------------------------------

  /** Reads the next older checkpoints; true when some came. */
  async older(): Promise<boolean> {
    const before = this.forest.oldest;
    if (!this.more.peek() || !before) return false;
    if (this.reading.peek()) {
      await new Promise((resolve) => setTimeout(resolve, 40));
      return this.more.peek();
    }
    this.reading.value = true;
    try {
      const got = await this.ask<RowsMsg>("older", { before });
      if (this.forest.oldest !== before) return false;
      this.applyRows({ ...got, reset: false }, true);
      return true;
    } catch (error) {
      this.more.value = false;
      this.notice.value = asKernelError(error).message;
      return false;
    } finally {
      this.reading.value = false;
    }
  }

  /** Reads on while nothing else is asked for, up to a number of rows that a page carries easily. */
  private async readAhead(): Promise<void> {
    while (this.more.peek() && this.checkpoints < READ_AHEAD) {
      await new Promise((resolve) => setTimeout(resolve, this.pending.peek() ? 120 : 0));
      if (!this.pending.peek() && !(await this.older())) return;
    }
  }

  /** Selects a checkpoint that may not have been read yet. */
  async find(id: string): Promise<void> {
    while (!this.forest.has(id) && this.more.peek()) await this.older();
    if (this.forest.has(id) || this.row(id)) this.select(id);
  }

  /** Reads on until the selected branch has a step; its checkpoint. */
  async reach(step: number): Promise<string | null> {
    for (;;) {
      let row = this.lanes.index(this.selected.peek() ?? this.head ?? "");
      while (row >= 0 && (this.rows[row]?.step ?? -2) > step) row = this.lanes.parentRow[row] as number;
      if (row >= 0 || !this.more.peek()) return this.rows[Math.max(0, row)]?.id ?? null;
      await this.older();
    }
  }

  private async fetchPanels(id: string, ticket: number, select = false): Promise<void> {
    try {
      const found = { ...(await this.ask<Checkpoint>("checkpoint", { checkpoint: id, select })), id };
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
      this.take(await this.ask<Partial<Hello>>(kind, body));
    } catch (error) {
      this.failure.value = asKernelError(error);
    }
  }

  private take(got: Partial<Hello>): void {
    const hello = { ...(this.hello.peek() ?? {}), ...got } as Hello;
    this.applyRows({ ...hello.rows, reset: true });
    this.hello.value = hello;
    this.takeNotes(got.notes);
    this.selectFirst(got.selected ?? null);
    if (this.forest.wide) this.rearrange(() => this.forest.foldAll(true, this.selected.peek()));
    this.lookInside();
    void this.readAhead();
  }

  /** Goes on from a task that was selected and has ended now to what it made. */
  private keepPlace(): void {
    const from = this.answer.peek()?.id;
    if (this.selected.peek() === null || this.row(this.selected.peek())) return;
    this.selectFirst(this.rows.findLast((row) => row.parent === from && !row.unfinished)?.id ?? from ?? null);
  }

  private selectFirst(wanted: string | null): void {
    const id = [wanted, this.head, this.rows.at(-1)?.id ?? null].find((one) => one !== null && this.row(one));
    this.answer.value = null;
    this.selected.value = null;
    if (id) this.select(id);
    else this.pending.value = false;
  }

  /** Notes of the top graph, by checkpoint. */
  takeNotes(notes: unknown): void {
    this.notes.value = new Map(Object.entries((notes ?? {}) as Record<string, string>));
    this.version.value++;
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
        if (typeof message.checkpoint === "string") void this.find(message.checkpoint);
        break;
      case "notes":
        this.takeNotes(message.notes);
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
    if (event.state === "running") return;
    this.after.value = { state: event.state, before: event.before ?? null };
    this.refresh();
  }

  private onRows(message: Record<string, unknown>): void {
    const hello = this.hello.peek();
    if (typeof message.thread === "string" && hello?.thread && message.thread !== hello.thread) return;
    const body = (Array.isArray(message.rows) ? message : message.rows) as RowsMsg;
    const followed = this.held === 0 && this.selected.peek() !== null && this.selected.peek() === this.head;
    const before = this.head;
    this.applyRows(body);
    for (const row of readRows(body)) {
      this.cache.delete(row.id);
      if (row.parent) this.cache.delete(row.parent);
    }
    const at = this.selected.peek();
    if (this.wanted && this.row(this.wanted)) {
      const id = this.wanted;
      this.wanted = null;
      this.select(id);
    } else if (at === null || !this.row(at)) this.selectFirst(null);
    else if (followed && this.head && this.head !== before) this.select(this.head, 120);
  }

  /** Takes a message's rows in. */
  applyRows(message: RowsMsg, older = false): void {
    const { forest } = this;
    if (message.reset) forest.clear();
    if (message.reset || older) this.more.value = message.more === true;
    forest.head = message.reset ? message.head : (message.head ?? forest.head);
    const from = forest.oldest;
    const rows = readRows(message).filter(
      (row) => older || !this.more.peek() || !from || row.id >= from || forest.has(row.id),
    );
    const news = forest.take(rows, message.unfinished ?? [], older);
    if ((news || forest.groups.size > 0) && this.hello.peek()) this.lookInside(); // a graph inside may go on alone
    this.version.value++;
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
