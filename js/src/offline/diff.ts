/** The difference of two values of an exported page, as `timeline/diff.py` tells it. */
import type { Diff, DiffPart } from "../types";
import type { Step, Values } from "./values";

const PARTS = 400;
const TEXT = 600;
const DEPTH = 12;

export function diffValues(values: Values, a: number | null, b: number): Pick<Diff, "summary" | "parts"> {
  const parts: DiffPart[] = [];
  const walk = new Walk(values, parts);
  if (a === null) for (const [key, , kid] of values.kids(b) ?? []) walk.add(key, kid);
  else walk.go(a, b, "", 0);
  const told = (["add", "del", "change"] as const)
    .map((op) => [parts.filter((one) => one.op === op).length, { add: "added", del: "removed", change: "changed" }[op]])
    .filter(([n]) => n)
    .map((one) => one.join(" "));
  if (parts.length > PARTS) told.push(`the first ${PARTS} shown`);
  return { summary: told.join(", ") || "no difference", parts: parts.slice(0, PARTS) };
}

class Walk {
  constructor(
    private readonly values: Values,
    private readonly parts: DiffPart[],
  ) {}

  add(path: string, at: number): void {
    this.parts.push({ op: "add", path, after: this.told(at) });
  }

  private del(path: string, at: number): void {
    this.parts.push({ op: "del", path, before: this.told(at) });
  }

  private same(path: string, n: number): void {
    if (n) this.parts.push({ op: "same", path, n });
  }

  go(a: number, b: number, path: string, depth: number): void {
    if (a === b) return;
    const { values } = this;
    const alike = values.type(a) === values.type(b);
    const left = values.kids(a);
    const right = values.kids(b);
    if (alike && ["list", "tuple"].includes(values.type(a))) {
      this.list(
        (left ?? []).map((one) => one[2]),
        (right ?? []).map((one) => one[2]),
        path,
        depth,
      );
      return;
    }
    if (!left || !right || !alike || depth > DEPTH) {
      this.parts.push({ op: "change", path, before: this.told(a), after: this.told(b) });
      return;
    }
    const olds = new Map(left.map((one) => [one[1], one]));
    const news = new Map(right.map((one) => [one[1], one]));
    let equal = 0;
    for (const step of new Set<Step>([...olds.keys(), ...news.keys()])) {
      const [old, now] = [olds.get(step), news.get(step)];
      const key = (now ?? old)?.[0] ?? "";
      const where = path ? `${path}.${key}` : key;
      if (!now) this.del(where, (old as NonNullable<typeof old>)[2]);
      else if (!old) this.add(where, now[2]);
      else if (old[2] === now[2]) equal++;
      else this.go(old[2], now[2], where, depth + 1);
    }
    this.same(path, equal);
  }

  private list(a: number[], b: number[], path: string, depth: number): void {
    const ids = [a, b].map((side) => side.map((one) => this.values.identity(one)));
    if (ids.every((side) => !side.includes(null) && new Set(side).size === side.length)) {
      this.byId(
        new Map(ids[0]?.map((id, i) => [id, a[i] as number])),
        new Map(ids[1]?.map((id, i) => [id, b[i] as number])),
        path,
      );
      return;
    }
    const short = Math.min(a.length, b.length);
    let head = 0;
    while (head < short && a[head] === b[head]) head++;
    let tail = 0;
    while (tail < short - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
    this.same(path, head + tail);
    const [left, right] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      const [old, now] = [left[i], right[i]];
      const where = `${path}[${head + i}]`;
      if (old === undefined) this.add(where, now as number);
      else if (now === undefined) this.del(where, old);
      else this.go(old, now, where, depth + 1);
    }
  }

  private byId(olds: Map<string | null, number>, news: Map<string | null, number>, path: string): void {
    let equal = 0;
    for (const [id, old] of olds) if (!news.has(id)) this.del(`${path}[id=${id}]`, old);
    for (const [id, now] of news) {
      const old = olds.get(id);
      if (old === undefined) this.add(`${path}[id=${id}]`, now);
      else if (old === now) equal++;
      else this.go(old, now, `${path}[id=${id}]`, 1);
    }
    this.same(path, equal);
  }

  /** One line for a value. */
  private told(at: number): string {
    const { values } = this;
    const text = values.text(at);
    const kids = values.kids(at) ?? [];
    if (kids.length === 0) return text.slice(0, TEXT);
    const map = text.startsWith("{");
    if (!map && values.form(at) !== "numbered") return `${values.type(at)}: ${text}`.slice(0, TEXT);
    const inner = kids.slice(0, 12).map(([key, , kid]) => (map ? `${key}: ` : "") + values.text(kid).slice(0, 120));
    return `${values.type(at)}: ${inner.join(", ")}${kids.length > 12 ? ", …" : ""}`.slice(0, TEXT);
  }
}
