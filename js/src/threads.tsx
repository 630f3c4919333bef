import { useEffect, useRef, useState } from "preact/hooks";
import { bytes, clock, count, safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { ThreadInfo, ThreadPage } from "./types";
import { Button, ErrorBox } from "./ui";

const PAGE = 100;
const STATES = ["failed", "waits", "can go on", "done"] as const;
type Sort = "time" | "id" | "steps" | "size" | "state";
const COLUMNS: readonly (readonly [Sort, string])[] = [
  ["id", "thread"],
  ["state", "state"],
  ["time", "last change"],
  ["steps", "step"],
  ["size", "size"],
];

interface Query {
  text: string;
  state: string[];
  sort: Sort;
  down: boolean;
  limit: number;
}

/** What to open when no thread was given: a table, of which the kernel sends the part in view. */
export function Threads({ store }: { store: Store }) {
  const hello = store.hello.value;
  const [query, setQuery] = useState<Query>({ text: "", state: [], sort: "time", down: true, limit: PAGE });
  const { page, error, retry } = usePage(store, query);
  const change = (more: Partial<Query>) => setQuery({ ...query, limit: PAGE, ...more });
  const total = page?.thread_count ?? hello?.thread_count ?? hello?.threads.length ?? 0;
  const failed = query.state.join() === "failed";
  return (
    <div class="ckv-threads">
      <div class="ckv-threadbar">
        <h3>{count(total, "thread")}</h3>
        <input
          type="search"
          class="ckv-input"
          aria-label="Filter threads"
          placeholder="Filter by name"
          value={query.text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
        <select
          aria-label="State of threads"
          value={query.state[0] ?? ""}
          onChange={(event) => change({ state: event.currentTarget.value ? [event.currentTarget.value] : [] })}
        >
          <option value="">any state</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </select>
        <Button label="Failed only" pressed={failed} onPress={() => change({ state: failed ? [] : ["failed"] })} />
        <span class="ckv-muted" role="status">
          {page && page.left > 0 ? `${count(page.left, "thread")} still to read…` : ""}
        </span>
      </div>
      {error && <ErrorBox error={error} onRetry={retry} />}
      {total === 0 ? (
        <p class="ckv-empty">Nothing was recorded here yet: run the graph with a thread_id.</p>
      ) : (
        <Table store={store} rows={page?.threads ?? hello?.threads ?? []} query={query} onSort={change} />
      )}
      {page && page.threads.length === 0 && page.left === 0 && total > 0 && (
        <p class="ckv-empty">No thread is like that.</p>
      )}
      {page && page.matched > page.threads.length && (
        <Button
          label={`More threads (${(page.matched - page.threads.length).toLocaleString("en-US")})`}
          kind="quiet"
          onPress={() => setQuery({ ...query, limit: query.limit + PAGE * 2 })}
        />
      )}
    </div>
  );
}

/** The rows for a query; asked again while the kernel still reads states. */
function usePage(store: Store, query: Query) {
  const [page, setPage] = useState<ThreadPage | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [round, setRound] = useState(0);
  const last = useRef("");
  useEffect(() => {
    let alive = true;
    const ask = async () => {
      try {
        for (;;) {
          const { limit, ...rest } = query;
          const got = await store.ask<ThreadPage>("threads", { ...rest, limit: Math.min(limit, 500) });
          for (let from = 500; from < limit && got.threads.length === from; from += 500) {
            const more = await store.ask<ThreadPage>("threads", {
              ...rest,
              offset: from,
              limit: Math.min(500, limit - from),
            });
            got.threads.push(...more.threads);
          }
          if (!alive) return;
          setPage(got);
          setError(null);
          if (got.left === 0) return;
        }
      } catch (reason) {
        if (alive) setError(asKernelError(reason));
      }
    };
    const typed = last.current !== query.text;
    last.current = query.text;
    const timer = setTimeout(() => void ask(), typed ? 150 : 0);
    return () => {
      alive = false;
      clearTimeout(timer);
    };
  }, [query, round]);
  return { page, error, retry: () => setRound(round + 1) };
}

function Table(props: { store: Store; rows: ThreadInfo[]; query: Query; onSort: (more: Partial<Query>) => void }) {
  const { query } = props;
  const sized = props.rows.some((one) => one.bytes != null);
  const columns = COLUMNS.filter(([sort]) => sort !== "size" || sized);
  return (
    <table aria-label="Threads">
      <thead>
        <tr>
          {columns.map(([sort, name]) => (
            <th
              key={sort}
              scope="col"
              class={`ckv-t-${sort}`}
              aria-sort={query.sort === sort ? (query.down ? "descending" : "ascending") : undefined}
            >
              <button
                type="button"
                class="ckv-sort"
                onClick={() => props.onSort({ sort, down: query.sort === sort ? !query.down : sort !== "id" })}
              >
                {name}
                <span aria-hidden="true">{query.sort === sort ? (query.down ? " ↓" : " ↑") : ""}</span>
              </button>
            </th>
          ))}
          <th scope="col">last value</th>
        </tr>
      </thead>
      <tbody>
        {props.rows.map((one) => (
          <Line key={one.id} store={props.store} one={one} sized={sized} />
        ))}
      </tbody>
    </table>
  );
}

const BADGES: Record<string, string> = { failed: "err", waits: "wait", "can go on": "run" };

function Line({ store, one, sized }: { store: Store; one: ThreadInfo; sized: boolean }) {
  const badge = BADGES[one.status ?? ""];
  const at = typeof one.last_time === "number" ? one.last_time : null;
  return (
    <tr onClick={() => void store.openThread(one.id, "")}>
      <td class="ckv-t-id">
        <button type="button" class="ckv-link" title={safe(one.id)} onClick={() => void store.openThread(one.id, "")}>
          {safe(one.id)}
        </button>
      </td>
      <td>
        {badge ? (
          <span class={`ckv-badge ckv-b-${badge}`}>{one.status}</span>
        ) : (
          <span class="ckv-muted">{one.status}</span>
        )}
      </td>
      <td title={at ? clock(at) : ""}>{at ? ago(at) : ""}</td>
      <td>{one.last_step ?? ""}</td>
      {sized && <td>{one.bytes == null ? "" : bytes(one.bytes)}</td>}
      <td class="ckv-t-preview" dir="auto">
        {safe(one.preview ?? "")}
      </td>
    </tr>
  );
}

/** 5 min ago; after a week the date. */
export function ago(ms: number, now = Date.now()): string {
  const seconds = Math.max(0, (now - ms) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return new Date(ms).toLocaleDateString();
}
