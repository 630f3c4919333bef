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
];

export interface Unfinished {
  parent: string;
  task: string;
  name: string;
  status: "error" | "interrupt" | "running";
  text: string;
}

export interface RowsMsg {
  reset: boolean;
  head: string | null;
  rows: RowTuple[];
  unfinished: Unfinished[];
}

export interface Ability {
  ok: boolean;
  why?: string | null;
}

export type Act = "fork" | "replay" | "resume" | "run" | "stop";

export interface ThreadInfo {
  id: string;
  checkpoints: number;
  last_step: number | null;
  last_time: number | string | null;
  status?: string | null;
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
  namespaces: string[];
  can: Partial<Record<Act, Ability>>;
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
  interrupts: OpenQuestion[];
}

export interface Checkpoint {
  id: string;
  title: string;
  state: Entry[];
  next: string[];
  diff: Diff | null;
  channels: ChannelMatrix | null;
  writes: { made: TaskInfo[]; next: TaskInfo[]; why_not?: { node: string; why: string }[] };
  raw: Record<string, unknown>;
}

export interface PreviewAnswer {
  values: Entry[];
  next: string[];
  again: string[];
  notes: string[];
  dead_end: boolean;
}

export interface RunEvent {
  state: "running" | "done" | "error" | "interrupt" | "stopped";
  error?: string | { type?: string; message?: string; traceback?: string } | null;
}

/** The part of an anywidget model that the page uses. */
export interface Model {
  get(name: string): unknown;
  send(content: unknown): void;
  on(event: string, fn: (...args: never[]) => void): void;
  off(event: string, fn?: (...args: never[]) => void): void;
}
