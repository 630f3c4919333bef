/** The messages between the kernel and the page. */

export type RowTuple = [
  id: string,
  parent: string | null,
  step: number,
  source: string,
  time: number,
  nodes: string[],
  changed: string[],
  status: string,
  next: string[],
  copyOf: string | null,
  version?: string | null,
  turn?: number | null,
  event?: string | null,
  apart?: number,
  took?: number | null,
];

export interface Unfinished {
  parent: string;
  task: string;
  name: string;
  status: "error" | "interrupt" | "running";
  text: string;
  /** How many tasks of this node there are, how they stand, and how many wait; where there are several. */
  of?: number;
  counts?: string;
  waits?: number;
}

/** Many rows in columns; binary ones little-endian in base64. See `explorer/columns.py`. */
export interface RowColumns {
  n: number;
  /** 16 bytes each, or the ids themselves. */
  ids: string | string[];
  /** int32: a position in this message, -1 none, -2 named in `far`. */
  parents: string;
  far: Record<string, string>;
  /** int32 */
  steps: string;
  /** float64, in ms */
  times: string;
  /** int32: a position in `shapes` */
  shape: string;
  shapes: [
    source: string,
    nodes: string[],
    changed: string[],
    status: string,
    next: string[],
    version: string | null,
    turn: number | null,
    event: string | null,
    apart?: number,
  ][];
  copies: Record<string, string>;
  /** float32, in ms; below 0: not known */
  took?: string | null;
}

/** A graph inside the graph: its namespace, the checkpoint that it ran from, and the node that ran it. */
export type Nested = [ns: string, owner: string, node: string];

export interface RowsMsg {
  reset: boolean;
  head: string | null;
  rows: RowTuple[];
  columns?: RowColumns | null;
  /** Whether there are older checkpoints that were not sent. */
  more?: boolean;
  unfinished: Unfinished[];
}

export interface Ability {
  ok: boolean;
  why?: string | null;
}

export type Act = "fork" | "replay" | "resume" | "run" | "stop" | "scratch" | "label";

export interface ThreadInfo {
  id: string;
  checkpoints: number;
  last_step: number | null;
  last_time: number | string | null;
  status?: string | null;
  bytes?: number | null;
  preview?: string;
}

/** A part of the table of threads. `left`: how many are not read yet. */
export interface ThreadPage {
  threads: ThreadInfo[];
  thread_count: number;
  matched: number;
  left: number;
}

export interface ChannelInfo {
  name: string;
  kind: string;
  reducer: string | null;
  routing: boolean;
}

export interface Hello {
  session?: string;
  title?: string;
  thread: string | null;
  ns: string;
  threads: ThreadInfo[];
  /** null: only reading all would tell. */
  thread_count?: number | null;
  left?: number;
  notes?: Record<string, string>;
  namespaces: string[];
  /** Whether the graph has a store, which the Memory tab shows. */
  store?: boolean;
  can: Partial<Record<Act, Ability>>;
  /** Where acts write, in words. */
  place?: string;
  /** Set on a scratch copy: `back` says that the history itself can be shown again. */
  scratch?: { thread: string | null; back: boolean; recorded?: boolean } | null;
  /** What another graph on this history changed. */
  changes?: { gone: string[]; new: string[]; waiting: string[] } | null;
  breakpoints?: { before: string[]; after: string[] };
  /** All nodes that can have a breakpoint, nested ones with colons. */
  places?: string[];
  nodes: string[];
  channels: ChannelInfo[];
  height?: number;
  theme?: string;
  rows: RowsMsg;
  selected: string | null;
}

export interface Entry {
  k: string;
  t: string;
  s: string;
  n?: number | null;
  c?: Entry[] | null;
  more?: boolean;
  p: (string | number)[];
  mark?: "added" | "changed" | "same";
  chat?: string;
}

export interface DiffPart {
  op: "add" | "del" | "change" | "same";
  path: string;
  before?: string;
  after?: string;
  n?: number;
}

export interface Diff {
  a: string | null;
  b: string;
  summary: string;
  parts: DiffPart[];
}

export interface BlameAnswer {
  text: string;
  by: string;
  change: "set" | "changed";
  carried: number;
  note: string;
  checkpoint: string;
  before: string | null;
  step: number;
  task: string | null;
}

export interface Cell {
  v: string;
  full: string;
  kind: "written" | "shared" | "empty";
  bytes?: number | null;
  tag?: string | null;
}

export interface ChannelMatrix {
  steps: { id: string; step: number }[];
  rows: { name: string; routing: boolean; cells: (Cell | null)[] }[];
  seen: Record<string, Record<string, string>>;
  /** Channels of the engine that are too many to send. */
  left_out?: number;
}

export interface OpenQuestion {
  id: string;
  value: Entry;
  answered: boolean;
}

export interface TaskInfo {
  id: string;
  name: string;
  path: string;
  triggers: string[];
  why: string;
  versions: string;
  state: "done" | "error" | "interrupt" | "pending";
  result: Entry[];
  error: string | null;
  traceback: string | null;
  /** When it began, and how long it took, in ms; where the saver keeps that. */
  began?: number | null;
  took?: number | null;
  interrupts: OpenQuestion[];
}

export interface Checkpoint {
  id: string;
  title: string;
  state: Entry[];
  next: string[];
  diff: Diff | null;
  channels: ChannelMatrix | null;
  writes: { made: TaskInfo[]; next: TaskInfo[]; why_not?: { node: string; why: string; versions?: string }[] };
  raw: Record<string, unknown>;
}

export interface PreviewAnswer {
  values: Entry[];
  diff?: Diff;
  next: string[];
  again: string[];
  restarts?: string[];
  asks?: string[];
  notes: string[];
  dead_end: boolean;
}

export interface RunEvent {
  state: "running" | "done" | "error" | "interrupt" | "stopped" | "breakpoint";
  /** The head before the act. */
  before?: string | null;
  error?: string | { type?: string; message?: string; traceback?: string } | null;
}

/** The part of an anywidget model that the page uses. */
export interface Model {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: string, fn: (...args: never[]) => void): void;
  off(event: string, fn?: (...args: never[]) => void): void;
}
