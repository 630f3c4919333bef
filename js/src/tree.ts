import { clock, duration, middle, nodeText, safe } from "./format";
import { isPlainKey } from "./keyboard";
import type { Chain } from "./lanes";
import type { Branch, Row, Store } from "./store";

export interface TreeEvents {
  /** A row was clicked (delay 0) or reached with the keyboard (a short delay). */
  pick(id: string, delay: number): void;
  /** Enter on a row: go to the panels. */
  enter(): void;
  /** Any other plain key on a row; true when it was used. */
  command(key: string, row: Row): boolean;
}

const MAX_LANES = 6;
const LANE_W = 16;
const LANE_X = 16;
const OVERSCAN = 6;
const LANE_VARS = ["--ckv-lane0", "--ckv-lane1", "--ckv-lane2", "--ckv-lane3", "--ckv-lane4", "--ckv-lane5"];

/** What ran to make a row, in words. */
export function ranText(row: Row): string {
  if (row.unfinished) return row.unfinished.name;
  const nodes = row.nodes.map((node) => (node === "__start__" ? "start" : node));
  if (row.source === "input") return "input";
  if (row.source === "fork") return "fork by you";
  if (row.source === "update") return nodes.length ? `update as ${nodeText(nodes)}` : "update by you";
  if (nodes.length) return nodeText(nodes);
  return (row.step ?? 0) <= 0 ? "start" : "—";
}

/** The virtual tree: recycled rows of text over one canvas of lanes. A plain class, because it is the hot surface. */
export class Tree {
  readonly grid: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly spacer: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly live = new Map<number, HTMLElement>();
  private readonly pool: HTMLElement[] = [];
  private readonly abort = new AbortController();
  private readonly resize: ResizeObserver;
  private selected: string | null = null;
  private tier = new Uint8Array(0);
  private pathTo = new Map<number, number>();
  private contTo = new Map<number, number>();
  private hits: Set<number> | null = null;
  private mark: string | null = null;
  private tips = new Map<number, string>();
  private branchNames: Branch[] = [];
  private branchOf = new Map<number, number>();
  private openParents = new Set<string>();
  private laneOffset = 0;
  private rowH = 26;
  private viewH = 0;
  private savedTop = 0;
  private colours: string[] = [];
  private paper = "#fff";
  private bad = "#c93a3a";
  private goal = -1;

  constructor(
    parent: HTMLElement,
    private readonly store: Store,
    private readonly events: TreeEvents,
  ) {
    this.grid = make("div", "ckv-tree");
    this.grid.setAttribute("role", "treegrid");
    this.grid.setAttribute("aria-label", "Checkpoints");
    this.grid.append(headRow());
    this.scroller = make("div", "ckv-scroll");
    this.scroller.setAttribute("role", "rowgroup");
    this.scroller.tabIndex = -1;
    this.canvas = make("canvas", "ckv-lanes") as HTMLCanvasElement;
    this.canvas.setAttribute("aria-hidden", "true");
    this.spacer = make("div", "ckv-spacer");
    this.spacer.setAttribute("role", "presentation");
    this.spacer.append(this.canvas);
    this.scroller.append(this.spacer);
    this.grid.append(this.scroller);
    parent.append(this.grid);
    const { signal } = this.abort;
    this.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true, signal });
    this.grid.addEventListener("click", (event) => this.onClick(event), { signal });
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

  /** Rows or lanes changed. */
  setData(): void {
    const { rows, lanes } = this.store;
    const atTop = this.scroller.scrollTop < this.rowH;
    const keep = this.anchor();
    this.branchNames = this.store.branches();
    this.tips.clear();
    this.branchOf.clear();
    this.branchNames.forEach((branch, n) => {
      this.branchOf.set(branch.chain, n + 1);
      if (this.branchNames.length > 1) this.tips.set(branch.tip, branch.name);
    });
    this.openParents = new Set(rows.filter((row) => row.unfinished).map((row) => row.parent ?? ""));
    this.grid.setAttribute("aria-rowcount", String(rows.length + 1));
    const shown = Math.min(Math.max(lanes.laneCount, 1), MAX_LANES);
    this.grid.style.setProperty("--ckv-lanes-w", `${LANE_X + shown * LANE_W + 2}px`);
    const digits = rows.reduce((most, row) => Math.max(most, row.step ?? 0), 0).toString().length;
    this.grid.style.setProperty("--ckv-step-w", `${Math.max(2, digits) * 0.62 + 0.9}em`);
    this.spacer.style.height = `${rows.length * this.rowH}px`;
    this.retire(() => true);
    this.retier();
    if (!atTop && keep) this.restore(keep);
    this.render();
  }

  /** The selection moved; it is brought into view. */
  select(id: string | null, tipRow: number): void {
    this.selected = id;
    this.goal = tipRow;
    this.retier();
    const at = id === null ? -1 : this.store.lanes.index(id);
    if (at >= 0) {
      this.panTo(this.store.lanes.lane(at));
      this.reveal(at);
    }
    for (const [row, el] of this.live) this.paintState(row, el);
    this.render();
  }

  /** Rows that a search found; null shows all alike. */
  setHits(hits: Set<number> | null): void {
    this.hits = hits;
    for (const [row, el] of this.live) this.paintState(row, el);
  }

  setMark(id: string | null): void {
    this.mark = id;
    this.retire(() => true);
    this.render();
  }

  /** Puts the focus on the selected row, also when the selection is newer than what is shown. */
  focus(): void {
    const now = this.store.selected.peek();
    if (now !== this.selected) this.select(now, this.goal);
    const at = this.current();
    const el = this.live.get(at);
    if (el) el.focus({ preventScroll: true });
    else this.scroller.focus({ preventScroll: true });
  }

  /** Theme colours are read again, for the canvas. */
  readTheme(): void {
    const style = getComputedStyle(this.grid);
    this.colours = LANE_VARS.map((name) => style.getPropertyValue(name).trim() || "#3b78d8");
    this.paper = style.getPropertyValue("--ckv-bg").trim() || "#fff";
    this.bad = style.getPropertyValue("--ckv-badfill").trim() || "#c93a3a";
    this.drawLanes();
  }

  private onResize(): void {
    const height = this.scroller.clientHeight;
    if (height === 0) return;
    const size = Number.parseFloat(getComputedStyle(this.grid).fontSize) || 13;
    const rowH = Math.max(24, Math.round(size * 2));
    const hidden = this.viewH === 0;
    this.viewH = height;
    if (rowH !== this.rowH) {
      this.rowH = rowH;
      this.spacer.style.height = `${this.store.rows.length * rowH}px`;
      this.retire(() => true);
    }
    if (hidden && this.savedTop) this.scroller.scrollTop = this.savedTop;
    else if (hidden) this.reveal(this.current());
    this.render();
  }

  private onScroll(): void {
    if (this.scroller.clientHeight === 0) return;
    this.savedTop = this.scroller.scrollTop;
    this.render();
  }

  private onClick(event: Event): void {
    const row = (event.target as Element).closest<HTMLElement>("[data-row]");
    if (!row) return;
    const found = this.store.rows[Number(row.dataset.row)];
    if (!found) return;
    this.events.pick(found.id, 0);
    this.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const at = this.current();
    const next = this.moved(event, at);
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
    } else if (this.events.command(event.key, row)) {
      event.preventDefault();
    }
  }

  private moved(event: KeyboardEvent, at: number): number | null {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
    const last = this.store.rows.length - 1;
    const page = Math.max(1, Math.floor(this.viewH / this.rowH) - 1);
    const { lanes } = this.store;
    switch (event.key) {
      case "ArrowDown":
        return Math.max(0, at - 1);
      case "ArrowUp":
        return Math.min(last, at + 1);
      case "PageDown":
        return Math.max(0, at - page);
      case "PageUp":
        return Math.min(last, at + page);
      case "Home":
        return last;
      case "End":
        return 0;
      case "ArrowLeft":
        return event.shiftKey ? Math.max(0, lanes.parentRow[at] ?? 0) : null;
      case "ArrowRight":
        return event.shiftKey ? this.newestChild(at) : null;
      default:
        return null;
    }
  }

  private newestChild(at: number): number {
    const { lanes } = this.store;
    const forks = lanes.forksAt.get(at);
    const fork = forks ? (lanes.chains[forks.at(-1) as number] as Chain).first : -1;
    const best = Math.max(lanes.nextRow[at] ?? -1, fork);
    return best < 0 ? at : best;
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
    if (at < 0 || this.viewH === 0) return;
    const top = this.top(at);
    const from = this.scroller.scrollTop;
    if (top < from) this.scroller.scrollTop = top;
    else if (top + this.rowH > from + this.viewH) this.scroller.scrollTop = top + this.rowH - this.viewH;
  }

  private panTo(lane: number): void {
    const most = Math.max(0, this.store.lanes.laneCount - MAX_LANES);
    if (lane < this.laneOffset) this.laneOffset = lane;
    else if (lane >= this.laneOffset + MAX_LANES) this.laneOffset = Math.min(most, lane - MAX_LANES + 1);
    this.laneOffset = Math.min(this.laneOffset, most);
  }

  /** The first row in view and where it stands, to keep it there when rows come in above. */
  private anchor(): { id: string; offset: number } | null {
    let best: { id: string; offset: number; at: number } | null = null;
    const from = this.scroller.scrollTop;
    for (const el of this.live.values()) {
      const id = el.dataset.key ?? "";
      const offset = Number(el.dataset.top) - from;
      if (offset >= 0 && (!best || offset < best.offset)) best = { id, offset, at: 0 };
    }
    return best;
  }

  private restore(keep: { id: string; offset: number }): void {
    const at = this.store.lanes.index(keep.id);
    if (at >= 0) this.scroller.scrollTop = this.top(at) - keep.offset;
  }

  private retier(): void {
    const { lanes, rows } = this.store;
    if (this.tier.length < rows.length) this.tier = new Uint8Array(rows.length + 256);
    this.tier.fill(0);
    this.pathTo.clear();
    this.contTo.clear();
    const at = this.selected === null ? -1 : lanes.index(this.selected);
    if (at < 0) return;
    const goal = this.goal >= at && lanes.isAncestor(at, this.goal) ? this.goal : lanes.tip(at);
    for (let row = goal; row > at; row = lanes.parentRow[row] ?? -1) this.note(row, 1, this.contTo);
    for (let row = at; row >= 0; row = lanes.parentRow[row] ?? -1) this.note(row, 2, this.pathTo);
  }

  private note(row: number, tier: number, ends: Map<number, number>): void {
    this.tier[row] = tier;
    const chain = this.store.lanes.chainOf[row] ?? 0;
    if (!ends.has(chain)) ends.set(chain, row);
  }

  private retire(gone: (row: number) => boolean): void {
    for (const [row, el] of this.live) {
      if (!gone(row)) continue;
      this.live.delete(row);
      this.pool.push(el);
    }
  }

  /** Fills the rows in view, keeping the selected one so that focus is never lost. */
  private render(): void {
    const total = this.store.rows.length;
    if (this.viewH === 0) return;
    const firstTop = Math.floor(this.scroller.scrollTop / this.rowH) - OVERSCAN;
    const lastTop = firstTop + Math.ceil(this.viewH / this.rowH) + OVERSCAN * 2;
    const from = Math.max(0, total - 1 - lastTop);
    const to = Math.min(total - 1, total - 1 - Math.max(0, firstTop));
    const pinned = this.current();
    const focused = this.focusedRow();
    this.retire((row) => (row < from || row > to) && row !== pinned && row !== focused);
    let above: HTMLElement | null = null;
    if (pinned > to) above = this.place(pinned, above);
    for (let row = to; row >= from; row--) above = this.place(row, above);
    if (pinned >= 0 && pinned < from) this.place(pinned, above);
    for (const el of this.pool) if (el.isConnected) el.remove();
    if (this.pool.length > 80) this.pool.length = 80;
    this.drawLanes();
  }

  private focusedRow(): number {
    const active = (this.grid.getRootNode() as Document | ShadowRoot).activeElement as HTMLElement | null;
    return active?.dataset?.row !== undefined && this.grid.contains(active) ? Number(active.dataset.row) : -1;
  }

  /** Shows a row below another in the document too, so that reading order is the order on screen. */
  private place(row: number, above: HTMLElement | null): HTMLElement | null {
    const shown = this.live.get(row);
    if (shown) return shown;
    const data = this.store.rows[row];
    if (!data) return above;
    const el = this.takeRow(data.id);
    this.fill(row, el, data);
    this.live.set(row, el);
    const before = above ?? this.canvas;
    const inPlace = el.isConnected && before.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (!inPlace) before.after(el);
    return el;
  }

  /** A recycled row, best the one that showed this checkpoint before (it may have the focus). */
  private takeRow(id: string): HTMLElement {
    let at = this.pool.findIndex((el) => el.dataset.key === id);
    if (at < 0) {
      const active = (this.grid.getRootNode() as Document | ShadowRoot).activeElement;
      at = this.pool.findLastIndex((el) => el !== active);
    }
    if (at < 0) return newRow();
    const el = this.pool.splice(at, 1)[0] as HTMLElement;
    if (el.dataset.key !== id) el.remove();
    return el;
  }

  private fill(row: number, el: HTMLElement, data: Row): void {
    const top = this.top(row);
    el.dataset.row = String(row);
    el.dataset.key = data.id;
    el.dataset.top = String(top);
    el.style.transform = `translateY(${top}px)`;
    el.style.height = `${this.rowH}px`;
    setOrDrop(el, "data-checkpoint-id", data.unfinished ? null : data.id);
    setOrDrop(el, "data-parent-id", data.parent);
    el.setAttribute("data-fork-depth", String(this.store.lanes.depth(row)));
    el.setAttribute("aria-rowindex", String(this.store.rows.length - row + 1));
    const [lane, step, nodes, changed, status, time] = el.children as unknown as HTMLElement[];
    (lane as HTMLElement).textContent = this.laneWords(row, data);
    (step as HTMLElement).textContent = data.step === null ? "" : String(data.step);
    const ran = safe(ranText(data));
    (nodes as HTMLElement).textContent = middle(ran, 60);
    (nodes as HTMLElement).title = ran;
    const names = data.changed.map((name) => (name === "__start__" ? "input" : safe(name))).join(" ");
    (changed as HTMLElement).textContent = middle(names, 40);
    (changed as HTMLElement).title = names ? `changed: ${names}` : "";
    this.fillStatus(status as HTMLElement, row, data);
    const spent = this.spent(row, data);
    (time as HTMLElement).textContent = spent;
    (time as HTMLElement).title = data.time ? clock(data.time) : "";
    el.classList.toggle("ckv-open", data.unfinished !== undefined);
    this.paintState(row, el);
  }

  private paintState(row: number, el: HTMLElement): void {
    const data = this.store.rows[row];
    const chosen = data?.id === this.selected;
    const tier = this.tier[row] ?? 0;
    el.setAttribute("aria-selected", String(chosen));
    el.tabIndex = row === this.current() ? 0 : -1;
    el.classList.toggle("ckv-path", tier === 2);
    el.classList.toggle("ckv-cont", tier === 1);
    el.classList.toggle("ckv-hit", this.hits?.has(row) === true);
    el.classList.toggle("ckv-miss", this.hits !== null && !this.hits.has(row));
  }

  private laneWords(row: number, data: Row): string {
    const { lanes } = this.store;
    if (data.unfinished) return "not finished, ";
    if (lanes.orphan[row]) return "parent missing, ";
    const chain = lanes.chainOf[row] ?? 0;
    const all = this.branchNames.length;
    if (all < 2) return "";
    const number = this.branchOf.get(chain) ?? 1;
    const from = this.branchNames[number - 1]?.forkedFrom;
    return `branch ${number} of ${all}${from === null || from === undefined ? "" : `, forked from step ${from}`}, `;
  }

  private fillStatus(cell: HTMLElement, row: number, data: Row): void {
    cell.textContent = "";
    const badge = (text: string, kind: string, title = "") => {
      const el = make("span", `ckv-badge ckv-b-${kind}`);
      el.textContent = text;
      el.title = title;
      cell.append(el);
    };
    if (data.id === this.mark) badge("A", "mark", "diff starts here");
    const tip = this.tips.get(row);
    if (tip) {
      const el = make("span", "ckv-tip");
      el.textContent = tip;
      cell.append(el);
    }
    if (data.id === this.store.head) badge("head", "head");
    const open = data.unfinished;
    if (open) {
      const text = safe(open.text || open.status);
      if (open.status === "error") badge(middle(text.split(":")[0] || "failed", 24), "err", text);
      else if (open.status === "interrupt") badge("waits for an answer", "wait", text);
      else badge("running", "run", text);
    } else if (!this.openParents.has(data.id)) {
      if (data.status === "error") badge("failed", "err");
      else if (data.status === "interrupt") badge("waits", "wait");
    }
  }

  private spent(row: number, data: Row): string {
    const parent = this.store.rows[this.store.lanes.parentRow[row] ?? -1];
    if (!parent || data.unfinished || data.source !== "loop" || !data.time || !parent.time) return "";
    return duration(data.time - parent.time);
  }

  private x(lane: number): number {
    return LANE_X + (lane - this.laneOffset) * LANE_W;
  }

  private drawLanes(): void {
    const { lanes, rows } = this.store;
    const width = LANE_X + Math.min(Math.max(lanes.laneCount, 1), MAX_LANES) * LANE_W;
    const height = this.viewH;
    if (height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const { canvas } = this;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const scroll = this.scroller.scrollTop;
    const from = Math.max(0, rows.length - 1 - Math.ceil((scroll + height) / this.rowH));
    const to = Math.min(rows.length - 1, rows.length - 1 - Math.floor(scroll / this.rowH) + 1);
    const y = (row: number) => this.top(row) + this.rowH / 2 - scroll;
    const seen = new Set<Chain>();
    for (let lane = this.laneOffset; lane < this.laneOffset + MAX_LANES; lane++) {
      for (const chain of lanes.chainsIn(lane, from, to)) seen.add(chain);
    }
    for (let row = from; row <= to; row++) {
      for (const n of (lanes.forksAt.get(row) ?? []).slice(0, 12)) seen.add(lanes.chains[n] as Chain);
    }
    context.lineCap = "round";
    for (const chain of seen) this.drawChain(context, chain, y);
    for (let row = from; row <= to; row++) this.drawGlyph(context, row, y(row));
  }

  private drawChain(context: CanvasRenderingContext2D, chain: Chain, y: (row: number) => number): void {
    const { lanes, rows } = this.store;
    const number = lanes.chainOf[chain.first] ?? 0;
    const onPath = this.pathTo.get(number) ?? -1;
    const onCont = this.contTo.get(number) ?? -1;
    const open = rows[chain.last]?.unfinished !== undefined;
    const solid = open ? (lanes.parentRow[chain.last] ?? chain.last) : chain.last;
    context.strokeStyle = this.colour(chain.lane);
    if (solid >= chain.first) this.stroke(context, chain, solid, y, 1.4);
    if (open) {
      context.setLineDash([3, 4]);
      if (solid >= chain.first) this.line(context, chain.lane, y(chain.last), y(solid), 1.4);
      else this.stroke(context, chain, chain.last, y, 1.4);
      context.setLineDash([]);
    }
    if (onCont >= 0 && onCont <= solid) this.stroke(context, chain, onCont, y, 2);
    if (onPath >= 0 && onPath <= solid) this.stroke(context, chain, onPath, y, 2.8);
    if (lanes.orphan[chain.first]) {
      context.setLineDash([1, 4]);
      this.line(context, chain.lane, y(chain.first), y(chain.first) + this.rowH * 0.8, 1.6);
      context.setLineDash([]);
    }
  }

  private line(context: CanvasRenderingContext2D, lane: number, y0: number, y1: number, width: number): void {
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(this.x(lane), y0);
    context.lineTo(this.x(lane), y1);
    context.stroke();
  }

  /** One chain from `upTo` down to its first row, and the bend to its parent. */
  private stroke(
    context: CanvasRenderingContext2D,
    chain: Chain,
    upTo: number,
    y: (row: number) => number,
    width: number,
  ): void {
    const clamp = (v: number) => Math.max(-40, Math.min(this.viewH + 40, v));
    const x = this.x(chain.lane);
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x, clamp(y(upTo)));
    if (chain.parentRow < 0) {
      context.lineTo(x, clamp(y(chain.first)));
    } else {
      const px = this.x(this.store.lanes.lane(chain.parentRow));
      const py = y(chain.parentRow);
      context.lineTo(x, clamp(py - this.rowH * 0.75));
      if (py < this.viewH + 40) context.bezierCurveTo(x, py - 4, px, py - this.rowH * 0.55, px, py);
    }
    context.stroke();
  }

  private colour(lane: number): string {
    return this.colours[lane % this.colours.length] ?? "#3b78d8";
  }

  private drawGlyph(context: CanvasRenderingContext2D, row: number, cy: number): void {
    const data = this.store.rows[row];
    if (!data) return;
    const lane = this.store.lanes.lane(row);
    const cx = this.x(lane);
    const colour = this.colour(lane);
    if (data.id === this.selected) {
      context.globalAlpha = 0.22;
      disc(context, cx, cy, 9, colour, null);
      context.globalAlpha = 1;
    }
    if (data.unfinished?.status === "error") {
      disc(context, cx, cy, 6, this.bad, null);
      marks(context, "#fff", [cx - 2.3, cy - 2.3, cx + 2.3, cy + 2.3, cx + 2.3, cy - 2.3, cx - 2.3, cy + 2.3]);
    } else if (data.unfinished?.status === "interrupt") {
      disc(context, cx, cy, 6, this.paper, colour);
      marks(context, colour, [cx - 1.8, cy - 2.4, cx - 1.8, cy + 2.4, cx + 1.8, cy - 2.4, cx + 1.8, cy + 2.4]);
    } else if (data.unfinished) {
      context.setLineDash([2, 3]);
      disc(context, cx, cy, 5, this.paper, colour);
      context.setLineDash([]);
    } else if (data.source === "fork") {
      disc(context, cx, cy, 5, this.paper, colour);
    } else if (data.source === "update") {
      context.save();
      context.translate(cx, cy);
      context.rotate(Math.PI / 4);
      context.fillStyle = colour;
      context.fillRect(-4, -4, 8, 8);
      context.restore();
    } else if (data.source === "input") {
      disc(context, cx, cy, 5, this.paper, colour);
      disc(context, cx, cy, 1.7, colour, null);
    } else {
      disc(context, cx, cy, 4.5, colour, null);
    }
  }
}

function disc(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  r: number,
  fill: string,
  stroke: string | null,
): void {
  context.beginPath();
  context.arc(x, y, r, 0, Math.PI * 2);
  context.fillStyle = fill;
  context.fill();
  if (!stroke) return;
  context.strokeStyle = stroke;
  context.lineWidth = 2.2;
  context.stroke();
}

function marks(context: CanvasRenderingContext2D, colour: string, points: number[]): void {
  context.strokeStyle = colour;
  context.lineWidth = 1.7;
  context.beginPath();
  for (let i = 0; i < points.length; i += 4) {
    context.moveTo(points[i] as number, points[i + 1] as number);
    context.lineTo(points[i + 2] as number, points[i + 3] as number);
  }
  context.stroke();
}

function make(tag: string, className: string): HTMLElement {
  const el = document.createElement(tag);
  el.className = className;
  return el;
}

function setOrDrop(el: HTMLElement, name: string, value: string | null): void {
  if (value === null) el.removeAttribute(name);
  else el.setAttribute(name, value);
}

const COLUMNS = [
  ["Branch", "ckv-c-lane"],
  ["step", "ckv-c-step"],
  ["ran", "ckv-c-nodes"],
  ["changed", "ckv-c-changed"],
  ["status", "ckv-c-status"],
  ["time", "ckv-c-time"],
] as const;

function headRow(): HTMLElement {
  const row = make("div", "ckv-row ckv-headrow");
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", "1");
  for (const [name, className] of COLUMNS) {
    const cell = make("span", className);
    cell.setAttribute("role", "columnheader");
    cell.textContent = name;
    row.append(cell);
  }
  return row;
}

function newRow(): HTMLElement {
  const row = make("div", "ckv-row ckv-datarow");
  row.setAttribute("role", "row");
  row.setAttribute("aria-level", "1");
  for (const [name, className] of COLUMNS) {
    const cell = make("span", className);
    cell.setAttribute("role", name === "ran" ? "rowheader" : "gridcell");
    if (name === "ran") cell.dir = "auto";
    row.append(cell);
  }
  return row;
}
