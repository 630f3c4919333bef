import type { Chain } from "./lanes";
import type { Store } from "./store";

export const MAX_LANES = 6;
export const LANE_W = 16;
export const LANE_X = 16;
const LANE_VARS = ["--ckv-lane0", "--ckv-lane1", "--ckv-lane2", "--ckv-lane3", "--ckv-lane4", "--ckv-lane5"];

/** What of the tree is in view. */
export interface LaneView {
  scroll: number;
  rowH: number;
  viewH: number;
  laneOffset: number;
  selected: string | null;
  /** Chain number to the last row of it on the path to the selection, and on the path's continuation. */
  pathTo: ReadonlyMap<number, number>;
  contTo: ReadonlyMap<number, number>;
}

const NOWHERE: LaneView = {
  scroll: 0,
  rowH: 26,
  viewH: 0,
  laneOffset: 0,
  selected: null,
  pathTo: new Map(),
  contTo: new Map(),
};

/** Draws the lanes beside the rows on a canvas. All it shows is also said in the rows' cells. */
export class LanePainter {
  private colours: string[] = [];
  private paper = "#fff";
  private bad = "#c93a3a";
  private view = NOWHERE;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly store: Store,
  ) {}

  readTheme(style: CSSStyleDeclaration): void {
    this.colours = LANE_VARS.map((name) => style.getPropertyValue(name).trim() || "#3b78d8");
    this.paper = style.getPropertyValue("--ckv-bg").trim() || "#fff";
    this.bad = style.getPropertyValue("--ckv-badfill").trim() || "#c93a3a";
  }

  private x(lane: number): number {
    return LANE_X + (lane - this.view.laneOffset) * LANE_W;
  }

  draw(view: LaneView): void {
    const { lanes, rows } = this.store;
    const { scroll } = view;
    this.view = view;
    const width = LANE_X + Math.min(Math.max(lanes.laneCount, 1), MAX_LANES) * LANE_W;
    const height = view.viewH;
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
    const from = Math.max(0, rows.length - 1 - Math.ceil((scroll + height) / this.view.rowH));
    const to = Math.min(rows.length - 1, rows.length - 1 - Math.floor(scroll / this.view.rowH) + 1);
    const y = (row: number) => (rows.length - 1 - row + 0.5) * view.rowH - scroll;
    const seen = new Set<Chain>();
    for (let lane = this.view.laneOffset; lane < this.view.laneOffset + MAX_LANES; lane++) {
      for (const chain of lanes.chainsIn(lane, from, to)) seen.add(chain);
    }
    for (let row = from; row <= to; row++) {
      for (const n of (lanes.forksAt.get(row) ?? []).slice(0, 12)) seen.add(lanes.chains[n] as Chain);
    }
    context.lineCap = "round";
    for (const chain of seen) this.drawChain(context, chain, y);
    for (let row = from; row <= to; row++) this.drawLinks(context, row, y);
    for (let row = from; row <= to; row++) this.drawGlyph(context, row, y(row));
  }

  private drawChain(context: CanvasRenderingContext2D, chain: Chain, y: (row: number) => number): void {
    const { lanes, rows } = this.store;
    const number = lanes.chainOf[chain.first] ?? 0;
    const onPath = this.view.pathTo.get(number) ?? -1;
    const onCont = this.view.contTo.get(number) ?? -1;
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
      this.line(context, chain.lane, y(chain.first), y(chain.first) + this.view.rowH * 0.8, 1.6);
      context.setLineDash([]);
    }
  }

  /** Dotted: from a copy to what it is a copy of, and from the end of a nested graph to its owner. */
  private drawLinks(context: CanvasRenderingContext2D, row: number, y: (row: number) => number): void {
    const { lanes, rows } = this.store;
    const data = rows[row];
    if (!data || (data.copyOf === null && !data.level)) return;
    let other = data.copyOf === null ? -1 : lanes.index(data.copyOf);
    if (data.level && (lanes.nextRow[row] ?? -1) < 0) {
      other = row + 1;
      while (other < rows.length && (rows[other]?.level ?? 0) >= data.level) other++;
    }
    if (other < 0 || other >= rows.length) return;
    const [x0, y0] = [this.x(lanes.lane(row)), y(row)];
    const [x1, y1] = [this.x(lanes.lane(other)), Math.max(-40, Math.min(this.view.viewH + 40, y(other)))];
    context.strokeStyle = this.colour(lanes.lane(row));
    context.lineWidth = 1.6;
    context.setLineDash([1, 4]);
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    context.stroke();
    context.setLineDash([]);
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
    const clamp = (v: number) => Math.max(-40, Math.min(this.view.viewH + 40, v));
    const x = this.x(chain.lane);
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x, clamp(y(upTo)));
    if (chain.parentRow < 0) {
      context.lineTo(x, clamp(y(chain.first)));
    } else {
      const px = this.x(this.store.lanes.lane(chain.parentRow));
      const py = y(chain.parentRow);
      context.lineTo(x, clamp(py - this.view.rowH * 0.75));
      if (py < this.view.viewH + 40) context.bezierCurveTo(x, py - 4, px, py - this.view.rowH * 0.55, px, py);
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
    if (lane < this.view.laneOffset || lane >= this.view.laneOffset + MAX_LANES) return;
    const cx = this.x(lane);
    const colour = this.colour(lane);
    if (data.id === this.view.selected) {
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
