/**
 * What answers in an exported page in the kernel's place: search, who wrote this, watched paths, values and differences.
 *
 * It works on the rows that the page shows and on the table of values beside them (see `explorer/collected.py`).
 */
import { placeOf, type Row, readRows } from "../rows";
import type { Diff, Hello, RowTuple } from "../types";
import { align, type Pair } from "./align";
import { blame, type History, type Makers } from "./blame";
import { diffValues } from "./diff";
import { parsePath, valueAt } from "./paths";
import { parseQuery } from "./query";
import { type Step, Values, type ValueTable } from "./values";

/** One namespace of an exported history. */
export interface SpaceData {
  hello: Pick<Hello, "ns" | "rows" | "channels">;
  /** The numbers of a checkpoint's state and metadata. */
  states?: Record<string, [state: number, metadata: number]>;
  makers?: Record<string, Makers>;
}

export interface OfflineData extends SpaceData {
  spaces?: Record<string, SpaceData>;
  values?: ValueTable;
}

interface Message {
  kind: string;
  at?: string | null;
  checkpoint?: string;
  path?: Step[] | string;
  query?: string;
  offset?: number;
  a?: string | null;
  b?: string;
}

const WATCHED = 2_000;
const TEXT = 200;

/** Answers a page's questions about one exported history. */
export class Offline {
  private readonly values: Values;
  private readonly spaces = new Map<string, Space>();

  constructor(private readonly data: OfflineData) {
    this.values = new Values(data.values ?? { types: [], nodes: [] });
  }

  /** The answer to a message in the namespace `ns`; raises what the page then shows. */
  answer(message: Message, ns: string): object {
    const space = this.space(message.at ?? ns);
    const id = message.checkpoint ?? "";
    switch (message.kind) {
      case "search":
        return this.search(space, message.query ?? "");
      case "value":
        return this.value(space, id, message.path as Step[], message.offset ?? 0);
      case "blame":
        return blame(this.values, space, id, message.path as Step[]);
      case "watch":
        return this.watch(space, id, message.path as string);
      case "diff":
        return this.diff(message.a ?? null, message.b ?? "", ns);
      case "align":
        return this.align(space, message.a ?? "", message.b ?? "");
    }
    throw new Error(`An exported page has no kernel: "${message.kind}" needs one.`);
  }

  private space(ns: string): Space {
    let space = this.spaces.get(ns);
    if (!space) {
      const data = ns === this.data.hello.ns ? this.data : this.data.spaces?.[ns];
      if (!data) throw new Error("This namespace was not exported.");
      space = new Space(data);
      this.spaces.set(ns, space);
    }
    return space;
  }

  private search(space: Space, query: string): object {
    const test = parseQuery(this.values, query);
    const head = space.rows.at(-1)?.id;
    const fits = (row: Row) => {
      const [state, metadata] = space.kept(row.id) ?? [];
      return test({ row, head: row.id === head, state, metadata });
    };
    const ids = space.rows.filter(fits).map((row) => row.id);
    return { ids: ids.reverse(), after: null };
  }

  private value(space: Space, id: string, path: Step[], offset: number): object {
    const at = this.values.follow(needed(space.state(id)), path);
    if (at === undefined) throw new Error("There is no such value.");
    return this.values.page(at, path, offset);
  }

  private watch(space: Space, id: string, text: string): object {
    const path = parsePath(text);
    const points: [string, string | null, number | null, boolean][] = [];
    let before: string | null = null;
    for (const one of space.line(id).slice(0, WATCHED).reverse()) {
      const found = valueAt(this.values, space.state(one) as number, path);
      const sign = found === null ? null : `${found.value ?? ""} ${found.length ?? ""}`;
      const changed = points.length > 0 ? sign !== before : sign !== null;
      before = sign;
      const at = found?.value;
      const told = at === undefined ? found && String(found.length) : this.values.text(at).slice(0, TEXT);
      points.push([one, told, at === undefined ? (found?.length ?? null) : this.values.number(at), changed]);
    }
    return { points };
  }

  private diff(a: string | null, b: string, ns: string): Diff {
    const state = (key: string) => {
      const { checkpoint, at } = placeOf(key);
      return needed(this.space(at ?? ns).state(checkpoint));
    };
    return { a, b, ...diffValues(this.values, a === null ? null : state(a), state(b)) };
  }

  private align(space: Space, a: string, b: string): object {
    const lines = [a, b].map((tip) => space.lineage(tip).reverse());
    const found = align(lines[0] as Row[], lines[1] as Row[], (x, y) => this.differing(space, x.id, y.id));
    const first = found.first && [found.first.a?.id ?? null, found.first.b?.id ?? null];
    return { ...found, first, pairs: found.pairs.map(pairOf) };
  }

  /** The channels whose values differ; an empty container counts as none. */
  private differing(space: Space, a: string, b: string): string[] {
    const states = [a, b].map((id) => space.state(id));
    const [left, right] = states.map(
      (one) => new Map((one === undefined ? [] : this.values.kids(one))?.map((kid) => [kid[0], kid[2]])),
    );
    const some = (at: number | undefined) => at !== undefined && this.values.kids(at)?.length !== 0;
    const names = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
    return [...names].filter((name) => {
      const [x, y] = [left?.get(name), right?.get(name)];
      return x !== y && (some(x) || some(y));
    });
  }
}

function needed(state: number | undefined): number {
  if (state === undefined) throw new Error("The values of this checkpoint were not exported.");
  return state;
}

function pairOf(pair: Pair): object {
  return { a: pair.a && tupleOf(pair.a), b: pair.b && tupleOf(pair.b), nodes: pair.nodes, differs: pair.differs };
}

function tupleOf(row: Row): RowTuple {
  const { id, parent, step, source, time, nodes, changed, status, next, copyOf, version, turn, event, apart, took } =
    row;
  const more = [version ?? null, turn ?? null, event ?? null, apart ?? 0, took ?? null] as const;
  return [id, parent, step ?? 0, source, time, nodes, changed, status, next, copyOf, ...more];
}

/** One namespace: its rows, and what was kept of its checkpoints. */
class Space implements History {
  readonly rows: Row[];
  private readonly byId: Map<string, Row>;

  constructor(private readonly data: SpaceData) {
    this.rows = readRows(data.hello.rows);
    this.byId = new Map(this.rows.map((row) => [row.id, row]));
  }

  kept(id: string): [number, number] | undefined {
    return this.data.states?.[id];
  }

  state(id: string): number | undefined {
    return this.kept(id)?.[0];
  }

  step(id: string): number {
    return this.byId.get(id)?.step ?? -2;
  }

  parent(id: string): string | null {
    const parent = this.byId.get(id)?.parent ?? null;
    return parent !== null && this.byId.has(parent) ? parent : null;
  }

  /** From a row to its root. */
  lineage(id: string): Row[] {
    const out = new Set<Row>();
    let row = this.byId.get(id);
    while (row && !out.has(row)) {
      out.add(row);
      row = this.byId.get(row.parent ?? "");
    }
    return [...out];
  }

  line(id: string): string[] {
    const ids = this.lineage(id).map((row) => row.id);
    const end = ids.findIndex((one) => this.state(one) === undefined);
    return end < 0 ? ids : ids.slice(0, end);
  }

  makers(id: string): Makers {
    return this.data.makers?.[id] ?? {};
  }

  reducer(channel: string): string | null {
    return this.data.hello.channels.find((one) => one.name === channel)?.reducer ?? null;
  }
}

export function offline(data: OfflineData): Offline {
  return new Offline(data);
}
