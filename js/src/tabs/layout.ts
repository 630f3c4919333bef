import type { Viz } from "@viz-js/viz";

export interface Box {
  id: string;
  /** The middle, in pixels, y downwards. */
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Line {
  id: string;
  d: string;
  /** The tip of the arrow, and the point that it comes from. */
  tip: Point;
  from: Point;
  label: Point | null;
}

export interface Layout {
  w: number;
  h: number;
  nodes: Box[];
  frames: (Box & { label: Point })[];
  lines: Line[];
}

type Point = readonly [x: number, y: number];
export type Way = "TB" | "LR";

interface Raw {
  bb: string;
  objects?: Record<string, unknown>[];
  edges?: Record<string, unknown>[];
}

const INCH = 72;

/** Where Graphviz puts everything. Only numbers and our own ids are taken from what it says. */
export function layoutOf(viz: Viz, dot: string, way: Way): Layout {
  const made = viz.render(dot, { format: "json0", graphAttributes: { rankdir: way } });
  if (made.status !== "success") {
    throw new Error(`Graphviz: ${made.errors.map((one) => one.message).join("; ") || "no layout"}`);
  }
  return readLayout(JSON.parse(made.output) as Raw);
}

export function readLayout(raw: Raw): Layout {
  const [x0, y0, x1, y1] = numbers(raw.bb) as [number, number, number, number];
  const at = (x: number, y: number): Point => [x - x0, y1 - y];
  const out: Layout = { w: x1 - x0, h: y1 - y0, nodes: [], frames: [], lines: [] };
  for (const one of raw.objects ?? []) {
    const id = String(one.name);
    if (id.startsWith("cluster_")) {
      const [left = 0, low = 0, right = 0, high = 0] = numbers(one.bb);
      const [lx = 0, ly = 0] = numbers(one.lp);
      const [x, y] = at((left + right) / 2, (low + high) / 2);
      out.frames.push({ id, x, y, w: right - left, h: high - low, label: at(lx, ly) });
    } else if (one.pos !== undefined) {
      const [px = 0, py = 0] = numbers(one.pos);
      const [x, y] = at(px, py);
      out.nodes.push({ id, x, y, w: Number(one.width) * INCH, h: Number(one.height) * INCH });
    }
  }
  for (const one of raw.edges ?? []) {
    const line = readLine(String(one.id), String(one.pos ?? ""), at);
    if (!line) continue;
    const [lx, ly] = numbers(one.lp);
    out.lines.push({ ...line, label: lx === undefined || ly === undefined ? null : at(lx, ly) });
  }
  return out;
}

/** A spline: an end point after "e,", then a start and triples of control points. */
function readLine(id: string, pos: string, at: (x: number, y: number) => Point): Omit<Line, "label"> | null {
  const [first = ""] = pos.split(";");
  let tip: Point | null = null;
  const points: Point[] = [];
  for (const word of first.split(/\s+/).filter(Boolean)) {
    const end = word.startsWith("e,");
    const [x = Number.NaN, y = Number.NaN] = numbers(word.replace(/^[es],/, ""));
    if (Number.isNaN(x) || Number.isNaN(y)) continue;
    if (end) tip = at(x, y);
    else if (!word.startsWith("s,")) points.push(at(x, y));
  }
  const [start, ...rest] = points;
  const last = points.at(-1);
  if (!start || !last) return null;
  const text = (p: Point) => `${round(p[0])} ${round(p[1])}`;
  const curves = [];
  for (let i = 0; i + 2 < rest.length; i += 3) {
    curves.push(`C${[rest[i], rest[i + 1], rest[i + 2]].map((p) => text(p as Point)).join(" ")}`);
  }
  return { id, d: `M${text(start)}${curves.join("")}`, tip: tip ?? last, from: last };
}

function numbers(text: unknown): number[] {
  return String(text ?? "")
    .split(",")
    .filter((part) => part !== "")
    .map(Number);
}

const round = (n: number): number => Math.round(n * 10) / 10;

/** The triangle at an edge's end. */
export function arrow(line: Line): string {
  const [x, y] = line.tip;
  const angle = Math.atan2(y - line.from[1], x - line.from[0]);
  const side = (turn: number): string =>
    `${round(line.from[0] + 3.2 * Math.cos(angle + turn))} ${round(line.from[1] + 3.2 * Math.sin(angle + turn))}`;
  return `M${round(x)} ${round(y)}L${side(Math.PI / 2)}L${side(-Math.PI / 2)}Z`;
}

/** The bar before a barrier's arrow: all who lead here must have come. */
export function bar(line: Line): string {
  const [fx, fy] = line.from;
  const angle = Math.atan2(line.tip[1] - fy, line.tip[0] - fx);
  const [x, y] = [fx - 3 * Math.cos(angle), fy - 3 * Math.sin(angle)];
  const [dx, dy] = [-5 * Math.sin(angle), 5 * Math.cos(angle)];
  return `M${round(x + dx)} ${round(y + dy)}L${round(x - dx)} ${round(y - dy)}`;
}

/** The nearest box in a direction, for arrow keys. */
export function neighbour(boxes: readonly Box[], from: Box, key: string): Box | null {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key] ?? [0, 0];
  let best: Box | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const box of boxes) {
    const along = (box.x - from.x) * (dx as number) + (box.y - from.y) * (dy as number);
    const across = Math.abs((box.x - from.x) * (dy as number)) + Math.abs((box.y - from.y) * (dx as number));
    if (box === from || along <= 1) continue;
    const cost = along + across;
    if (cost < least) [best, least] = [box, cost];
  }
  return best;
}
