/**
 * Where each checkpoint stands in the tree, from (id, parent) alone.
 *
 * Rows come oldest first. A chain is a line of first children; it owns one lane from its parent's row to its last row, so
 * that a lane never shifts. Appending gives the same picture as laying out everything again.
 */

export interface LaneInput {
  id: string;
  parent: string | null;
  /** A row without a checkpoint (an unfinished task): it never takes the lane from a real child. */
  virtual?: boolean;
}

export interface Chain {
  lane: number;
  /** Row of the parent that the chain hangs on, -1 for a root. */
  parentRow: number;
  first: number;
  last: number;
  depth: number;
  virtual: boolean;
}

export class Lanes {
  parentRow = new Int32Array(0);
  chainOf = new Int32Array(0);
  /** The child that goes on in the same lane, or -1. */
  nextRow = new Int32Array(0);
  /** Rows whose parent is named but not there. */
  orphan = new Uint8Array(0);
  private virtual = new Uint8Array(0);
  chains: Chain[] = [];
  byLane: number[][] = [];
  /** Chains that hang on a row, beside the one that goes on. */
  readonly forksAt = new Map<number, number[]>();
  count = 0;
  private rowOf = new Map<string, number>();
  private walked: number[] = [];
  private free = new LaneHeap();

  /** Lays out everything again. */
  set(rows: readonly LaneInput[]): void {
    this.clear();
    this.reserve(rows.length);
    for (const row of rows) this.link(row);
    this.adoptVirtual(rows);
    this.makeChains(rows);
  }

  /** Adds newer rows; true when it could be done without laying out again. */
  append(rows: readonly LaneInput[]): boolean {
    for (const row of rows) if (!this.appendOne(row)) return false;
    return true;
  }

  /** Takes the newest rows away again, as if they had never been added; `ids` names them, oldest first. */
  pop(ids: readonly string[]): void {
    this.walked = [];
    for (let n = ids.length - 1; n >= 0; n--) {
      const at = --this.count;
      const parent = this.parentRow[at] as number;
      const number = this.chainOf[at] as number;
      const chain = this.chains[number] as Chain;
      this.rowOf.delete(ids[n] as string);
      if (parent >= 0 && this.nextRow[parent] === at) this.nextRow[parent] = -1;
      if (chain.first < at) {
        chain.last = parent;
        this.free.extend(chain.lane, parent);
      } else this.dropChain(number, parent);
    }
  }

  private dropChain(number: number, parent: number): void {
    const chain = this.chains.pop() as Chain;
    const list = this.byLane[chain.lane] as number[];
    list.pop();
    this.free.extend(chain.lane, this.chains[list.at(-1) ?? -1]?.last ?? -2);
    if (list.length === 0 && chain.lane === this.byLane.length - 1) this.byLane.pop();
    const forks = this.forksAt.get(parent);
    if (forks?.at(-1) !== number) return;
    forks.pop();
    if (forks.length === 0) this.forksAt.delete(parent);
  }

  get laneCount(): number {
    return this.byLane.length;
  }

  lane(row: number): number {
    return this.chains[this.chainOf[row] ?? -1]?.lane ?? 0;
  }

  depth(row: number): number {
    return this.chains[this.chainOf[row] ?? -1]?.depth ?? 0;
  }

  index(id: string): number {
    return this.rowOf.get(id) ?? -1;
  }

  /** Last row that follows from this one without a fork. */
  tip(row: number): number {
    const chain = this.chains[this.chainOf[row] ?? -1];
    return chain ? chain.last : row;
  }

  isAncestor(ancestor: number, row: number): boolean {
    let at = row;
    while (at > ancestor) at = this.parentRow[at] ?? -1;
    return at === ancestor;
  }

  /** Rows from the root to this row; the list that was given last is copied as far as it goes. */
  path(row: number): number[] {
    const out: number[] = [];
    const last = this.walked.at(-1) ?? -2;
    for (let at = row; at >= 0; at = this.parentRow[at] ?? -1) {
      if (at === last) {
        this.walked = this.walked.concat(out.reverse());
        return this.walked;
      }
      out.push(at);
    }
    this.walked = out.reverse();
    return this.walked;
  }

  /** Chains of one lane that touch the rows from..to. */
  chainsIn(lane: number, from: number, to: number): Chain[] {
    const list = this.byLane[lane] ?? [];
    let low = 0;
    let high = list.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      const chain = this.chains[list[mid] as number] as Chain;
      if (chain.last < from) low = mid + 1;
      else high = mid;
    }
    const out: Chain[] = [];
    for (let i = low; i < list.length; i++) {
      const chain = this.chains[list[i] as number] as Chain;
      if (start(chain) > to) break;
      out.push(chain);
    }
    return out;
  }

  private clear(): void {
    this.walked = [];
    this.count = 0;
    this.chains = [];
    this.byLane = [];
    this.forksAt.clear();
    this.rowOf = new Map();
    this.free = new LaneHeap();
  }

  private reserve(size: number): void {
    if (size <= this.parentRow.length) return;
    const room = Math.max(size, this.parentRow.length * 2, 64);
    this.parentRow = grow(this.parentRow, new Int32Array(room));
    this.chainOf = grow(this.chainOf, new Int32Array(room));
    this.nextRow = grow(this.nextRow, new Int32Array(room));
    this.orphan = grow(this.orphan, new Uint8Array(room));
    this.virtual = grow(this.virtual, new Uint8Array(room));
  }

  private link(row: LaneInput): void {
    const at = this.count++;
    const parent = row.parent === null ? -1 : (this.rowOf.get(row.parent) ?? -1);
    this.rowOf.set(row.id, at);
    this.parentRow[at] = parent;
    this.nextRow[at] = -1;
    this.chainOf[at] = -1;
    this.orphan[at] = row.parent !== null && parent < 0 ? 1 : 0;
    if (parent >= 0 && !row.virtual && this.nextRow[parent] === -1) this.nextRow[parent] = at;
  }

  private adoptVirtual(rows: readonly LaneInput[]): void {
    for (let at = 0; at < this.count; at++) {
      const parent = this.parentRow[at] as number;
      this.virtual[at] = rows[at]?.virtual ? 1 : 0;
      if (rows[at]?.virtual && parent >= 0 && this.nextRow[parent] === -1) this.nextRow[parent] = at;
    }
  }

  private makeChains(rows: readonly LaneInput[]): void {
    for (let at = 0; at < this.count; at++) {
      if (this.chainOf[at] !== -1) continue;
      let last = at;
      const number = this.chains.length;
      for (let row = at; row >= 0; row = this.nextRow[row] as number) {
        this.chainOf[row] = number;
        last = row;
      }
      this.addChain(at, last, rows[at]?.virtual === true);
    }
  }

  private addChain(first: number, last: number, virtual: boolean): void {
    const parentRow = this.parentRow[first] as number;
    const number = this.chains.length;
    const depth = parentRow < 0 ? 0 : this.depth(parentRow) + 1;
    const from = parentRow < 0 ? first : parentRow;
    const lane = this.free.take(from, last);
    this.chains.push({ lane, parentRow, first, last, depth, virtual });
    const list = this.byLane[lane];
    if (list) list.push(number);
    else this.byLane[lane] = [number];
    if (parentRow >= 0) {
      const forks = this.forksAt.get(parentRow);
      if (forks) forks.push(number);
      else this.forksAt.set(parentRow, [number]);
    }
  }

  private appendOne(row: LaneInput): boolean {
    this.reserve(this.count + 1);
    this.link(row);
    const at = this.count - 1;
    const parent = this.parentRow[at] as number;
    this.virtual[at] = row.virtual ? 1 : 0;
    if (parent >= 0 && this.nextRow[parent] === -1) this.nextRow[parent] = at;
    else if (!row.virtual && this.virtual[this.nextRow[parent] ?? -1]) return false;
    if (parent >= 0 && this.nextRow[parent] === at) {
      const number = this.chainOf[parent] as number;
      const chain = this.chains[number] as Chain;
      if (this.byLane[chain.lane]?.at(-1) !== number) return false;
      this.chainOf[at] = number;
      chain.last = at;
      this.free.extend(chain.lane, at);
      return true;
    }
    this.chainOf[at] = this.chains.length;
    this.addChain(at, at, row.virtual === true);
    return true;
  }
}

function start(chain: Chain): number {
  return chain.parentRow < 0 ? chain.first : chain.parentRow;
}

function grow<T extends Int32Array | Uint8Array>(old: T, room: T): T {
  room.set(old);
  return room;
}

/** A heap over the lanes by the row at which each is last in use: finds the leftmost free lane in log time. */
class LaneHeap {
  private size = 16;
  private min = new Int32Array(32).fill(-2);

  /** The leftmost lane that is out of use before row `from`; it is then in use until `last`. */
  take(from: number, last: number): number {
    if ((this.min[1] as number) >= from) this.double();
    let node = 1;
    while (node < this.size) node = (this.min[node * 2] as number) < from ? node * 2 : node * 2 + 1;
    const lane = node - this.size;
    this.extend(lane, last);
    return lane;
  }

  extend(lane: number, last: number): void {
    let node = lane + this.size;
    this.min[node] = last;
    for (node >>= 1; node >= 1; node >>= 1) {
      this.min[node] = Math.min(this.min[node * 2] as number, this.min[node * 2 + 1] as number);
    }
  }

  private double(): void {
    const old = this.min.slice(this.size, this.size * 2);
    this.size *= 2;
    this.min = new Int32Array(this.size * 2).fill(-2);
    this.min.set(old, this.size);
    for (let node = this.size - 1; node >= 1; node--) {
      this.min[node] = Math.min(this.min[node * 2] as number, this.min[node * 2 + 1] as number);
    }
  }
}

/** The tree as text, newest first: what the tests look at. */
export function draw(rows: readonly LaneInput[], lanes: Lanes): string {
  const out: string[] = [];
  for (let at = lanes.count - 1; at >= 0; at--) {
    const cells: string[] = [];
    const own = lanes.lane(at);
    const forks = (lanes.forksAt.get(at) ?? []).map((n) => (lanes.chains[n] as Chain).lane);
    const far = Math.max(own, ...forks);
    for (let lane = 0; lane < lanes.laneCount; lane++) cells.push(glyph(lanes, at, lane, own, far, forks, rows[at]));
    out.push(`${cells.join("").trimEnd()} ${rows[at]?.id}`);
  }
  return out.join("\n");
}

function glyph(
  lanes: Lanes,
  at: number,
  lane: number,
  own: number,
  far: number,
  forks: readonly number[],
  row: LaneInput | undefined,
): string {
  const reach = lane >= own && lane < far ? "─" : " ";
  if (lane === own) return (row?.virtual ? "◌" : "●") + reach;
  if (forks.includes(lane)) return (lane < far ? "┴" : "╯") + reach;
  const passes = lanes.chainsIn(lane, at, at).some((chain) => start(chain) < at && at <= chain.last);
  if (passes) return (lane > own && lane < far ? "┼" : "│") + reach;
  return (lane > own && lane < far ? "─" : " ") + reach;
}
