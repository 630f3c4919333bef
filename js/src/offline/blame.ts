/** Who wrote a value, from the values and writes of an exported page; see `timeline/blame.py` for the rules. */
import type { BlameAnswer } from "../types";
import { shownPath } from "./paths";
import type { Step, Values } from "./values";

/** Who made a checkpoint: one word for all, the checkpoint that it copies, or the writes by channel. */
export interface Makers {
  by?: string;
  note?: string;
  copy?: string;
  writes?: Record<string, [task: string, node: string, value: number][]>;
  ran?: string[];
}

export interface History {
  /** From a checkpoint to its root, as far as states were exported. */
  line(id: string): string[];
  state(id: string): number | undefined;
  step(id: string): number;
  parent(id: string): string | null;
  makers(id: string): Makers;
  reducer(channel: string): string | null;
}

const NULL_TASK = "00000000-0000-0000-0000-000000000000";

export function blame(values: Values, history: History, checkpoint: string, path: Step[]): BlameAnswer {
  const line = history.line(checkpoint);
  let state = history.state(checkpoint);
  const value = state === undefined ? undefined : values.follow(state, path);
  if (state === undefined || value === undefined) throw new Error(`no value at path '${shownPath(path)}'`);
  if (values.type(value) === "redacted")
    throw new Error(`${shownPath(path)} is hidden: an exported page can't tell who wrote it`);
  let where = path;
  let at = 0;
  let change: BlameAnswer["change"] = "set";
  for (; at + 1 < line.length; at++) {
    const old = history.state(line[at + 1] as string) as number;
    const there = locate(values, old, state, where);
    const was = there && values.follow(old, there);
    if (there === null || was !== value) {
      change = there === null ? "set" : "changed";
      break;
    }
    [where, state] = [there, old];
  }
  const id = line[at] as string;
  const before = line[at + 1] ?? history.parent(id);
  const found = writers(values, history, id, where, value);
  const answer = { change, carried: at, checkpoint: id, before, step: history.step(id), ...found };
  const since = at ? `, carried on for ${at} more` : "";
  const note = found.note ? ` (${found.note})` : "";
  return { ...answer, text: `${shownPath(path)}: ${change} by ${found.by} at step ${answer.step}${since}${note}` };
}

/** Where the value at a path stood in an older state; null: nowhere. */
function locate(values: Values, old: number, now: number, path: readonly Step[]): Step[] | null {
  const there: Step[] = [];
  let [from, to] = [old, now];
  for (const step of path) {
    const child = values.child(to, step) as number;
    const found = match(values, from, to, step, child);
    if (found === null) return null;
    there.push(found);
    [from, to] = [values.child(from, found) as number, child];
  }
  return there;
}

function match(values: Values, old: number, now: number, step: Step, child: number): Step | null {
  const lists = [old, now].every(
    (one) => ["list", "tuple"].includes(values.type(one)) && values.form(one) === "numbered",
  );
  if (typeof step !== "number" || !lists) return values.child(old, step) === undefined ? null : step;
  const [olds, news] = [old, now].map((one) => (values.kids(one) ?? []).map((kid) => kid[2])) as [number[], number[]];
  const at = step >= 0 ? step : news.length + step;
  const name = values.identity(child);
  if (name !== null) {
    const found = olds.findIndex((one) => values.identity(one) === name);
    return found < 0 ? null : found;
  }
  return olds[at] === child ? at : aligned(olds, news, at);
}

/** The old position of a new item, once equal items at both ends are paired. */
function aligned(old: number[], now: number[], at: number): number | null {
  const short = Math.min(old.length, now.length);
  let head = 0;
  while (head < short && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < short - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const grown = now.length - old.length;
  if (at < head) return at;
  if (at >= now.length - tail) return at - grown;
  const equal: number[] = [];
  for (let i = head; i < old.length - tail; i++) if (old[i] === now[at]) equal.push(i);
  if (equal.length === 1) return equal[0] as number;
  return grown ? null : at;
}

type Told = Pick<BlameAnswer, "by" | "task" | "note">;

function writers(values: Values, history: History, id: string, path: Step[], value: number): Told {
  const made = history.makers(id);
  if (made.copy !== undefined) {
    return { ...writers(values, history, made.copy, path, value), note: "a copy of that step" };
  }
  if (made.by) return { by: made.by, task: null, note: made.note ?? "" };
  const channel = String(path[0]);
  const writes = made.writes?.[channel] ?? [];
  if (writes.length === 0) {
    const ran = made.ran ?? [];
    return { by: listed(ran) || "an unknown task", task: null, note: new Set(ran).size === 1 ? "" : "not exact" };
  }
  const reducer = history.reducer(channel);
  if (path.length > 1 && writes.length > 1) {
    const held = writes.filter((one) => brought(values, one[2], path.slice(2), value));
    if (held.length === 1) return { by: held[0]?.[1] as string, task: held[0]?.[0] as string, note: "" };
    return { by: listed(writes.map((one) => one[1])), task: null, note: `not exact: ${reducer ?? "it"} hides which` };
  }
  const [first] = writes as [[string, string, number]];
  const task = writes.length === 1 && first[0] !== NULL_TASK ? first[0] : null;
  const note = reducer && path.length === 1 ? `folded by ${reducer}` : "";
  return { by: listed(writes.map((one) => one[1])), task, note };
}

/** Whether a write brought a value: it is it, or one of its children is or holds it. */
function brought(values: Values, written: number, inner: readonly Step[], value: number): boolean {
  const parts = [written, ...(values.kids(written) ?? []).map((kid) => kid[2])];
  return parts.some((part) => values.follow(part, inner) === value);
}

function listed(names: readonly string[]): string {
  const told = [...new Set(names)];
  return told.length < 2 ? (told[0] ?? "") : `${told.slice(0, -1).join(", ")} and ${told.at(-1)}`;
}
