import { type Signal, signal } from "@preact/signals";
import { oneAtATime } from "./acts";
import type { Tab } from "./places";
import { placeOf } from "./rows";
import { findLast } from "./search";
import { asKernelError, type Row, type Store } from "./store";
import type { ThemeChoice } from "./theme";
import type { KernelError } from "./transport";
import type { Tree } from "./tree";
import type { Act, Hello } from "./types";
import { viewId } from "./ui";
import { Watch } from "./watch";

export type Sheet = "fork" | "replay" | "run" | "breakpoints" | "export" | "help";
const THEMES: readonly ThemeChoice[] = ["auto", "light", "dark"];

export const waits = (row: Row): boolean => row.status === "interrupt" || (row.unfinished?.waits ?? 0) > 0;

/** What one view of a thread shows and does; the thread itself, shared by all views, is the store. */
export class View {
  readonly id = viewId();
  readonly tab = signal<Tab>("State");
  readonly sheet = signal<Sheet | null>(null);
  /** The checkpoint that a diff starts at. */
  /** The path that the fork sheet opens with, when one was asked for. */
  readonly editPath = signal<string | null>(null);
  readonly mark = signal<string | null>(null);
  /** The checkpoint that it ends at; null is the selected one. */
  readonly markB = signal<string | null>(null);
  /** The end of the branch that is followed; null is the head's. */
  readonly tip = signal<string | null>(null);
  readonly query = signal("");
  /** Whether single letters act while a row has the focus. */
  readonly letters = signal(true);
  readonly news = signal("");
  /** Whether the reason for which nothing can be done here is shown. */
  readonly lockTold = signal(false);
  readonly error = signal<KernelError | null>(null);
  readonly split = signal(47);
  readonly playing = signal(false);
  readonly narrow = signal(false);
  readonly watches: Signal<Watch[]> = signal([]);
  readonly theme;
  readonly act;
  tree: Tree | null = null;
  readonly search: { current: HTMLInputElement | null } = { current: null };
  readonly inspector: { current: HTMLElement | null } = { current: null };

  constructor(
    readonly store: Store,
    readonly root: HTMLElement,
    theme: ThemeChoice,
  ) {
    this.theme = signal<ThemeChoice>(theme);
    this.act = oneAtATime(store);
  }

  get row(): Row | undefined {
    return this.store.row(this.store.selected.value);
  }

  /** The row of the followed branch's end. */
  get tipRow(): number {
    return this.store.lanes.index(this.tip.value ?? this.store.head ?? "");
  }

  /** The selected branch from its root on, as rows: the slider's range. */
  get path(): number[] {
    const { lanes, selected } = this.store;
    const at = lanes.index(selected.value ?? "");
    if (at < 0) return [];
    const tip = this.tipRow;
    return lanes.path(tip >= at && lanes.isAncestor(at, tip) ? tip : lanes.tip(at));
  }

  get running(): boolean {
    return this.store.run.value?.state === "running";
  }

  /** Whether a run can go on from the selected row as it is; a task that failed runs again. */
  get goesOn(): boolean {
    const status = this.row?.status;
    return (status === "pending" || status === "error") && !this.running;
  }

  /** Why an act is not possible now, or null. */
  why(name: Act): string | null {
    const hello = this.store.hello.value;
    if (this.store.closed.value) return "Disconnected from the kernel: run the cell again.";
    const can = hello?.can[name];
    if (!can) return hello ? "This source can't do that." : "Loading.";
    return can.ok ? null : (can.why ?? "This source can't do that.");
  }

  /** The one reason for which no act is possible here; null where any is. */
  get locked(): string | null {
    const can = this.store.hello.value?.can;
    const acts = (["fork", "replay", "resume", "run"] as const).map((name) => can?.[name]);
    return acts.every((one) => one && !one.ok) ? (acts[0]?.why ?? "This source can only be read.") : null;
  }

  // --- where one is ----------------------------------------------------------------------------------------------------

  /** Which pane a narrow explorer shows; set at once, so that the focus can go there. */
  showDetail(on: boolean): void {
    if (this.narrow.peek() || !on) this.root.classList.toggle("ckv-showdetail", on);
  }

  pick(id: string, delay = 0): void {
    this.store.select(id, delay);
    if (delay === 0) this.showDetail(true);
  }

  /** To the selected row; where the panel hides the tree, to the panel's tab. */
  focusTree(): void {
    if (!this.detail || !this.focusIn('[role="tab"][aria-selected="true"], [role="dialog"]')) this.tree?.focus();
  }

  private get detail(): boolean {
    return this.narrow.peek() && this.root.classList.contains("ckv-showdetail");
  }

  /** From the panel back to the tree. */
  leavePanel(): void {
    if (this.narrow.peek()) this.showDetail(false);
    this.focusTree();
  }

  enterPanel(): void {
    this.showDetail(true);
    queueMicrotask(() => this.focusIn('[role="tab"][aria-selected="true"], [role="dialog"]'));
  }

  showTab(name: Tab): void {
    this.sheet.value = null;
    this.tab.value = name;
  }

  /** To a tab, the focus first. */
  toTab(name: Tab): void {
    this.focusIn(`#${this.id}-tab-${name}`);
    this.showTab(name);
  }

  openSheet(name: Sheet): void {
    this.editPath.value = null;
    this.sheet.value = name;
    this.showDetail(true);
  }

  /** Opens the fork sheet with one value to be written. */
  edit(path: string): void {
    const why = this.why("fork");
    if (why !== null) this.news.value = why;
    else {
      this.openSheet("fork");
      this.editPath.value = path;
    }
  }

  closeSheet(): void {
    this.leavePanel(); // the focus moves before its element goes
    this.sheet.value = null;
  }

  jumpTo(id: string | undefined): void {
    if (id !== undefined) void this.store.find(id);
  }

  /** Selects the next older row of a kind, also one that is folded away; after the oldest the newest. */
  nextWhere(fits: (one: Row) => boolean, name = "such row"): void {
    const rows = this.store.forest.unfolded;
    const here = this.store.selected.peek();
    const from = here === null ? rows.length : rows.findLastIndex((one) => one.id === here);
    const older = findLast(rows, fits, from - 1);
    const found = rows[older >= 0 ? older : findLast(rows, fits, rows.length - 1)];
    if (found) this.store.select(found.id);
    else this.news.value = `There is no ${name} here.`;
    this.focusTree();
  }

  /** To a value of the selected checkpoint, best one that changed there; `ask`: and who wrote it. */
  private toValue(ask: boolean): void {
    this.showTab("State");
    this.showDetail(true);
    setTimeout(() => {
      const panel = this.inspector.current;
      const found = [".ckv-m-changed", ".ckv-m-added", ".ckv-new", ""]
        .map((mark) => panel?.querySelector<HTMLElement>(`${mark} .ckv-who:not(.ckv-pin, .ckv-edit)`))
        .find(Boolean);
      found?.focus({ preventScroll: true });
      if (ask) found?.click();
      this.news.value = found ? "On a value: b tells who wrote it, p pins its path." : "There is no value here.";
    }, 60);
  }

  pin(path: string): void {
    if (this.watches.peek().some((one) => one.path === path)) return;
    this.watches.value = [...this.watches.peek(), new Watch(path)];
    this.news.value = `${path} is watched.`;
  }

  unpin(watch: Watch): void {
    this.focusTree(); // the focus moves before its element goes
    this.watches.value = this.watches.peek().filter((one) => one !== watch);
  }

  /** To the previous or next step where the newest watched path changed. */
  nextChange(way: 1 | -1): void {
    const id = this.watches.peek().at(-1)?.change(this.store.selected.peek(), way);
    if (id) this.store.select(id);
    else
      this.news.value = this.watches.peek().length
        ? "No further change on this branch."
        : "Pin a path first: p on a value.";
  }

  private focusIn(selector: string): boolean {
    const target = this.inspector.current?.querySelector<HTMLElement>(selector);
    target?.focus({ preventScroll: true });
    return target !== null && target !== undefined;
  }

  // --- keys ------------------------------------------------------------------------------------------------------------

  /** A key on a row; whether it meant something. */
  command(key: string, at: Row): boolean {
    if (key === " ") {
      this.toggleMark(at);
      return true;
    }
    if (key === "Escape" && (this.sheet.peek() || this.narrow.peek())) {
      this.closeSheet();
      return true;
    }
    return this.letters.peek() && this.letter(key);
  }

  /** Space: the first row becomes A, the next one B; on a mark it takes it away. */
  private toggleMark(at: Row): void {
    const id = at.unfinished?.parent ?? at.id;
    const step = `step ${at.step ?? this.store.row(id)?.step ?? "?"}`;
    for (const [mark, name] of [[this.markB, "B"] as const, [this.mark, "A"] as const]) {
      if (mark.peek() !== id) continue;
      mark.value = null;
      this.news.value = `Mark ${name} removed.`;
      return;
    }
    const first = this.mark.peek() === null;
    if (first) this.mark.value = id;
    else this.markB.value = id;
    this.news.value = first ? `${step} is A: mark another row as B, or select it.` : `${step} is B.`;
  }

  clearMarks(): void {
    this.focusTree(); // the focus moves before its element goes
    this.mark.value = null;
    this.markB.value = null;
  }

  private letter(key: string): boolean {
    const todo: Record<string, () => void> = {
      f: () => this.openSheet("fork"),
      r: () => this.openSheet("replay"),
      d: () => this.showTab("Diff"),
      b: () => this.toValue(true),
      p: () => this.toValue(false),
      e: () => this.nextWhere((one) => one.status === "error", "error"),
      i: () => this.nextWhere(waits, "open question"),
      "[": () => this.nextChange(-1),
      "]": () => this.nextChange(1),
      "/": () => this.search.current?.focus({ preventScroll: true }),
      "?": () => this.openSheet("help"),
    };
    todo[key]?.();
    return key in todo;
  }

  // --- acts ------------------------------------------------------------------------------------------------------------

  /** An act began well: `select` is a checkpoint to go to. */
  done(select: string | null, text: string): void {
    this.tip.value = null;
    if (select) this.store.selectWhenThere(select);
    this.news.value = text;
    this.closeSheet();
  }

  /** The checkpoint of the selected row, or the one before it. */
  asked(before: boolean): string | null {
    const here = this.row?.unfinished?.parent ?? this.row?.id ?? null;
    return before ? (this.store.row(here)?.parent ?? null) : here;
  }

  /** Answers questions of the selected row, or of the checkpoint before it. */
  async resume(answers: Record<string, unknown>, before: boolean): Promise<void> {
    this.error.value = null;
    try {
      await this.act("resume", { checkpoint: this.asked(before), answers });
      this.news.value = "Resumed; the run goes on.";
      this.focusTree();
    } catch (reason) {
      this.error.value = asKernelError(reason);
    }
  }

  /** Goes to the form of the selected row's question, else to that of the next row which has one. */
  goToQuestion(): void {
    const { row, store } = this;
    const asks = store.answer.peek()?.writes.next.some((task) => task.interrupts.length > 0);
    if (!row || !(waits(row) || this.goesOn || asks)) this.nextWhere(waits);
    this.showTab("Writes");
    this.showDetail(true);
    setTimeout(() => {
      if (!this.focusIn("form input, .ckv-goon button")) this.focusIn('[role="tab"][aria-selected="true"]');
    }, 120);
  }

  /** An act on the head from the strip below the bar. */
  async actOnHead(kind: "resume" | "make_head", body: Record<string, unknown>): Promise<void> {
    this.error.value = null;
    this.dismissAfter(); // now: the run that begins may have ended before its answer is here
    try {
      const got = await this.act<{ checkpoint?: string; before?: string | null }>(kind, body);
      this.tip.value = null;
      if (got.checkpoint) this.store.selectWhenThere(got.checkpoint);
      this.news.value = kind === "resume" ? "The run goes on." : "The old head is the head again.";
    } catch (reason) {
      this.error.value = asKernelError(reason);
    }
  }

  dismissAfter(): void {
    this.focusTree();
    this.store.after.value = null;
  }

  seenChanges(): void {
    this.focusTree();
    this.store.changesSeen.value = this.store.hello.peek()?.changes;
  }

  /** From here on a copy in memory, which leaves the history as it is. */
  enterScratch(): Promise<void> {
    const here = this.row?.unfinished?.parent ?? this.row?.id ?? null;
    const checkpoint = here === null || placeOf(here).at !== undefined ? null : here; // inside: of the head
    return this.elsewhere("scratch", { checkpoint }, "This is a scratch copy now.");
  }

  leaveScratch(): Promise<void> {
    return this.elsewhere("home", {}, "Back in the history itself.");
  }

  private async elsewhere(kind: string, body: Record<string, unknown>, text: string): Promise<void> {
    this.error.value = null;
    this.focusTree();
    this.sheet.value = null;
    try {
      const got = await this.act<Partial<Hello>>(kind, body);
      this.tip.value = null;
      this.store.replaceAll(got);
      this.news.value = text;
    } catch (reason) {
      this.error.value = asKernelError(reason);
    }
  }

  async stop(): Promise<void> {
    try {
      await this.store.ask("stop");
      this.news.value = "Stops before the next step.";
    } catch (reason) {
      this.error.value = asKernelError(reason);
    }
  }

  dismiss(): void {
    this.focusTree();
    this.error.value = null;
  }

  nextTheme(): void {
    const next = THEMES[(THEMES.indexOf(this.theme.peek()) + 1) % THEMES.length] as ThemeChoice;
    this.theme.value = next;
    this.news.value = `Theme: ${next}.`;
  }
}
