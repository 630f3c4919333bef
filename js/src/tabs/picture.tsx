import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, middle, safe } from "../format";
import { arrow, type Box, bar, type Layout, neighbour } from "./layout";
import { type GraphAnswer, isOver, isTaken, type Mark, markOf, markWords } from "./marks";

const PAD = 14;
const LOW = 130;
const MAX_ZOOM = 2.5;
/** Names that would be smaller than this can't be read: such a graph opens closer, at what runs. */
const LEAST = 0.45;
const READABLE = 0.7;

/** Lines and ends are told by the labels of the nodes. */
const UNSPOKEN = { "aria-hidden": true } as const;

interface Eye {
  k: number;
  /** The middle of what is seen, in the layout's pixels. */
  x: number;
  y: number;
}

export interface PictureProps {
  graph: GraphAnswer;
  layout: Layout;
  marks: Map<string, Mark>;
  width: number;
  /** The most that the picture may take of the panel's height. */
  high: number;
  picked: string | null;
  onPick: (id: string | null) => void;
  /** What stands beside the buttons below. */
  children?: ComponentChildren;
}

export function fitScale(layout: Layout, width: number, height: number): number {
  return Math.min((width - 2 * PAD) / layout.w, (height - 2 * PAD) / layout.h, 1);
}

/** The scale that a graph opens at: all of it, where that can be read. */
export function openingScale(whole: number): number {
  return whole < LEAST ? READABLE : whole;
}

/** The graph as SVG, made of nodes and text nodes: what a graph's names say is never read as markup. */
export function Picture(props: PictureProps) {
  const { graph, layout, marks, width } = props;
  const svg = useRef<SVGSVGElement>(null);
  const whole = fitScale(layout, width, props.high);
  const opening = openingScale(whole);
  const high = Math.round(Math.max(LOW, Math.min(props.high, layout.h * opening + 2 * PAD)));
  const centre = () => activeMiddle(graph, layout, marks);
  const first = () => held({ k: opening, ...centre() }, layout, width, high);
  const [eye, setEye] = useState(first);
  useEffect(() => setEye(first()), [layout, width, high]);
  useEffect(() => {
    // somebody looks closer: then at what runs
    setEye((old) => (old.k > whole * 1.01 ? held({ ...old, ...centre() }, layout, width, high) : old));
  }, [marks]);
  const move = (next: Eye) => setEye(held(next, layout, width, high));
  const zoom = (by: number, at?: { x: number; y: number }) => {
    const k = Math.max(whole, Math.min(MAX_ZOOM, eye.k * by));
    const p = at ?? { x: eye.x, y: eye.y };
    move({ k, x: p.x - ((p.x - eye.x) * eye.k) / k, y: p.y - ((p.y - eye.y) * eye.k) / k });
  };
  const fit = () => move({ k: whole, x: layout.w / 2, y: layout.h / 2 });
  useWheel(svg, eye, zoom);
  const drag = useDrag(eye, move);
  const box = [eye.x - width / 2 / eye.k, eye.y - high / 2 / eye.k, width / eye.k, high / eye.k];
  const names = Object.values(graph.nodes).filter((node) => node.kind === "node");
  return (
    <div class="ckv-graphbox">
      <div class="ckv-graph">
        <svg
          ref={svg}
          class="ckv-graphsvg"
          width={width}
          height={high}
          viewBox={box.map((n) => n.toFixed(2)).join(" ")}
          role="group"
          aria-label={`Graph, ${count(names.length, "node")}`}
          onKeyDown={(event) => {
            const todo: Record<string, () => void> = { "+": () => zoom(1.25), "-": () => zoom(0.8), "0": fit };
            if (!todo[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
            event.preventDefault();
            todo[event.key]?.();
          }}
          {...drag}
        >
          <Frames graph={graph} layout={layout} marks={marks} />
          <Lines graph={graph} layout={layout} marks={marks} />
          <Nodes {...props} svg={svg} onSeen={(at) => move(seen(eye, at, width, high))} />
        </svg>
      </div>
      <div class="ckv-graphfoot">
        {props.children}
        <div class="ckv-graphzoom">
          <ZoomButton text="−" label="Zoom out" onPress={() => zoom(0.8)} />
          <ZoomButton text="+" label="Zoom in" onPress={() => zoom(1.25)} />
          <ZoomButton text="fit" label="Fit the graph" onPress={fit} />
        </div>
      </div>
    </div>
  );
}

function ZoomButton(props: { text: string; label: string; onPress: () => void }) {
  return (
    <button type="button" aria-label={props.label} title={props.label} onClick={props.onPress}>
      {props.text}
    </button>
  );
}

/** The middle of the nodes that ran or come, else of all. */
function activeMiddle(graph: GraphAnswer, layout: Layout, marks: Map<string, Mark>): { x: number; y: number } {
  const lit = layout.nodes.filter((box) => {
    const node = graph.nodes[box.id];
    return node && markOf(marks, node).state !== "";
  });
  const of = lit.length ? lit : layout.nodes.slice(0, 1);
  const mean = (key: "x" | "y") => of.reduce((sum, box) => sum + box[key], 0) / Math.max(1, of.length);
  return { x: mean("x"), y: mean("y") };
}

/** The eye kept over the picture; what fits is centred. */
function held(eye: Eye, layout: Layout, width: number, height: number): Eye {
  const keep = (at: number, size: number, room: number) => {
    const half = room / 2 / eye.k;
    const pad = PAD / eye.k;
    return size + 2 * pad <= 2 * half ? size / 2 : Math.max(half - pad, Math.min(size + pad - half, at));
  };
  return { k: eye.k, x: keep(eye.x, layout.w, width), y: keep(eye.y, layout.h, height) };
}

/** The eye moved just so far that a node is seen. */
function seen(eye: Eye, box: Box, width: number, height: number): Eye {
  const shift = (at: number, mid: number, half: number, room: number) => {
    const reach = room / 2 / eye.k - half - PAD;
    return Math.abs(at - mid) <= reach ? mid : at > mid ? at - Math.max(0, reach) : at + Math.max(0, reach);
  };
  return { k: eye.k, x: shift(box.x, eye.x, box.w / 2, width), y: shift(box.y, eye.y, box.h / 2, height) };
}

/** Ctrl and the wheel (or a pinch) zoom; the wheel alone scrolls the panel. */
function useWheel(
  svg: { current: SVGSVGElement | null },
  eye: Eye,
  zoom: (by: number, at: { x: number; y: number }) => void,
): void {
  useEffect(() => {
    const element = svg.current;
    if (!element) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const room = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 200), {
        x: eye.x + (event.clientX - room.left - room.width / 2) / eye.k,
        y: eye.y + (event.clientY - room.top - room.height / 2) / eye.k,
      });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [eye]);
}

function useDrag(eye: Eye, move: (eye: Eye) => void) {
  const from = useRef<{ x: number; y: number; eye: Eye } | null>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return; // a finger scrolls the panel
      from.current = { x: event.clientX, y: event.clientY, eye };
    },
    onPointerMove: (event: PointerEvent) => {
      const start = from.current;
      if (!start || event.buttons === 0) return;
      const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
      if (Math.abs(dx) + Math.abs(dy) < 4) return;
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
      move({ k: start.eye.k, x: start.eye.x - dx / start.eye.k, y: start.eye.y - dy / start.eye.k });
    },
    onPointerUp: () => {
      from.current = null;
    },
  };
}

type Drawn = { graph: GraphAnswer; layout: Layout; marks: Map<string, Mark> };

function Frames({ graph, layout, marks }: Drawn) {
  return (
    <>
      {layout.frames.map((frame) => {
        const told = graph.frames[frame.id];
        const state = (told && marks.get(told.path)?.state) ?? "";
        return (
          <g key={frame.id} class={`ckv-frame ckv-g-${state || "idle"}`}>
            <rect x={frame.x - frame.w / 2} y={frame.y - frame.h / 2} width={frame.w} height={frame.h} rx={9} />
            <text x={frame.label[0]} y={frame.label[1] + 4} text-anchor="middle">
              {safe(told?.name ?? "")}
              <title>{safe(told?.path ?? "")}</title>
            </text>
          </g>
        );
      })}
    </>
  );
}

function Lines({ graph, layout, marks }: Drawn) {
  return (
    <>
      {layout.lines.map((line) => {
        const edge = graph.edges[line.id];
        if (!edge) return null;
        const taken = isTaken(graph, marks, edge);
        return (
          <g key={line.id} class={`ckv-edge ckv-e-${edge.kind}${taken ? " ckv-taken" : ""}`} {...UNSPOKEN}>
            <title>{edgeWords(graph, line.id)}</title>
            <path class="ckv-edgeline" d={line.d} />
            <path class="ckv-edgetip" d={arrow(line)} />
            {edge.kind === "barrier" && <path class="ckv-edgebar" d={bar(line)} />}
            {edge.label && line.label && (
              <text x={line.label[0]} y={line.label[1] + 3} text-anchor="middle">
                {safe(edge.label.length > 18 ? `${edge.label.slice(0, 17)}…` : edge.label)}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** What an edge means, in words. */
export function edgeWords(graph: GraphAnswer, id: string): string {
  const edge = graph.edges[id];
  if (!edge) return "";
  const name = (key: string) => safe(graph.nodes[key]?.label ?? "");
  const ends = `${name(edge.source)} → ${name(edge.target)}`;
  if (edge.kind === "barrier") return `${ends}: a barrier, waits for all its sources`;
  if (edge.kind === "branch")
    return `${ends}: ${edge.router ? `router ${safe(edge.router)}` : "decided while running"}`;
  return ends;
}

/** Room was made for the label as it is; where characters are shown as escapes it is cut. */
function labelIn(label: string, width: number): string {
  const shown = safe(label);
  return shown === label ? label : middle(shown, Math.floor((width - 44) / 7));
}

function leadsTo(graph: GraphAnswer, id: string): string {
  const ends = Object.values(graph.edges).filter((edge) => edge.source === id);
  const names = ends.map((edge) => safe(graph.nodes[edge.target]?.label ?? ""));
  return names.length ? `leads to ${[...new Set(names)].join(" and ")}` : "";
}

function Nodes(props: PictureProps & { svg: { current: SVGSVGElement | null }; onSeen: (box: Box) => void }) {
  const { graph, layout, marks, picked } = props;
  const boxes = useMemo(() => layout.nodes.filter((box) => graph.nodes[box.id]?.kind === "node"), [layout, graph]);
  const start = useMemo(
    () => boxes.find((box) => markOf(marks, graph.nodes[box.id] as never).state) ?? boxes[0],
    [boxes, marks],
  );
  const [focused, setFocused] = useState<string | null>(null);
  const tabbable = [focused, picked, start?.id].find((id) => id && boxes.some((box) => box.id === id));
  const go = (event: KeyboardEvent, box: Box) => {
    if (event.key === "Enter" || event.key === " ") props.onPick(picked === box.id ? null : box.id);
    else {
      const to = neighbour(boxes, box, event.key);
      if (!to && !event.key.startsWith("Arrow")) return;
      const target = to && props.svg.current?.querySelector<SVGElement>(`[data-node="${to.id}"]`);
      if (to && target) {
        target.focus({ preventScroll: true });
      }
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      {layout.nodes.map((box) => {
        const node = graph.nodes[box.id];
        if (!node) return null;
        const mark = markOf(marks, node);
        if (node.kind !== "node") {
          const lit = node.kind === "end" ? isOver(marks) && !node.inside : mark.state !== "";
          return <Terminal key={box.id} box={box} kind={node.kind} lit={lit} />;
        }
        return (
          <NodeBox
            key={box.id}
            box={box}
            label={labelIn(node.label, box.w)}
            name={safe(node.inside ? `${node.name} in ${node.inside}` : node.name)}
            leads={leadsTo(graph, box.id)}
            mark={mark}
            picked={picked === box.id}
            tabIndex={tabbable === box.id ? 0 : -1}
            onPick={() => props.onPick(picked === box.id ? null : box.id)}
            onKey={(event) => go(event, box)}
            onFocus={(byKeyboard) => {
              setFocused(box.id);
              if (byKeyboard) props.onSeen(box); // under a pointer nothing may move away
            }}
          />
        );
      })}
    </>
  );
}

function Terminal({ box, kind, lit }: { box: Box; kind: string; lit: boolean }) {
  return (
    <g class={`ckv-term${lit ? " ckv-taken" : ""}`} {...UNSPOKEN}>
      <rect x={box.x - box.w / 2} y={box.y - box.h / 2} width={box.w} height={box.h} rx={box.h / 2} />
      <text x={box.x} y={box.y + 4} text-anchor="middle">
        {kind}
      </text>
    </g>
  );
}

function NodeBox(props: {
  box: Box;
  label: string;
  name: string;
  /** Where its edges lead, in words. */
  leads: string;
  mark: Mark;
  picked: boolean;
  tabIndex: number;
  onPick: () => void;
  onKey: (event: KeyboardEvent) => void;
  onFocus: (byKeyboard: boolean) => void;
}) {
  const { box, mark } = props;
  const [left, top] = [box.x - box.w / 2, box.y - box.h / 2];
  const words = markWords(mark);
  const many = Math.max(...Object.values(mark.counts), 0);
  return (
    <g
      class={`ckv-node ckv-g-${mark.state || "idle"}${mark.counts.ran ? " ckv-made" : ""}`}
      role="button"
      aria-label={[many > 1 ? `${props.name} ×${many}` : props.name, words, props.leads].filter(Boolean).join(", ")}
      aria-pressed={props.picked}
      data-node={box.id}
      tabIndex={props.tabIndex}
      onClick={props.onPick}
      onKeyDown={props.onKey}
      onFocus={(event) => props.onFocus(event.currentTarget.matches(":focus-visible"))}
    >
      <title>{words ? `${props.name}\n${words}` : props.name}</title>
      <rect class="ckv-ring" x={left - 3.5} y={top - 3.5} width={box.w + 7} height={box.h + 7} rx={10} />
      <rect class="ckv-box" x={left} y={top} width={box.w} height={box.h} rx={7} />
      <Glyph state={mark.state} x={left + 14} y={box.y} />
      <text x={mark.state ? box.x + 6 : box.x} y={box.y + 4.4} text-anchor="middle">
        {props.label}
      </text>
      {many > 1 && (
        <text class="ckv-times" x={left + box.w - 4} y={top - 4} text-anchor="end">
          ×{many}
        </text>
      )}
    </g>
  );
}

const GLYPHS = {
  ran: "M-4 0L-1.2 3L4.2-3.2",
  kept: "M-4-1.5L-1.2 1.5L4.2-4.5M-4 5H4",
  next: "M-2.6-4L4 0L-2.6 4Z",
  failed: "M-3.4-3.4L3.4 3.4M3.4-3.4L-3.4 3.4",
  waits: "M-2.2-3.8V3.8M2.2-3.8V3.8",
} as const;

export function Glyph({ state, x, y }: { state: Mark["state"]; x: number; y: number }) {
  if (!state) return null;
  return <path class={`ckv-glyph ckv-y-${state}`} d={GLYPHS[state]} transform={`translate(${x} ${y})`} />;
}
