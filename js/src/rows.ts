/** Checkpoints as the page keeps them, and how they are read from a message. */
import type { RowColumns, RowsMsg, RowTuple, Unfinished } from "./types";

export interface Row {
  /** Its key in the page: the checkpoint's id, inside a nested graph with the namespace (see `keyOf`). */
  id: string;
  parent: string | null;
  step: number | null;
  source: string;
  time: number;
  nodes: string[];
  changed: string[];
  status: string;
  next: string[];
  copyOf: string | null;
  /** The version of the graph that saved it, where it named one. */
  version?: string | null | undefined;
  /** How many turns of a session there are. */
  turn?: number | null | undefined;
  /** Why a session's state was saved: a turn, a rollback. */
  event?: string | null | undefined;
  /** 1: the time since its parent is not what its nodes took, as somebody answered in between or began a run. */
  apart?: number | undefined;
  /** For how many ms tasks ran to make it, where the saver keeps that. */
  took?: number | null | undefined;
  /** Set on a row that hangs on its parent and has no checkpoint. */
  unfinished?: Unfinished;
  /** Set on a row of a nested graph. */
  ns?: string;
  /** How deep in nested graphs; 0 at the top. */
  level?: number;
}

const BETWEEN = "\u0001";

/** The key of a checkpoint in a nested graph. */
export function keyOf(id: string, ns: string): string {
  return `${id}${BETWEEN}${ns}`;
}

/** The checkpoint and the namespace (undefined: the one that is shown) of a key. */
export function placeOf(key: string): { checkpoint: string; at?: string } {
  const cut = key.indexOf(BETWEEN);
  return cut < 0 ? { checkpoint: key } : { checkpoint: key.slice(0, cut), at: key.slice(cut + 1) };
}

/** All rows of a message, oldest first. */
export function readRows(message: Pick<RowsMsg, "rows" | "columns">): Row[] {
  const few = (message.rows ?? []).map(toRow);
  return message.columns ? [...readColumns(message.columns), ...few] : few;
}

function toRow(tuple: RowTuple): Row {
  const [id, parent, step, source, time, nodes, changed, status, next, copyOf, version, turn, event, ...more] = tuple;
  const [apart, took] = more;
  return { id, parent, step, source, time, nodes, changed, status, next, copyOf, version, turn, event, apart, took };
}

function readColumns(columns: RowColumns): Row[] {
  const { n, far, copies, shapes } = columns;
  const ids = typeof columns.ids === "string" ? readIds(columns.ids) : columns.ids;
  const parents = new Int32Array(bytesOf(columns.parents));
  const steps = new Int32Array(bytesOf(columns.steps));
  const times = new Float64Array(bytesOf(columns.times));
  const shape = new Int32Array(bytesOf(columns.shape));
  const spent = columns.took ? new Float32Array(bytesOf(columns.took)) : null;
  const out: Row[] = new Array(n);
  for (let at = 0; at < n; at++) {
    const place = parents[at] as number;
    const kind = shapes[shape[at] as number] as RowColumns["shapes"][number];
    const [source, nodes, changed, status, next, version, turn, event, apart] = kind;
    out[at] = {
      id: ids[at] as string,
      parent: place >= 0 ? (ids[place] as string) : place === -1 ? null : (far[at] as string),
      step: steps[at] as number,
      source,
      time: times[at] as number,
      nodes,
      changed,
      status,
      next,
      copyOf: copies[at] ?? null,
      version,
      turn,
      event,
      apart,
      took: spent && (spent[at] as number) >= 0 ? spent[at] : null,
    };
  }
  return out;
}

function bytesOf(text: string): ArrayBuffer {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) out[at] = raw.charCodeAt(at);
  return out.buffer;
}

const HEX = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, "0"));

function readIds(text: string): string[] {
  const bytes = new Uint8Array(bytesOf(text));
  const out: string[] = new Array(bytes.length / 16);
  for (let at = 0; at < out.length; at++) {
    let id = "";
    for (let n = 0; n < 16; n++) {
      if (n === 4 || n === 6 || n === 8 || n === 10) id += "-";
      id += HEX[bytes[at * 16 + n] as number];
    }
    out[at] = id;
  }
  return out;
}

/** The key of a row that hangs on its parent. */
export function unfinishedKey(one: Unfinished): string {
  return `unfinished:${one.parent}:${one.task}`;
}

export function unfinishedRow(one: Unfinished): Row {
  return {
    id: unfinishedKey(one),
    parent: one.parent,
    step: null,
    source: "unfinished",
    time: 0,
    nodes: [one.name],
    changed: [],
    status: one.status,
    next: [],
    copyOf: null,
    unfinished: one,
  };
}
