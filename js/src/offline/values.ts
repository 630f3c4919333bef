/** The table of values in an exported page: reading, following and previewing them by number. */
import type { Entry } from "../types";

export type Step = string | number;
type Key = string | [text: string, step: Step];
/** Type, text, length, how the children are named (see `kept_values.py`), the children, a chat message's role. */
type Node = [type: number, text: string, n: number | null, form: string | 0 | Key[], kids: number[], role?: string];

export interface ValueTable {
  types: string[];
  nodes: Node[];
}

const TEXT_LIMIT = 2_000;
const CHUNK = 100_000;
const CHILDREN = 50;
const DEPTH = 4;

export type Kid = [key: string, step: Step, value: number];

export class Values {
  constructor(private readonly table: ValueTable) {}

  private node(at: number): Node {
    return this.table.nodes[at] as Node;
  }

  type(at: number): string {
    return this.table.types[this.node(at)[0]] as string;
  }

  text(at: number): string {
    return this.node(at)[1];
  }

  length(at: number): number | null {
    return this.node(at)[2];
  }

  form(at: number): "text" | "number" | "plain" | "leaf" | "numbered" | "keyed" {
    const form = this.node(at)[3];
    if (form === 0) return "numbered";
    if (typeof form !== "string") return "keyed";
    return ({ t: "text", n: "number", p: "plain" } as const)[form] ?? "leaf";
  }

  /** The number that a value is, if it is one. */
  number(at: number): number | null {
    if (this.form(at) !== "number") return null;
    const found = Number(this.text(at));
    return Number.isFinite(found) ? found : null;
  }

  kids(at: number): Kid[] | null {
    const [, , , form, kids] = this.node(at);
    if (form === 0) return kids.map((kid, i) => [String(i), i, kid]);
    if (typeof form === "string") return null;
    return form.map((key, i) => (typeof key === "string" ? [key, key, kids[i]] : [key[0], key[1], kids[i]]) as Kid);
  }

  child(at: number, step: Step): number | undefined {
    const [, , , form, kids] = this.node(at);
    if (form === 0) return typeof step === "number" ? kids.at(step) : undefined;
    if (typeof form === "string") return undefined;
    const wanted = typeof step === "number" && step < 0 ? step + kids.length : step;
    return kids[form.findIndex((key) => (typeof key === "string" ? key : key[1]) === wanted)];
  }

  follow(at: number, steps: readonly Step[]): number | undefined {
    let here: number | undefined = at;
    for (const step of steps) here = here === undefined ? undefined : this.child(here, step);
    return here;
  }

  /** The id of a list's member, by which it is known wherever it stands. */
  identity(at: number): string | null {
    const id = this.child(at, "id");
    return id !== undefined && ["str", "int"].includes(this.type(id)) ? this.text(id) : null;
  }

  entry(key: string, at: number, path: Step[], depth = 0): Entry {
    const [, text, n, , , role] = this.node(at);
    const cut = text.length > TEXT_LIMIT ? [...text].slice(0, TEXT_LIMIT).join("") : text;
    const out: Entry = { k: key.slice(0, 500), t: this.type(at), s: cut, n, c: null, p: path };
    const kids = this.kids(at);
    if (role) out.chat = role;
    if (kids === null) {
      if ((this.form(at) === "text" || this.type(at) === "bytes") && (n ?? 0) > TEXT_LIMIT) out.more = true;
    } else if (depth >= DEPTH) {
      if (kids.length) out.more = true;
      else out.c = [];
    } else {
      out.c = this.entries(kids.slice(0, CHILDREN), path, depth + 1);
      if (kids.length > CHILDREN) out.more = true;
    }
    return out;
  }

  private entries(kids: Kid[], path: Step[], depth: number): Entry[] {
    return kids.map(([key, step, kid]) => this.entry(key, kid, [...path, step], depth));
  }

  /** A further part of a value: children from a position, or text from there. */
  page(at: number, path: Step[], offset: number): { entries: Entry[]; total: number } {
    const kids = this.kids(at);
    if (kids) return { entries: this.entries(kids.slice(offset, offset + CHILDREN * 4), path, 1), total: kids.length };
    const text = this.text(at);
    if (this.form(at) !== "text") return { entries: [this.entry("", at, path)], total: 1 };
    const whole = [...text];
    const s = whole.slice(offset, offset + CHUNK).join("");
    return { entries: [{ k: "", t: "str", s, n: this.length(at), c: null, p: path }], total: whole.length };
  }
}
