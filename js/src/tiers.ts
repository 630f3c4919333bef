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
    if (this.followed(at, goal)) return;
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
    this.marked = { layout: forest.layouts, at, goal };
    if (was.layout !== forest.layouts || at < was.at || was.at < 0 || was.goal > was.at || goal > at) return false;
    const fresh: number[] = [];
    let row = at;
    while (row > was.at && fresh.length < 100) {
      fresh.push(row);
      row = lanes.parentRow[row] ?? -1;
    }
    if (row !== was.at || lanes.tip(at) !== at) return false;
    this.contTo.clear();
    for (const one of fresh.reverse()) {
      this.tier[one] = 2;
      this.pathTo.set(lanes.chainOf[one] ?? 0, one);
    }
    return true;
  }

  private note(row: number, tier: number, ends: Map<number, number>): void {
    this.tier[row] = tier;
    const chain = this.store.lanes.chainOf[row] ?? 0;
    if (!ends.has(chain)) ends.set(chain, row);
  }
}
