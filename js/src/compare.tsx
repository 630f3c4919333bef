import { useEffect, useState } from "preact/hooks";
import { ranText } from "./cells";
import { count, safe } from "./format";
import { type Row, readRows } from "./rows";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { RowTuple } from "./types";
import { ErrorBox } from "./ui";

interface Pair {
  a: RowTuple | null;
  b: RowTuple | null;
  nodes: boolean;
  differs: string[];
}

interface Answer {
  ancestor: string | null;
  shared: number;
  kind: string;
  text: string;
  first: [a: string | null, b: string | null] | null;
  summary: string;
  pairs: Pair[];
  more: number;
}

/** Two branches step by step: what they share, where they part, and what each did then. */
export function Compare(props: { store: Store; a: string; b: string; onGo: (id: string) => void }) {
  const { store, a, b, onGo } = props;
  const [found, setFound] = useState<Answer | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let alive = true;
    setFound(null);
    setError(null);
    store.ask<Answer>("align", { a, b }).then(
      (got) => alive && setFound(got),
      (reason) => alive && setError(asKernelError(reason)),
    );
    return () => {
      alive = false;
    };
  }, [a, b, tries]);
  if (error) return <ErrorBox error={error} onRetry={() => setTries(tries + 1)} />;
  if (!found) return <p class="ckv-empty">Comparing…</p>;
  const first = found.first?.[1] ?? found.first?.[0] ?? null;
  return (
    <div class="ckv-compare">
      <p class="ckv-summary">
        {found.kind ? `First difference: ${safe(found.text)}` : "No difference"}
        <span class="ckv-muted"> · {safe(found.summary)}</span>
      </p>
      <div class="ckv-row-start">
        {found.ancestor && (
          <button type="button" class="ckv-link" onClick={() => onGo(found.ancestor as string)}>
            Common ancestor
          </button>
        )}
        {first && (
          <button type="button" class="ckv-link" onClick={() => onGo(first)}>
            First difference
          </button>
        )}
      </div>
      {found.pairs.length > 0 && <Steps pairs={found.pairs} first={found.first} onGo={onGo} />}
      {found.more > 0 && <p class="ckv-muted">{count(found.more, "more step")}: compare nearer ends.</p>}
    </div>
  );
}

function Steps({ pairs, first, onGo }: { pairs: Pair[]; first: Answer["first"]; onGo: (id: string) => void }) {
  return (
    <table class="ckv-steps" aria-label="Steps of both branches">
      <thead>
        <tr>
          <th scope="col">A</th>
          <th scope="col">
            <span class="ckv-sr">Compared</span>
          </th>
          <th scope="col">B</th>
          <th scope="col">other values in</th>
        </tr>
      </thead>
      <tbody>
        {pairs.map((pair, n) => {
          const isFirst = first !== null && first[0] === (pair.a?.[0] ?? null) && first[1] === (pair.b?.[0] ?? null);
          const [sign, word] = signOf(pair);
          return (
            <tr key={pair.a?.[0] ?? pair.b?.[0] ?? n} class={isFirst ? "ckv-first" : ""}>
              <Step tuple={pair.a} onGo={onGo} />
              <td class={`ckv-sign ckv-s-${word}`} title={word}>
                <span role="img" aria-label={word}>
                  {sign}
                </span>
              </td>
              <Step tuple={pair.b} onGo={onGo} />
              <td class="ckv-mono">{pair.differs.map(safe).join(" ")}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function signOf(pair: Pair): [string, string] {
  if (!pair.a) return ["+", "only in B"];
  if (!pair.b) return ["−", "only in A"];
  if (!pair.nodes) return ["≠", "other nodes"];
  return pair.differs.length ? ["~", "other values"] : ["=", "alike"];
}

function Step({ tuple, onGo }: { tuple: RowTuple | null; onGo: (id: string) => void }) {
  if (!tuple) return <td class="ckv-muted">–</td>;
  const [row] = readRows({ rows: [tuple] }) as [Row];
  return (
    <td>
      <button type="button" class="ckv-link" onClick={() => onGo(row.id)}>
        <span class="ckv-muted">{row.step}</span> {safe(ranText(row))}
      </button>
    </td>
  );
}
