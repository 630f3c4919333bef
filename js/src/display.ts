/**
 * Which rows the tree shows, and in what order: checkpoints, what hangs on them, opened nested graphs, folded branches.
 *
 * Order is oldest first (the tree draws it upside down). An unfinished task comes right after its checkpoint, a nested
 * graph right before its owner: it ran before the owner was saved, and stands below it.
 */
import type { Lanes } from "./lanes";
import { keyOf, type Row, unfinishedRow } from "./rows";
import type { Nested, Unfinished } from "./types";

/** The rows of one namespace that ran from one checkpoint. */
export interface Group {
  rows: Row[];
  unfinished: Unfinished[];
  nested: Nested[];
  more: boolean;
}

export interface Source {
  rows: readonly Row[];
  unfinished: readonly Unfinished[];
  nested: readonly Nested[];
  /** The groups that are open, by `groupKey`. */
  groups: ReadonlyMap<string, Group>;
  hidden: ReadonlySet<string>;
}

export interface Display {
  rows: Row[];
  /** What each row opens, by its key. */
  opens: Map<string, Nested[]>;
}

export function groupKey([ns, owner]: Nested): string {
  return keyOf(owner, ns);
}

export function arrange(source: Source): Display {
  const out: Display = { rows: [], opens: new Map() };
  layer(source, out);
  return out;
}

function layer(source: Source, out: Display): void {
  const hung = new Map<string, Row[]>();
  for (const one of source.unfinished) {
    const list = hung.get(one.parent);
    if (list) list.push(unfinishedRow(one));
    else hung.set(one.parent, [unfinishedRow(one)]);
  }
  const owners = ownersOf(source.rows, hung, source.nested);
  for (const [id, list] of owners) out.opens.set(id, list);
  const put = (row: Row) => {
    for (const one of owners.get(row.id) ?? []) {
      const group = source.groups.get(groupKey(one));
      if (group) layer({ ...source, ...group, hidden: new Set() }, out);
    }
    out.rows.push(row);
  };
  if (owners.size === 0 && hung.size === 0 && source.hidden.size === 0) {
    for (const row of source.rows) out.rows.push(row);
    return;
  }
  for (const row of source.rows) {
    if (source.hidden.has(row.id)) continue;
    put(row);
    const at = row.level ? { level: row.level, ns: row.ns ?? "" } : {};
    for (const one of hung.get(row.id) ?? []) put({ ...one, ...at });
  }
}

/** Which row each nested graph belongs to: what its task made, else the task that did not finish, else where it began. */
function ownersOf(
  rows: readonly Row[],
  hung: ReadonlyMap<string, Row[]>,
  nested: readonly Nested[],
): Map<string, Nested[]> {
  const out = new Map<string, Nested[]>();
  if (nested.length === 0) return out;
  const from = new Set(nested.map(([, owner]) => owner));
  const known = new Set<string>();
  const made = new Map<string, Row[]>();
  for (const row of rows) {
    if (from.has(row.id)) known.add(row.id);
    if (row.parent === null || row.source !== "loop" || !from.has(row.parent)) continue;
    const list = made.get(row.parent);
    if (list) list.push(row);
    else made.set(row.parent, [row]);
  }
  for (const one of nested) {
    const [ns, owner, node] = one;
    const waits = hung.get(owner)?.find((row) => ns.endsWith(`:${row.unfinished?.task}`));
    const row = waits ?? made.get(owner)?.find((each) => each.nodes.includes(node));
    const id = row?.id ?? (known.has(owner) ? owner : null);
    if (id === null) continue;
    const list = out.get(id);
    if (list) list.push(one);
    else out.set(id, [one]);
  }
  return out;
}

/** The rows of a nested graph as they stand in the tree: keys with their namespace, the first one without a parent. */
export function inside(rows: readonly Row[], ns: string, level: number): Row[] {
  const known = new Set(rows.map((row) => row.id));
  return rows.map((row) => ({
    ...row,
    id: keyOf(row.id, ns),
    parent: row.parent !== null && known.has(row.parent) ? keyOf(row.parent, ns) : null,
    copyOf: row.copyOf === null ? null : keyOf(row.copyOf, ns),
    ns,
    level,
  }));
}

export interface Fold {
  /** Checkpoints of the branch and of the branches on it. */
  steps: number;
  /** The row that the branch hangs on. */
  base: string;
}

/**
 * What folded branches hide, from the lanes of all rows: everything but each branch's tip. `folds` holds the first rows of
 * the branches. Also the folds by their tips.
 */
export function hide(
  rows: readonly Row[],
  lanes: Lanes,
  folds: Iterable<string>,
): { hidden: Map<string, string>; tips: Map<string, Fold> } {
  const hidden = new Map<string, string>();
  const tips = new Map<string, Fold>();
  for (const first of folds) {
    const at = lanes.index(first);
    const chain = lanes.chains[lanes.chainOf[at] ?? -1];
    if (!chain || chain.first !== at || chain.parentRow < 0) continue;
    let steps = 0;
    const todo = [lanes.chainOf[at] as number];
    for (let number = todo.pop(); number !== undefined; number = todo.pop()) {
      const one = lanes.chains[number];
      for (let row = one?.first ?? -1; row >= 0; row = lanes.nextRow[row] as number) {
        steps++;
        if (row !== chain.last) hidden.set((rows[row] as Row).id, first);
        todo.push(...(lanes.forksAt.get(row) ?? []));
      }
    }
    tips.set((rows[chain.last] as Row).id, { steps, base: (rows[chain.parentRow] as Row).id });
  }
  return { hidden, tips };
}
