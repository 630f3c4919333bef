/** Three tiers of ink: the path to the selection, its continuation, and the other branches. */
import type { Store } from "./store";

export class Tiers {
  /** Chain number to the last row of it on the path to the selection, and on the path's continuation. */
  readonly pathTo = new Map<number, number>();
  readonly contTo = new Map<number, number>();
  private tier = new Uint8Array(0);
  private marked = { layout: -1, at: -1, goal: -1 };

  constructor(private readonly store: Store) {}

  /** 2 on the path to the selection, 1 on its continuation, else 0. */
  of(row: number): number {
    return this.tier[row] ?? 0;
  }

  /** Marks the path to a row and on to `goal`, or to the end of its branch. */
  mark(at: number, goal: number): void {
    const { lanes, rows } = this.store;
    if (this.tier.length < rows.length) {
      const old = this.tier;
      this.tier = new Uint8Array(rows.length + 4096);
      this.tier.set(old);
    }
    if (this.followed(at, goal) || this.continued(at, goal)) return;
    this.marked = { layout: this.store.forest.layouts, at, goal };
    this.tier.fill(0);
    this.pathTo.clear();
    this.contTo.clear();
    if (at < 0) return;
    const end = goal >= at && lanes.isAncestor(at, goal) ? goal : lanes.tip(at);
    for (let row = end; row > at; row = lanes.parentRow[row] ?? -1) this.note(row, 1, this.contTo);
    for (let row = at; row >= 0; row = lanes.parentRow[row] ?? -1) this.note(row, 2, this.pathTo);
  }

  /** Whether the selection only went on along the marked path: then what is new is marked, and no more. */
  private followed(at: number, goal: number): boolean {
    const { lanes, forest } = this.store;
    const was = this.marked;
    if (was.layout !== forest.layouts || at < was.at || was.at < 0 || was.goal > was.at || goal > at) return false;
    const fresh = this.fresh(was.at, at);
    if (!fresh || lanes.tip(at) !== at) return false;
    this.contTo.clear();
    this.add(fresh, 2, this.pathTo);
    this.marked = { layout: forest.layouts, at, goal };
    return true;
  }

  /** Whether only the goal went on, beyond a selection that stays: then its new rows are marked, and no more. */
  private continued(at: number, goal: number): boolean {
    const was = this.marked;
    if (was.layout !== this.store.forest.layouts || at !== was.at || at < 0 || was.goal <= at || goal < was.goal)
      return false;
    if (!this.contTo.size || this.tier[was.goal] !== 1) return false;
    const fresh = this.fresh(was.goal, goal);
    if (!fresh) return false;
    this.add(fresh, 1, this.contTo);
    this.marked = { ...was, goal };
    return true;
  }

  /** The rows after one up to a descendant of it, newest first; null where it is none, or far away. */
  private fresh(from: number, to: number): number[] | null {
    const out: number[] = [];
    let row = to;
    while (row > from && out.length < 100) {
      out.push(row);
      row = this.store.lanes.parentRow[row] ?? -1;
    }
    return row === from ? out : null;
  }

  private add(fresh: readonly number[], tier: number, ends: Map<number, number>): void {
    for (const row of fresh.toReversed()) {
      this.tier[row] = tier;
      ends.set(this.store.lanes.chainOf[row] ?? 0, row);
    }
  }

  private note(row: number, tier: number, ends: Map<number, number>): void {
    this.tier[row] = tier;
    const chain = this.store.lanes.chainOf[row] ?? 0;
    if (!ends.has(chain)) ends.set(chain, row);
  }
}
