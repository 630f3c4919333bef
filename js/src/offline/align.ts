/** Two branches side by side, as `timeline/alignment.py` pairs them. */
import type { Row } from "../rows";

type Place = [number, number];
const GAP = 2;
const FACING = 3;
const CELLS = 1_000_000;
const PAIRS = 600;

export interface Pair {
  a: Row | null;
  b: Row | null;
  nodes: boolean;
  differs: string[];
}

export interface Alignment {
  ancestor: string | null;
  shared: number;
  kind: string;
  text: string;
  first: Pair | null;
  summary: string;
  pairs: Pair[];
  more: number;
}

/** Pairs the rows of two branches, each oldest first; `differ` names the channels with other values. */
export function align(a: readonly Row[], b: readonly Row[], differ: (a: Row, b: Row) => string[]): Alignment {
  let shared = 0;
  while (shared < Math.min(a.length, b.length) && a[shared]?.id === b[shared]?.id) shared++;
  const [left, right] = [a.slice(shared), b.slice(shared)];
  const pairs = places(left, right).map(([i, j]): Pair => {
    const [x, y] = [left[i] ?? null, right[j] ?? null];
    if (!x || !y) return { a: x, b: y, nodes: false, differs: [] };
    return { a: x, b: y, nodes: label(x) === label(y), differs: differ(x, y) };
  });
  const first = pairs.find((one) => !one.nodes || one.differs.length > 0) ?? null;
  const kind = !first ? "" : !first.a || !first.b ? "end" : first.nodes ? "values" : "nodes";
  const ancestor = shared ? (a[shared - 1] as Row).id : null;
  const shown = pairs.slice(0, PAIRS);
  return {
    ...{ ancestor, shared, kind, first, text: first ? told(first) : "no difference" },
    ...{ summary: summary(pairs, shared), pairs: shown, more: pairs.length - shown.length },
  };
}

function label(row: Row): string {
  return row.nodes.length ? JSON.stringify([...row.nodes].sort()) : `:${row.source}`;
}

function what(row: Row): string {
  const names = [...new Set(row.nodes)].filter((name) => name !== "__start__");
  return names.join(", ") || ({ loop: "the start", fork: "a copy" }[row.source] ?? row.source);
}

function told({ a, b, nodes, differs }: Pair): string {
  if (!a || !b) return `only ${b ? "B" : "A"} has ${what((a ?? b) as Row)} at step ${(a ?? b)?.step}`;
  if (!nodes) return `step ${a.step}: ${what(a)} in A, ${what(b)} in B`;
  return `step ${a.step}: ${what(a)} left other values in ${differs.join(", ")}`;
}

/** Pairs of positions, -1 for none: equal ends first, then the cheapest way from one middle to the other. */
function places(a: readonly Row[], b: readonly Row[]): Place[] {
  const [names, others] = [a.map(label), b.map(label)];
  const short = Math.min(a.length, b.length);
  let head = 0;
  while (head < short && names[head] === others[head]) head++;
  let tail = 0;
  while (tail < short - head && names.at(-1 - tail) === others.at(-1 - tail)) tail++;
  const [n, m] = [a.length - head - tail, b.length - head - tail];
  const [x, y] = [names.slice(head, head + n), others.slice(head, head + m)];
  const middle = n * m > CELLS ? byStep(a.slice(head, head + n), b.slice(head, head + m)) : byNodes(x, y);
  const out: Place[] = [];
  for (let i = 0; i < head; i++) out.push([i, i]);
  for (const [i, j] of middle) out.push([i < 0 ? i : i + head, j < 0 ? j : j + head]);
  for (let k = 0; k < tail; k++) out.push([head + n + k, head + m + k]);
  return out;
}

function byStep(a: readonly Row[], b: readonly Row[]): Place[] {
  const out: Place[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i]?.step ?? Number.POSITIVE_INFINITY, b[j]?.step ?? Number.POSITIVE_INFINITY];
    const [left, right] = [i < a.length && x <= y, j < b.length && y <= x];
    out.push([left ? i++ : -1, right ? j++ : -1]);
  }
  return out;
}

function byNodes(a: readonly string[], b: readonly string[]): Place[] {
  const [n, m] = [a.length, b.length];
  const cost = [Array.from({ length: m + 1 }, (_, j) => GAP * j)];
  const at = (i: number, j: number) => cost[i]?.[j] as number;
  for (let i = 1; i <= n; i++) {
    const line = [GAP * i];
    cost.push(line);
    for (let j = 1; j <= m; j++) {
      const facing = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : FACING);
      line.push(Math.min(facing, at(i - 1, j) + GAP, at(i, j - 1) + GAP));
    }
  }
  const out: Place[] = [];
  let [i, j] = [n, m];
  while (i || j) {
    const step = i && j && a[i - 1] === b[j - 1] ? 0 : FACING;
    if (i && j && at(i, j) === at(i - 1, j - 1) + step) out.push([--i, --j]);
    else if (i && at(i, j) === at(i - 1, j) + GAP) out.push([--i, -1]);
    else out.push([-1, --j]);
  }
  return out.reverse();
}

function summary(pairs: readonly Pair[], shared: number): string {
  const of = (test: (pair: Pair) => boolean) => pairs.filter(test).length;
  const counts = {
    alike: of((one) => one.nodes && one.differs.length === 0),
    "with other values": of((one) => one.nodes && one.differs.length > 0),
    "with other nodes": of((one) => one.a !== null && one.b !== null && !one.nodes),
    "only in A": of((one) => one.b === null),
    "only in B": of((one) => one.a === null),
  };
  const told = Object.entries(counts).filter(([, n]) => n);
  return [`${shared} steps in common`, ...told.map(([word, n]) => `${n} ${word}`)].join(", ");
}
