import {
  type Column,
  headRow,
  make,
  type RowElement,
  RowWriter,
  ranText,
  rowOf,
  setOrDrop,
  timeText,
  watchHeads,
} from "./cells";
import { Foot } from "./foot";
import { safe } from "./format";
import { isPlainKey } from "./keyboard";
import { moved } from "./moves";
import { LANE_W, LANE_X, LanePainter, MAX_LANES } from "./paint";
import { Recycler } from "./recycler";
import type { Row, Store } from "./store";
import { Tiers } from "./tiers";

export interface TreeEvents {
  /** A row was clicked (delay 0) or reached with the keyboard (a short delay). */
  pick(id: string, delay: number): void;
  /** Enter on a row: go to the panels. */
  enter(): void;
  /** Any other plain key on a row; true when it was used. */
  command(key: string, row: Row): boolean;
}

const OVERSCAN = 2;

/** The virtual tree: recycled rows of text over one canvas of lanes. A plain class, because it is the hot surface. */
export class Tree {
  readonly grid: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly spacer: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly rows: Recycler;
  private readonly abort = new AbortController();
  private readonly resize: ResizeObserver;
  private selected: string | null = null;
  private readonly tiers: Tiers;
  private hits: Set<number> | null = null;
  private laneOffset = 0;
  private rowH = 26;
  private viewH = 0;
  private savedTop = 0;
  private hidden = false;
  private readonly painter: LanePainter;
  private readonly writer: RowWriter;
  private goal = -1;
  /** The layout of the rows that was shown last. */
  private laidOut = -1;
  private readonly foot: Foot;

  constructor(
    parent: HTMLElement,
    private readonly store: Store,
    private readonly events: TreeEvents,
  ) {
    this.grid = make("div", "ckv-tree");
    this.grid.setAttribute("role", "treegrid");
    this.grid.setAttribute("aria-label", "Checkpoints");
    this.grid.append(headRow(() => store.rearrange(() => store.forest.foldAll(!store.forest.folded, this.selected))));
    this.scroller = make("div", "ckv-scroll");
    this.scroller.setAttribute("role", "rowgroup");
    this.scroller.tabIndex = -1;
    this.canvas = make("canvas", "ckv-lanes") as HTMLCanvasElement;
    this.canvas.setAttribute("aria-hidden", "true");
    this.painter = new LanePainter(this.canvas, store);
    this.writer = new RowWriter(store);
    this.tiers = new Tiers(store);
    this.spacer = make("div", "ckv-spacer");
    this.spacer.setAttribute("role", "presentation");
    this.rows = new Recycler({
      id: (row) => store.rows[row]?.id,
      top: (row) => this.top(row),
      fill: (row, el) => this.fill(row, el),
    });
    this.spacer.append(this.canvas, this.rows.window);
    this.scroller.append(this.spacer);
    this.foot = new Foot(store);
    this.scroller.append(this.foot.el);
    this.grid.append(this.scroller);
    parent.append(this.grid);
    const { signal } = this.abort;
    this.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true, signal });
    this.grid.addEventListener("click", (event) => this.onClick(event), { signal });
    this.grid.addEventListener("pointerover", (event) => this.onHover(event), { signal });
    this.grid.addEventListener("dblclick", () => this.events.enter(), { signal });
    this.grid.addEventListener("keydown", (event) => this.onKey(event), { signal });
    this.resize = new ResizeObserver(() => this.onResize());
    this.resize.observe(this.scroller);
    this.readTheme();
  }

  dispose(): void {
    this.abort.abort();
    this.resize.disconnect();
    this.grid.remove();
  }

  /** Rows or lanes changed. What is read stays where it is, but for a selection that moved. */
  setData(id: string | null, tipRow: number): void {
    const top = this.savedTop; // to ask the scroller would lay out the page first
    const keep = top < this.rowH ? null : this.anchor(top);
    this.writer.learn();
    this.measure();
    this.foot.update();
    this.rows.retireAll();
    this.settle(id, tipRow, (keep && this.restored(keep)) ?? top, top);
  }

  /** The selection moved; it is brought into view. */
  select(id: string | null, tipRow: number): void {
    if (id === this.selected && tipRow === this.goal) return;
    this.settle(id, tipRow, this.savedTop, this.savedTop);
    for (const [row, el] of this.rows.live) this.paintState(row, el);
  }

  /** Draws first and scrolls then: the other way round would be laid out twice. */
  private settle(id: string | null, tipRow: number, scroll: number, top: number): void {
    const { lanes, forest } = this.store;
    const moved = id !== this.selected || forest.layouts !== this.laidOut;
    this.selected = id;
    this.goal = tipRow;
    this.laidOut = forest.layouts;
    this.retier();
    const at = id === null ? -1 : lanes.index(id);
    if (moved && at >= 0) this.panTo(lanes.lane(at));
    const to = moved ? this.revealed(at, scroll) : scroll;
    this.render(to);
    if (to === top) return;
    // A scroll that was not told yet goes on from where it is, but for a selection that has to come into view.
    const target = moved ? to : this.scroller.scrollTop + to - top;
    this.scroller.scrollTop = target;
    this.savedTop = target;
  }

  /** Sizes that follow from how many rows, lanes and digits there are; written only where they change. */
  private measure(): void {
    const { rows, lanes, forest } = this.store;
    const { style } = this.grid;
    this.grid.setAttribute("aria-rowcount", this.store.more.peek() ? "-1" : String(rows.length + 1));
    const shown = Math.min(Math.max(lanes.laneCount, 1), MAX_LANES);
    const sizes = {
      "--ckv-lanes-w": `${LANE_X + shown * LANE_W + 2}px`,
      "--ckv-step-w": `${Math.max(2, forest.lastStep.toString().length) * 0.62 + 0.9}em`,
    };
    for (const [name, size] of Object.entries(sizes)) {
      if (style.getPropertyValue(name) !== size) style.setProperty(name, size);
    }
    this.spacer.style.height = `${rows.length * this.rowH}px`;
    const fold = this.grid.querySelector<HTMLElement>(".ckv-foldall");
    if (fold) fold.hidden = lanes.chains.length < 3 && !forest.folded;
    fold?.setAttribute("aria-pressed", String(forest.folded));
  }

  /** Rows that a search found; null shows all alike. */
  setHits(hits: Set<number> | null): void {
    this.hits = hits;
    for (const [row, el] of this.rows.live) this.paintState(row, el);
  }

  /** Watched paths, each a column: its name and its value at a row. */
  setColumns(columns: readonly Column[]): void {
    const same = columns.map((one) => one.name).join("\n") === this.writer.columns.map((one) => one.name).join("\n");
    this.writer.columns = columns;
    if (!same) {
      const focused = this.activeRow() !== null;
      this.rows.clear();
      watchHeads(this.grid.firstElementChild as HTMLElement, columns);
      this.render();
      if (focused) this.focus();
      return;
    }
    this.rows.retireAll();
    this.render();
  }

  /** The checkpoints that are compared, A and B. */
  setMarks(a: string | null, b: string | null): void {
    this.writer.marks = [a, b];
    this.rows.retireAll();
    this.render();
  }

  /** Puts the focus on the selected row, also when the selection is newer than what is shown. */
  focus(): void {
    const now = this.store.selected.peek();
    if (this.laidOut !== this.store.forest.layouts) this.setData(now, this.goal);
    else if (now !== this.selected) this.select(now, this.goal);
    const at = this.current();
    const el = this.rows.live.get(at);
    if (el) el.focus({ preventScroll: true });
    else this.scroller.focus({ preventScroll: true });
  }

  /** Theme colours are read again, for the canvas. */
  readTheme(): void {
    this.painter.readTheme(getComputedStyle(this.grid));
    this.drawLanes();
  }

  private onResize(): void {
    const height = this.scroller.clientHeight;
    if (height === 0) {
      this.hidden = true;
      return;
    }
    const size = Number.parseFloat(getComputedStyle(this.grid).fontSize) || 13;
    const rowH = Math.max(24, Math.round(size * 2));
    const hidden = this.viewH === 0 || this.hidden;
    this.hidden = false;
    this.viewH = height;
    if (rowH !== this.rowH) {
      this.rowH = rowH;
      this.spacer.style.height = `${this.store.rows.length * rowH}px`;
      this.grid.style.setProperty("--ckv-row-h", `${rowH}px`);
      this.rows.retireAll();
    }
    if (hidden && this.savedTop) this.scroller.scrollTop = this.savedTop;
    else if (hidden) this.reveal(this.current());
    this.render();
  }

  private onScroll(): void {
    if (this.viewH === 0 || this.hidden) return;
    const top = this.scroller.scrollTop;
    if (top === this.savedTop) return;
    this.savedTop = top;
    this.render(top);
    if (this.store.rows.length * this.rowH - top < this.viewH * 3) void this.store.older();
  }

  private onClick(event: Event): void {
    const row = rowOf(event.target);
    if (!row) return;
    const found = this.store.rows[row.at];
    if (!found) return;
    const twisty = (event.target as Element).closest(".ckv-twisty") !== null;
    if (twisty) this.toggle(found);
    this.events.pick(found.id, twisty ? 1 : 0);
    this.focus();
  }

  /** What a cell cuts, and the full time, are written out when they are wanted: not for every row that passes. */
  private onHover(event: Event): void {
    const cell = (event.target as Element).closest<HTMLElement>(".ckv-datarow > span");
    const data = this.store.rows[rowOf(cell)?.at ?? -1];
    if (!cell || !data) return;
    if (cell.classList.contains("ckv-c-time")) cell.title = timeText(data);
    else if (cell.classList.contains("ckv-c-nodes")) cell.title = safe(ranText(data));
    else if (cell.classList.contains("ckv-c-changed")) cell.title = data.changed.map(safe).join(" ");
  }

  private onKey(event: KeyboardEvent): void {
    const at = this.current();
    const next = moved(event, this.store.lanes, at, Math.max(1, Math.floor(this.viewH / this.rowH) - 1));
    if (next !== null) {
      event.preventDefault();
      this.goTo(next);
      return;
    }
    const row = this.store.rows[at];
    if (!row || !isPlainKey(event)) return;
    if (event.key === "Enter") {
      event.preventDefault();
      this.events.enter();
    } else if (this.toCell(event) || this.opened(event.key, row) || this.events.command(event.key, row)) {
      event.preventDefault();
    }
  }

  /** → goes from a row that opens nothing more to its first cell and on, ← back to the row; true when the key was used. */
  private toCell(event: KeyboardEvent): boolean {
    const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const el = rowOf(event.target);
    if (way === 0 || !el) return false;
    const cells = [...el.children] as HTMLElement[];
    const at = cells.indexOf(event.target as HTMLElement);
    const row = this.store.rows[el.at];
    if (at < 0 && (way < 0 || !row || this.opens(row))) return false;
    const to = at + way < 0 ? el : cells[Math.min(cells.length - 1, at + way)];
    if (to !== el) to?.setAttribute("tabindex", "-1");
    to?.focus({ preventScroll: true });
    return true;
  }

  /** Whether → opens something of a row. */
  private opens(row: Row): boolean {
    const { forest } = this.store;
    return forest.isFolded(row.id) === true || forest.isOpen(row.id) === false;
  }

  /** → opens what a row holds or shows its branch whole, ← closes it; true when the key was used. */
  private opened(key: string, row: Row): boolean {
    if (key !== "ArrowRight" && key !== "ArrowLeft") return false;
    const { forest } = this.store;
    const on = key === "ArrowRight";
    if (on && !this.opens(row)) return false;
    if (on ? forest.isFolded(row.id) === true : forest.isOpen(row.id) !== true && forest.isFolded(row.id) === false) {
      this.store.rearrange(() => forest.fold(row.id, !on));
    } else if (forest.isOpen(row.id) === !on) void this.store.open(row.id, on);
    else return false;
    return true;
  }

  private toggle(row: Row): void {
    const { forest } = this.store;
    const open = forest.isOpen(row.id);
    if (open !== null && forest.isFolded(row.id) !== true) void this.store.open(row.id, !open);
    else this.store.rearrange(() => forest.fold(row.id, forest.isFolded(row.id) === false));
  }

  private goTo(at: number): void {
    const row = this.store.rows[at];
    if (!row) return;
    this.events.pick(row.id, 80);
    this.focus();
  }

  private current(): number {
    const at = this.selected === null ? -1 : this.store.lanes.index(this.selected);
    return at >= 0 ? at : this.store.rows.length - 1;
  }

  private top(at: number): number {
    return (this.store.rows.length - 1 - at) * this.rowH;
  }

  private reveal(at: number): void {
    const top = this.scroller.scrollTop;
    const to = this.revealed(at, top);
    if (to !== top) this.scroller.scrollTop = to;
  }

  /** Where the list has to stand so that a row is in view. */
  private revealed(at: number, from: number): number {
    if (at < 0 || this.viewH === 0) return from;
    const top = this.top(at);
    if (top < from) return top;
    return Math.max(from, top + this.rowH - this.viewH);
  }

  private panTo(lane: number): void {
    const most = Math.max(0, this.store.lanes.laneCount - MAX_LANES);
    if (lane < this.laneOffset) this.laneOffset = lane;
    else if (lane >= this.laneOffset + MAX_LANES) this.laneOffset = Math.min(most, lane - MAX_LANES + 1);
    this.laneOffset = Math.min(this.laneOffset, most);
  }

  /** The first row in view and where it stands, to keep it there when rows come in above. */
  private anchor(from: number): { id: string; offset: number } | null {
    let best: { id: string; offset: number } | null = null;
    for (const { key, top } of this.rows.live.values()) {
      const offset = top - from;
      if (offset >= 0 && (!best || offset < best.offset)) best = { id: key, offset };
    }
    return best;
  }

  private restored(keep: { id: string; offset: number }): number | null {
    const at = this.store.lanes.index(keep.id);
    return at < 0 ? null : this.top(at) - keep.offset;
  }

  private retier(): void {
    this.tiers.mark(this.selected === null ? -1 : this.store.lanes.index(this.selected), this.goal);
  }

  /** Fills the rows in view, and keeps the selected and the focused one so that focus is never lost. */
  private render(scroll = this.scroller.scrollTop): void {
    if (this.viewH === 0) return;
    const active = this.activeRow();
    const last = this.store.rows.length - 1;
    const to = last - Math.max(0, Math.floor(scroll / this.rowH) - OVERSCAN);
    const from = Math.max(0, to - Math.ceil(this.viewH / this.rowH) - OVERSCAN * 2);
    const wanted = new Set([this.current(), active ? this.store.lanes.index(active.key) : -1]);
    for (let row = from; row <= to; row++) wanted.add(row);
    const rows = [...wanted].filter((row) => row >= 0 && row <= last).sort((a, b) => b - a);
    this.rows.show(rows, from, to, active, this.writer.columns.length);
    this.drawLanes(scroll);
  }

  /** The row that has the focus, or a cell with it. */
  private activeRow(): RowElement | null {
    const { activeElement } = this.grid.getRootNode() as Document | ShadowRoot;
    const row = rowOf(activeElement);
    return row && this.grid.contains(row) ? row : null;
  }

  private fill(row: number, el: RowElement): void {
    const data = this.store.rows[row];
    if (!data) return;
    this.writer.fill(row, el, data);
    this.paintState(row, el);
  }

  private paintState(row: number, el: HTMLElement): void {
    const data = this.store.rows[row];
    const chosen = data?.id === this.selected;
    const tier = this.tiers.of(row);
    setOrDrop(el, "aria-selected", String(chosen));
    setOrDrop(el, "tabindex", row === this.current() ? "0" : "-1");
    el.classList.toggle("ckv-path", tier === 2);
    el.classList.toggle("ckv-cont", tier === 1);
    el.classList.toggle("ckv-hit", this.hits?.has(row) === true);
    el.classList.toggle("ckv-miss", this.hits !== null && !this.hits.has(row));
  }

  private drawLanes(scroll = this.scroller.scrollTop): void {
    const { rowH, viewH, laneOffset, selected } = this;
    const { pathTo, contTo } = this.tiers;
    this.painter.draw({ scroll, rowH, viewH, laneOffset, selected, pathTo, contTo });
  }
}
