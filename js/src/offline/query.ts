/** The filter language of `timeline/search.py`, over the rows and values of an exported page. */
import type { Row } from "../rows";
import { type Path, parsePath, valueAt } from "./paths";
import type { Values } from "./values";

/** A checkpoint: its row, and its state and metadata where they were exported. */
export interface Place {
  row: Row;
  head: boolean;
  state: number | undefined;
  metadata: number | undefined;
}

type Test = (place: Place) => boolean;

const TERM = /(-)?(?:([^\s"~=<>!:]+(?:\[[^\]]*\][^\s"~=<>!:]*)?)(~|!=|=|<|>|:))?("(?:[^"\\]|\\.)*"|\S+)/g;
const WORDS: Record<string, Test> = {
  error: ({ row }) => row.status === "error",
  waits: ({ row }) => row.status === "interrupt",
  done: ({ row }) => row.status === "done",
  pending: ({ row }) => row.status === "pending",
  fork: ({ row }) => row.source === "fork",
  copy: ({ row }) => row.copyOf !== null,
  input: ({ row }) => row.source === "input",
  edit: ({ row }) => row.source === "update",
  head: ({ head }) => head,
};
const FIELDS: Record<string, (row: Row) => readonly string[]> = {
  node: (row) => row.nodes,
  next: (row) => row.next,
  changed: (row) => row.changed,
  source: (row) => [row.source],
  status: (row) => [row.status],
};
const DEPTH = 6;

/** The test that a query is: all of its terms at once. */
export function parseQuery(values: Values, text: string): Test {
  const tests = [...text.matchAll(TERM)].map((term) => {
    const test = testOf(values, term);
    return term[1] ? (place: Place) => !test(place) : test;
  });
  return (place) => tests.every((test) => test(place));
}

function testOf(values: Values, term: RegExpMatchArray): Test {
  const [, , head, op, text = ""] = term;
  const quoted = text[0] === '"' && text.length > 1;
  const word = quoted ? unquoted(text) : text;
  if (head === undefined) {
    if (quoted) return ({ state }) => state !== undefined && holds(values, state, word);
    return WORDS[word] ?? (({ row }) => named(row, word));
  }
  if (op === ":") return field(head, word);
  const path = parsePath(head);
  const first = path.steps[0];
  if (first === "step" && path.steps.length === 1 && op !== "~") return stepTest(op as string, word);
  const compare = compared(values, path, op as string, word, quoted);
  if (first !== "metadata") return ({ state }) => state !== undefined && compare(state, path);
  const inner = { ...path, steps: path.steps.slice(1) };
  return ({ metadata }) => metadata !== undefined && compare(metadata, inner);
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new Error(`${text} is not a quoted text`);
  }
}

function named(row: Row, word: string): boolean {
  const told = [...row.nodes, ...row.changed, ...row.next, row.source, row.id];
  return told.some((name) => name.toLowerCase().includes(word.toLowerCase()));
}

function field(name: string, word: string): Test {
  if (name === "step") {
    const found = /^(-?\d+)(?:(\.\.)(-?\d+)?)?$/.exec(word);
    if (!found) throw new Error(`step:${word} is no step: write step:4, step:3..9 or step:3..`);
    const low = Number(found[1]);
    const high = found[2] ? Number(found[3] ?? Number.POSITIVE_INFINITY) : low;
    return ({ row }) => row.step !== null && low <= row.step && row.step <= high;
  }
  if (name === "id") return ({ row }) => row.id.startsWith(word);
  const read = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (!read) {
    const known = [...Object.keys(FIELDS), "step", "id"].map((one) => `${one}:`).join(", ");
    throw new Error(`There is no field ${name}: the fields are ${known}`);
  }
  return ({ row }) => read(row).some((one) => one.toLowerCase() === word.toLowerCase());
}

function stepTest(op: string, word: string): Test {
  const number = numberOf("step", op, word);
  if (op === "<") return ({ row }) => row.step !== null && row.step < number;
  if (op === ">") return ({ row }) => row.step !== null && row.step > number;
  return ({ row }) => (row.step === number) === (op === "=");
}

function numberOf(name: string, op: string, word: string): number {
  const number = Number(word);
  if (Number.isNaN(number) || word.trim() === "") throw new Error(`${name}${op}${word}: ${op} compares numbers`);
  return number;
}

function compared(values: Values, path: Path, op: string, word: string, quoted: boolean) {
  const number = op === "<" || op === ">" ? numberOf(path.steps.join("."), op, word) : 0;
  return (root: number, at: Path): boolean => {
    const found = valueAt(values, root, at);
    if (found === null) return false;
    const { value, length } = found;
    if (op === "<" || op === ">") {
      const one = value === undefined ? (length as number) : values.number(value);
      return one !== null && (op === "<" ? one < number : one > number);
    }
    if (op === "~") {
      return value === undefined ? String(length) === word.toLowerCase() : holds(values, value, word);
    }
    const same = value === undefined ? String(length) === word : equals(values, value, word, quoted);
    return same === (op === "=");
  };
}

/** Whether a value is what a word stands for: JSON where it is that, else a text. */
function equals(values: Values, at: number, word: string, quoted: boolean): boolean {
  let wanted: unknown = word;
  if (!quoted) {
    try {
      wanted = JSON.parse(word);
    } catch {
      // a bare word is a text
    }
  }
  return typeof wanted === "number" ? numeral(values, at, word) : alike(values, at, wanted);
}

function numeral(values: Values, at: number, word: string): boolean {
  const kind = /^-?\d+$/.test(word) ? "int" : "float";
  return values.type(at) === kind && (values.text(at) === word || values.number(at) === Number(word));
}

function alike(values: Values, at: number, wanted: unknown): boolean {
  if (typeof wanted === "string") return values.type(at) === "str" && values.text(at) === wanted;
  if (typeof wanted === "number") return values.number(at) === wanted;
  if (wanted === null) return values.text(at) === "None" && values.form(at) === "plain";
  if (typeof wanted === "boolean") return values.form(at) === "plain" && values.text(at).toLowerCase() === `${wanted}`;
  const kids = values.kids(at) ?? [];
  if (Array.isArray(wanted)) {
    const fits = values.type(at) === "list" && kids.length === wanted.length;
    return fits && wanted.every((one, i) => alike(values, (kids[i] as (typeof kids)[0])[2], one));
  }
  const pairs = Object.entries(wanted as object);
  if (values.type(at) !== "dict" || kids.length !== pairs.length) return false;
  return pairs.every(([key, one]) => {
    const kid = values.child(at, key);
    return kid !== undefined && alike(values, kid, one);
  });
}

/** Whether a value, or a value inside of it, holds a text, whatever the case of its letters. */
export function holds(values: Values, at: number, text: string, depth = DEPTH): boolean {
  const low = text.toLowerCase();
  const form = values.form(at);
  if (form === "text") return values.text(at).toLowerCase().includes(low);
  if (form === "number" || form === "plain") return values.text(at).toLowerCase() === low;
  if (depth === 0) return false;
  return (values.kids(at) ?? []).some(([, , kid]) => holds(values, kid, text, depth - 1));
}
