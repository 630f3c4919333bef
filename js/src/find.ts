import { useEffect, useMemo, useState } from "preact/hooks";
import { searchRows } from "./search";
import { asKernelError, type Store } from "./store";

/** Whether a query is in the filter language, which the kernel answers; plain words are found here. */
export function isFilter(query: string): boolean {
  return /[:~="<>]|(^|\s)-\w/.test(query);
}

export interface Hits {
  /** The rows in the tree that are meant. */
  hits: Set<number> | null;
  /** All that are meant, newest first, also what is folded away or was not read yet. */
  ids: readonly string[];
  /** Still looking, or why the query can't be understood. */
  searching: boolean;
  problem: string | null;
}

interface Answer {
  query: string;
  ids: string[];
  done: boolean;
  problem: string | null;
}

/** The rows that a query means: at once for plain words, part by part from the kernel for filters. */
export function useHits(store: Store, query: string): Hits {
  const version = store.version.value;
  const [answer, setAnswer] = useState<Answer | null>(null);
  const filter = isFilter(query);
  useEffect(() => {
    if (!filter) return;
    let alive = true;
    const timer = setTimeout(() => void ask(store, query, () => alive, setAnswer), 200);
    return () => {
      alive = false;
      clearTimeout(timer);
    };
  }, [filter, query, version]);
  return useMemo(() => {
    const known = answer?.query === query ? answer : null;
    const ids = filter ? (known?.ids ?? []) : searchRows(store.forest.every, query);
    if (ids === null) return { hits: null, ids: [], searching: false, problem: null };
    const rows = ids.map((id) => store.lanes.index(id)).filter((at) => at >= 0);
    return {
      hits: new Set(rows),
      ids,
      searching: filter && !known?.done,
      problem: filter ? (known?.problem ?? null) : null,
    };
  }, [filter, query, version, answer]);
}

async function ask(store: Store, query: string, alive: () => boolean, tell: (answer: Answer) => void) {
  const ids: string[] = [];
  let after: string | null = null;
  try {
    do {
      const got: { ids: string[]; after: string | null } = await store.ask("search", { query, after });
      if (!alive()) return;
      ids.push(...got.ids);
      after = got.after;
      tell({ query, ids: [...ids], done: after === null, problem: null });
    } while (after !== null);
  } catch (reason) {
    if (alive()) tell({ query, ids, done: true, problem: asKernelError(reason).message });
  }
}
