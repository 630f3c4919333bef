/**
 * The rows of a tree and where they stand: what was read, what is folded away, which nested graphs are open.
 *
 * Knows no kernel and no element. New checkpoints at the end are added without laying out the others again.
 */
import { arrange, type Display, type Fold, type Group, groupKey, hide, type Source } from "./display";
import { Lanes } from "./lanes";
import { type Row, unfinishedKey, unfinishedRow } from "./rows";
import type { Nested, Unfinished } from "./types";

export interface Branch {
  chain: number;
  tip: number;
  name: string;
  forkedFrom: number | null;
  /** How many steps it has of its own, also those that are folded away. */
  steps: number;
}

/** Finished side branches of at least this many steps fold when a long, wide history opens. */
const FOLD_STEPS = 3;
const FOLD_BRANCHES = 6;
const FOLD_ROWS = 60;

export class Forest {
  readonly lanes = new Lanes();
  /** Display order, oldest first, unfinished rows right after their parent. */
  rows: Row[] = [];
  head: string | null = null;
  /** What rows open: nested graphs, by the row's key. */
  opens: Display["opens"] = new Map();
  /** Folded branches, by the key of their tip. */
  tips = new Map<string, Fold>();
  /** What is folded away: a row's id to the first row of the branch that hides it. */
  hidden = new Map<string, string>();
  /** Rows with an open question. */
  readonly waiting = new Set<string>();
  readonly groups = new Map<string, Group>();
  nested: Nested[] = [];
  /** How often all rows were laid out anew. */
  layouts = 0;
  /** The greatest step that was read. */
  lastStep = 0;
  private real: Row[] = [];
  private readonly realAt = new Map<string, number>();
  private unfinished: Unfinished[] = [];
  private readonly folds = new Set<string>();
  /** The lanes of all rows, where some are folded away. */
  private whole: Lanes | null = null;
  /** Unfinished rows at the end of `rows`: those that hang on the newest checkpoint. */
  private tail: string[] = [];

  clear(): void {
    this.lastStep = 0;
    this.real = [];
    this.realAt.clear();
    this.waiting.clear();
    this.groups.clear();
    this.folds.clear();
    this.nested = [];
  }

  /** Checkpoints that were read. */
  get count(): number {
    return this.real.length;
  }

  get oldest(): string | null {
    return this.real[0]?.id ?? null;
  }

  get newest(): string | null {
    return this.real.at(-1)?.id ?? null;
  }

  /** Checkpoints with tasks that did not finish. */
  openParents: ReadonlySet<string> = new Set();

  has(id: string): boolean {
    return this.realAt.has(id);
  }

  row(id: string | null): Row | undefined {
    return id === null ? undefined : this.rows[this.lanes.index(id)];
  }

  /** A checkpoint that was read, also one that is folded away. */
  known(id: string): Row | undefined {
    return this.real[this.realAt.get(id) ?? -1] ?? this.row(id);
  }

  /** All rows that were read, also those that are folded away; oldest first. */
  get every(): readonly Row[] {
    return this.hidden.size ? this.real : this.rows;
  }

  /** Whether any task waits for an answer, beside one that failed too. */
  get asks(): boolean {
    return this.waiting.size > 0 || this.unfinished.some((one) => one.status === "interrupt" || (one.waits ?? 0) > 0);
  }

  /**
   * Takes rows in: a known id is replaced, others are newer than all that are known, or with `older` older.
   * True when any row is new.
   */
  take(rows: readonly Row[], unfinished: readonly Unfinished[], older = false): boolean {
    const added: Row[] = [];
    const replaced: Row[] = [];
    for (const row of rows) {
      if (row.status === "interrupt") this.waiting.add(row.id);
      else this.waiting.delete(row.id);
      if ((row.step ?? 0) > this.lastStep) this.lastStep = row.step as number;
      const at = this.realAt.get(row.id);
      if (at === undefined) added.push(row);
      else {
        this.real[at] = row;
        replaced.push(row);
      }
    }
    const first = older ? 0 : this.real.length;
    this.real = older ? [...added, ...this.real] : this.real;
    if (!older) for (const row of added) this.real.push(row);
    if (added.length) for (let at = first; at < this.real.length; at++) this.realAt.set((this.real[at] as Row).id, at);
    const grows = !older && first > 0 && this.grow(added, unfinished);
    this.unfinished = [...unfinished];
    this.openParents = new Set(unfinished.map((one) => one.parent));
    if (grows) for (const row of replaced) this.rows[this.lanes.index(row.id)] = row;
    else this.layout();
    return added.length > 0;
  }

  /** Adds newer rows at the end, without laying out the others again; false where that can't be. */
  private grow(added: readonly Row[], unfinished: readonly Unfinished[]): boolean {
    const newest = this.real.at(-1)?.id;
    const last = this.real[this.real.length - 1 - added.length]?.id;
    const old = this.unfinished.filter((one) => one.parent !== last);
    const now = unfinished.filter((one) => one.parent !== newest && this.realAt.has(one.parent));
    if (!alike(old, now) || added.some((row) => this.hidden.has(row.parent ?? ""))) return false;
    if (this.tail.length) {
      this.lanes.pop(this.tail);
      this.rows.length -= this.tail.length;
      this.tail = [];
    }
    const hung = unfinished.filter((one) => one.parent === newest).map(unfinishedRow);
    const rows = [...added, ...hung];
    if (
      !this.lanes.append(rows.map((row) => ({ id: row.id, parent: row.parent, virtual: row.unfinished !== undefined })))
    )
      return false;
    this.rows.push(...rows);
    this.tail = hung.map((row) => row.id);
    return true;
  }

  private sources(): Omit<Source, "hidden"> {
    const unfinished = this.unfinished.filter((one) => this.realAt.has(one.parent));
    return { rows: this.real, unfinished, nested: this.nested, groups: this.groups };
  }

  layout(): void {
    this.layouts++;
    this.whole = null;
    this.hidden.clear();
    this.tips.clear();
    if (this.folds.size) {
      this.whole = new Lanes();
      this.whole.set(this.real);
      const { hidden, tips } = hide(this.real, this.whole, this.folds);
      this.hidden = hidden;
      this.tips = tips;
    }
    const { rows, opens } = arrange({ ...this.sources(), hidden: new Set(this.hidden.keys()) });
    this.rows = rows;
    this.opens = opens;
    const newest = this.real.at(-1)?.id;
    this.tail = [];
    for (let at = rows.length - 1; rows[at]?.unfinished?.parent === newest && newest; at--) {
      this.tail.unshift((rows[at] as Row).id);
    }
    this.lanes.set(
      rows.map((row) => ({
        id: row.id,
        parent: this.tips.get(row.id)?.base ?? row.parent,
        virtual: row.unfinished !== undefined,
      })),
    );
  }

  // --- branches --------------------------------------------------------------------------------------------------------

  branches(): Branch[] {
    const names = this.names();
    const out: Branch[] = [];
    this.lanes.chains.forEach((chain, number) => {
      const first = this.rows[chain.first] as Row;
      if (chain.virtual || first.level) return;
      let tip = chain.last;
      while (tip > chain.first && this.rows[tip]?.unfinished) tip = this.lanes.parentRow[tip] as number;
      const fold = this.tips.get(first.id);
      const name = names.get(first.id) ?? "main";
      const from = chain.parentRow < 0 ? null : (this.rows[chain.parentRow]?.step ?? null);
      out.push({ chain: number, tip, name, forkedFrom: from, steps: fold?.steps ?? chain.last - chain.first + 1 });
    });
    return out;
  }

  /** Names of branches by their first row, in a folded one by its tip: they stay when branches fold. */
  names(): Map<string, string> {
    const lanes = this.whole ?? this.lanes;
    const rows = this.whole ? this.real : this.rows;
    const out = new Map<string, string>();
    let forks = 0;
    let roots = 0;
    for (const chain of lanes.chains) {
      const first = rows[chain.first] as Row;
      if (chain.virtual || first.level) continue;
      const name = chain.parentRow >= 0 ? `fork ${letters(forks++)}` : roots++ === 0 ? "main" : `root ${roots}`;
      out.set(first.id, name);
      if (this.whole) out.set((rows[chain.last] as Row).id, name);
    }
    return out;
  }

  /** Whether a row's nested graphs are shown; null where it has none. */
  isOpen(id: string): boolean | null {
    const list = this.opens.get(id);
    return list ? list.some((one) => this.groups.has(groupKey(one))) : null;
  }

  /** Whether a row stands for a branch that can fold (false) or is folded (true); null otherwise. */
  isFolded(id: string): boolean | null {
    if (this.tips.has(id)) return true;
    const at = this.lanes.index(id);
    const chain = this.lanes.chains[this.lanes.chainOf[at] ?? -1];
    const row = this.rows[at];
    if (!row || !chain || chain.virtual || chain.parentRow < 0 || row.level || row.unfinished) return null;
    const ends = at === chain.last || this.rows[this.lanes.nextRow[at] ?? -1]?.unfinished !== undefined;
    return ends && at > chain.first ? false : null;
  }

  /** Folds the branch that ends in a row, or shows it whole. */
  fold(id: string, on: boolean): void {
    const first = this.firstOf(id);
    if (first === null) return;
    if (on) this.folds.add(first);
    else this.folds.delete(first);
    this.layout();
  }

  private firstOf(id: string): string | null {
    const lanes = this.whole ?? this.lanes;
    const rows = this.whole ? this.real : this.rows;
    const chain = lanes.chains[lanes.chainOf[lanes.index(id)] ?? -1];
    return chain ? ((rows[chain.first] as Row).id ?? null) : null;
  }

  /** All rows as they would stand if no branch were folded; oldest first. */
  get unfolded(): readonly Row[] {
    return this.hidden.size ? arrange({ ...this.sources(), hidden: new Set() }).rows : this.rows;
  }

  /** What hides a row, also one that hangs on a checkpoint: the first row of the branch. */
  hiddenBy(id: string): string | undefined {
    return (
      this.hidden.get(id) ?? this.hidden.get(this.unfinished.find((one) => unfinishedKey(one) === id)?.parent ?? "")
    );
  }

  /** Shows the branches that hide a row. */
  unfold(id: string): void {
    for (let first = this.hiddenBy(id); first !== undefined; first = this.hiddenBy(id)) {
      this.folds.delete(first);
      this.layout();
    }
  }

  /** The name of the branch that a checkpoint is on, also of one that is folded away. */
  branchOf(id: string): string {
    return this.names().get(this.firstOf(id) ?? "") ?? "main";
  }

  /** Folds all finished side branches, or shows all. What is selected, and the head, stay in sight. */
  foldAll(on: boolean, selected: string | null): void {
    this.folds.clear();
    if (on) {
      const lanes = new Lanes();
      lanes.set(this.real);
      const kept = new Set<number>();
      for (const id of [this.head, selected]) {
        for (let at = lanes.index(id ?? ""); at >= 0; at = lanes.parentRow[at] as number)
          kept.add(lanes.chainOf[at] as number);
      }
      const open = new Set(this.unfinished.map((one) => one.parent));
      lanes.chains.forEach((chain, number) => {
        const tip = this.real[chain.last] as Row;
        if (chain.parentRow < 0 || kept.has(number) || chain.last - chain.first + 1 < FOLD_STEPS) return;
        if (tip.status === "done" && !open.has(tip.id)) this.folds.add((this.real[chain.first] as Row).id);
      });
    }
    this.layout();
  }

  /** Whether the history is so long and wide that finished branches had better be folded. */
  get wide(): boolean {
    return this.lanes.chains.length > FOLD_BRANCHES && this.real.length > FOLD_ROWS;
  }

  get folded(): boolean {
    return this.folds.size > 0;
  }
}

function alike(a: readonly Unfinished[], b: readonly Unfinished[]): boolean {
  return a.length === b.length && a.every((one, n) => one.task === b[n]?.task && one.status === b[n]?.status);
}

/** 0 → A, 25 → Z, 26 → AA. */
export function letters(n: number): string {
  const last = String.fromCharCode(65 + (n % 26));
  return n < 26 ? last : letters(Math.floor(n / 26) - 1) + last;
}
