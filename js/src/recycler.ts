/**
 * The tree's row elements: which row each shows, which are free, and where they stand.
 *
 * Rows stand in a window that is moved as a whole: after a jump each element is where it was within it, and only its
 * words change. The document's order is the order on screen, and an element that has the focus never leaves its place.
 */
import { make, newRow, type RowElement } from "./cells";

const SPARE = 80;

/** What the tree tells of a row. */
export interface Shown {
  id(row: number): string | undefined;
  top(row: number): number;
  fill(row: number, el: RowElement): void;
}

export class Recycler {
  readonly window = make("div", "ckv-window");
  readonly live = new Map<number, RowElement>();
  private pool: RowElement[] = [];
  /** Where the window stands in the list, in pixels. */
  private base = 0;

  constructor(private readonly shown: Shown) {
    this.window.setAttribute("role", "presentation");
  }

  /** Takes all elements away: rows have other cells from now on. */
  clear(): void {
    for (const el of [...this.live.values(), ...this.pool]) el.remove();
    this.live.clear();
    this.pool = [];
  }

  /** Everything is filled anew when it is shown next. */
  retireAll(): void {
    this.retire(() => true);
  }

  /** Shows these rows, from the top down; `from` to `to` are in view, others keep a selection or the focus. */
  show(rows: readonly number[], from: number, to: number, active: RowElement | null, pinned: number): void {
    const wanted = new Set(rows);
    this.retire((row) => !wanted.has(row));
    const keys = new Map<string | undefined, number>();
    for (const row of rows) keys.set(this.shown.id(row), row);
    if (![...this.live.keys()].some((row) => row >= from && row <= to)) this.move(to, keys);
    const elements: RowElement[] = [];
    for (const row of rows)
      elements.push(this.live.get(row) ?? this.place(row, keys, active, pinned, elements.at(-1) ?? null));
    for (const el of this.pool) if (el.isConnected) el.remove();
    if (this.pool.length > SPARE) this.pool.length = SPARE;
    this.order(elements, active);
  }

  /** Rows that are no longer shown go to the pool, in the document's order, so that they are filled where they stand. */
  private retire(gone: (row: number) => boolean): void {
    const before = this.pool.length;
    for (const [row, el] of this.live) {
      if (!gone(row)) continue;
      this.live.delete(row);
      this.pool.push(el);
    }
    if (this.pool.length > before) this.pool.sort((a, b) => topOf(a) - topOf(b));
  }

  /** Moves the window so that as many elements as may be stay where they are within it. */
  private move(first: number, keys: ReadonlyMap<string | undefined, number>): void {
    const same = this.pool.find((el) => el.isConnected && keys.has(el.key));
    const like = same ?? this.pool.find((el) => el.isConnected);
    const row = same ? (keys.get(same.key) as number) : first;
    const base = this.shown.top(row) - (like?.shift ?? 0);
    if (base === this.base) return;
    this.base = base;
    this.window.style.transform = `translateY(${base}px)`;
    for (const [kept, el] of this.live) this.stand(el, this.shown.top(kept));
  }

  private stand(el: RowElement, top: number): void {
    el.top = top;
    if (el.shift === top - this.base) return;
    el.shift = top - this.base;
    el.style.transform = `translateY(${el.shift}px)`;
  }

  /** Shows a row in a recycled element: best the one that showed it before, else the topmost that is free. */
  private place(
    row: number,
    keys: ReadonlyMap<string | undefined, number>,
    active: RowElement | null,
    pinned: number,
    above: RowElement | null,
  ): RowElement {
    const id = this.shown.id(row);
    let at = this.pool.findIndex((el) => el.key === id);
    if (at < 0) at = this.pool.findIndex((el) => el !== active && !keys.has(el.key));
    const el = at < 0 ? newRow(pinned) : (this.pool.splice(at, 1)[0] as RowElement);
    // Out of the way first: else those that stay would be moved around it, one by one.
    if (el.key !== id && el !== active && el.previousElementSibling !== above) el.remove();
    this.stand(el, this.shown.top(row));
    this.shown.fill(row, el);
    this.live.set(row, el);
    return el;
  }

  /** Reading order is the order on screen. The focused row is never moved in the document: it would lose the focus. */
  private order(elements: readonly HTMLElement[], active: RowElement | null): void {
    const fixed = active ? elements.indexOf(active) : -1;
    for (let at = fixed - 1; at >= 0; at--) {
      const el = elements[at] as HTMLElement;
      const below = elements[at + 1] as HTMLElement;
      if (el.nextElementSibling !== below) below.before(el);
    }
    for (let at = fixed + 1; at < elements.length; at++) {
      const el = elements[at] as HTMLElement;
      const above = at === 0 ? null : (elements[at - 1] as HTMLElement);
      if (above === null && this.window.firstElementChild !== el) this.window.prepend(el);
      else if (above !== null && above.nextElementSibling !== el) above.after(el);
    }
  }
}

function topOf(el: RowElement): number {
  return el.isConnected ? el.top : Number.POSITIVE_INFINITY;
}
