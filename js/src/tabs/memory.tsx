import { useEffect, useRef, useState } from "preact/hooks";
import { clock, count, safe } from "../format";
import { Button, Note } from "../ui";
import { Failed } from "./failed";
import { type Failure, failureOf, type TabProps } from "./props";

interface Item {
  ns: string[];
  key: string;
  fields: [name: string, text: string][];
  size: number;
  created: number;
  updated: number;
  score: number | null;
  wrote: "" | "new" | "changed";
}

export interface MemoryAnswer {
  why: string;
  items?: Item[];
  more?: boolean;
  namespaces?: string[][];
  written?: { items: Item[]; count: number; complete: boolean; why: string };
}

const PAUSE = 250;

/** What the graph's store holds, and what was written to it during the selected step. */
export function MemoryPanel(props: TabProps) {
  const { answer, at } = props;
  const [query, setQuery] = useState("");
  const [asked, setAsked] = useState("");
  const [prefix, setPrefix] = useState<string[]>([]);
  const [found, setFound] = useState<MemoryAnswer | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [tries, setTries] = useState(0);
  const ticket = useRef(0);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(query), query ? PAUSE : 0);
    return () => clearTimeout(timer);
  }, [query]);
  const ask = (offset: number) =>
    props.ask<MemoryAnswer>("memory", { checkpoint: answer.id, prefix, query: asked, offset });
  useEffect(() => {
    const mine = ++ticket.current;
    setError(null);
    ask(0).then(
      (got) => mine === ticket.current && setFound(got),
      (reason) => mine === ticket.current && setError(failureOf(reason)),
    );
  }, [answer.id, at, asked, prefix.join("\u0000"), tries]);
  const more = async () => {
    const mine = ticket.current;
    try {
      const got = await ask(found?.items?.length ?? 0);
      if (mine !== ticket.current || !found) return;
      setFound({ ...found, more: got.more ?? false, items: [...(found.items ?? []), ...(got.items ?? [])] });
    } catch (reason) {
      setError(failureOf(reason));
    }
  };
  return (
    <div class="ckv-memory">
      {error && <Failed error={error} onRetry={() => setTries(tries + 1)} />}
      {!found && !error && <p class="ckv-empty">Asking the store…</p>}
      {found?.why && <Note>{safe(found.why)}</Note>}
      {found && !found.why && (
        <>
          <Written found={found} step={props.step} />
          <section aria-label="All that is remembered">
            <div class="ckv-memoryhead">
              <input
                type="search"
                class="ckv-input"
                aria-label="Search the memory"
                placeholder="Search the memory"
                value={query}
                onInput={(event) => setQuery(event.currentTarget.value)}
              />
              <Spaces all={found.namespaces ?? []} chosen={prefix} onChoose={setPrefix} />
            </div>
            <Items items={found.items ?? []} />
            {found.items?.length === 0 && (
              <p class="ckv-empty">
                {asked || prefix.length ? "Nothing like that is remembered." : "The store is empty."}
              </p>
            )}
            {found.more && <Button label="More" kind="quiet" onPress={() => void more()} />}
          </section>
        </>
      )}
    </div>
  );
}

function Written({ found, step }: { found: MemoryAnswer; step: number | null }) {
  const wrote = found.written;
  if (!wrote) return null;
  return (
    <section aria-label="Written during this step">
      <h4>Written during step {step ?? "?"}</h4>
      {wrote.items.length === 0 && <p class="ckv-empty">{safe(wrote.why) || "Nothing."}</p>}
      <Items items={wrote.items} />
      {wrote.count > wrote.items.length && (
        <p class="ckv-muted">and {count(wrote.count - wrote.items.length, "item")} more</p>
      )}
      {(wrote.items.length > 0 || !wrote.complete) && (
        <p class="ckv-muted">
          Told by time: what was written again later is not among them, what another run wrote meanwhile is.
          {wrote.complete ? "" : " The store holds too many items to look at all."}
        </p>
      )}
    </section>
  );
}

function Spaces(props: { all: string[][]; chosen: string[]; onChoose: (prefix: string[]) => void }) {
  const { all, chosen } = props;
  const names = all.map((ns) => ns.join("\u0000"));
  const here = chosen.join("\u0000");
  return (
    <select
      class="ckv-select"
      aria-label="Namespace of the memory"
      value={here}
      onChange={(event) => {
        const name = event.currentTarget.value;
        props.onChoose(name ? name.split("\u0000") : []);
      }}
    >
      <option value="">all namespaces</option>
      {here && !names.includes(here) && <option value={here}>{shown(chosen)}</option>}
      {all.map((ns, n) => (
        <option key={names[n]} value={names[n]}>
          {shown(ns)}
        </option>
      ))}
    </select>
  );
}

const shown = (ns: string[]): string => ns.map(safe).join(" › ");

function Items({ items }: { items: Item[] }) {
  return (
    <ul class="ckv-items">
      {items.map((item) => (
        <li key={`${item.ns.join("\u0000")}\u0000${item.key}`}>
          <div class="ckv-itemhead">
            <span class="ckv-muted" dir="auto">
              {shown(item.ns)} ›
            </span>
            <b class="ckv-mono" dir="auto">
              {safe(item.key)}
            </b>
            {item.wrote && <span class="ckv-wrote">{item.wrote}</span>}
            <span class="ckv-muted ckv-versions">
              {item.score === null ? "" : `${item.score} · `}
              <span title={`first written ${clock(item.created)}`}>{clock(item.updated)}</span>
            </span>
          </div>
          <dl>
            {item.fields.map(([name, text]) => (
              <div key={name}>
                <dt dir="auto">{safe(name)}</dt>
                <dd dir="auto" title={safe(text)}>
                  {safe(text)}
                </dd>
              </div>
            ))}
          </dl>
          {item.size > item.fields.length && (
            <p class="ckv-muted">and {count(item.size - item.fields.length, "field")} more</p>
          )}
        </li>
      ))}
    </ul>
  );
}
