import type { Checkpoint, TaskInfo } from "../types";

/** What the page gets to draw. */
export interface GraphAnswer {
  dot: string;
  nodes: Record<string, GraphNode>;
  edges: Record<string, GraphEdge>;
  frames: Record<string, { path: string; name: string }>;
  why: string;
  note: string;
}

export interface GraphNode {
  id: string;
  name: string;
  label: string;
  kind: "node" | "start" | "end";
  inside: string;
}

export interface GraphEdge {
  source: string;
  target: string;
  kind: "edge" | "branch" | "barrier";
  label: string;
  router: string;
}

export type State = "failed" | "waits" | "next" | "kept" | "ran";
/** How the nodes inside nodes stand to a checkpoint: by path of nodes (`outer:inner`), then by node. */
export type Inside = Record<string, Record<string, Partial<Record<State, number>>>>;

/** How a node stands to a checkpoint. */
export interface Mark {
  /** Tasks that ran to make it, and those that run from it. */
  made: TaskInfo[];
  next: TaskInfo[];
  /** How many of its tasks, here or in graphs inside, stand how. */
  counts: Partial<Record<State, number>>;
  /** The one word that the picture shows: trouble first, then what comes, then what was. */
  state: State | "";
  /** The step from here has been made: what is done there is what came next. */
  over: boolean;
}

const STATE = { error: "failed", interrupt: "waits", pending: "next", done: "kept" } as const;
const ORDER = ["failed", "waits", "next", "kept", "ran"] as const;
export const MARK_WORDS = {
  ran: "ran to make this",
  next: "runs next",
  kept: "done, the step is not over",
  failed: "failed",
  waits: "waits for an answer",
} as const;

const empty = (): Mark => ({ made: [], next: [], counts: {}, state: "", over: false });
const EMPTY = empty();

/** The marks by node name; those of nodes inside a node by `path:name`. */
export function marksOf(answer: Checkpoint, inside: Inside = {}): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  const of = (name: string): Mark => {
    const mark = marks.get(name) ?? empty();
    marks.set(name, mark);
    return mark;
  };
  for (const task of answer.writes.made) of(task.name).made.push(task);
  for (const task of answer.writes.next) of(task.name).next.push(task);
  const over = answer.writes.next.every((task) => task.state === "done");
  for (const mark of marks.values()) {
    mark.over = over;
    if (mark.made.length) mark.counts.ran = mark.made.length;
    for (const task of mark.next) {
      const state = over ? "next" : STATE[task.state];
      mark.counts[state] = (mark.counts[state] ?? 0) + 1;
    }
  }
  for (const [path, nodes] of Object.entries(inside)) {
    for (const [name, counts] of Object.entries(nodes)) of(`${path}:${name}`).counts = counts;
  }
  for (const mark of marks.values()) mark.state = ORDER.find((state) => mark.counts[state]) ?? "";
  return marks;
}

export function markOf(marks: Map<string, Mark>, node: GraphNode): Mark {
  return marks.get(node.inside ? `${node.inside}:${node.name}` : node.name) ?? EMPTY;
}

/** The words that a screen reader hears after a node's name. */
export function markWords(mark: Mark): string {
  const words = [];
  for (const state of ["ran", "failed", "waits", "next", "kept"] as const) {
    const n = mark.counts[state];
    if (n) words.push(`${MARK_WORDS[state]}${times(n)}`);
  }
  return words.join(", ");
}

const times = (n: number): string => (n > 1 ? ` ×${n}` : "");

/** The end is reached when something ran and nothing comes. */
export function isOver(marks: Map<string, Mark>): boolean {
  const all = [...marks.values()];
  return all.some((mark) => mark.made.length > 0) && all.every((mark) => mark.next.length === 0);
}

/** Whether the step goes along an edge: its source ran, and its target comes. */
export function isTaken(graph: GraphAnswer, marks: Map<string, Mark>, edge: GraphEdge): boolean {
  const source = owner(graph, edge.source);
  const target = owner(graph, edge.target);
  if (source === target) return false;
  if (!marks.get(source)?.made.length) return false;
  return target === "__end__" ? isOver(marks) : (marks.get(target)?.next.length ?? 0) > 0;
}

/** The node of the looked-at graph that a drawn node is, or is inside of. */
export function owner(graph: GraphAnswer, id: string): string {
  const node = graph.nodes[id];
  if (!node) return "";
  return node.inside ? (node.inside.split(":", 1)[0] as string) : node.name;
}
