import { useEffect, useState } from "preact/hooks";
import { CopyCode } from "./code";
import { count, safe } from "./format";
import { Later } from "./more/load";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { Checkpoint, Diff, DiffPart } from "./types";
import { Button, Choice, copyText, ErrorBox, Note } from "./ui";
import type { View } from "./view";

// --- Diff ------------------------------------------------------------------------------------------------------------

type Way = "states" | "branches";
const WAYS = [
  { value: "states", text: "states" },
  { value: "branches", text: "branches, step by step" },
] as const;

/** From A to B: the marks, or the checkpoint before the selected one and the selected one. */
export function DiffPanel({ view, answer }: { view: View; answer: Checkpoint }) {
  const { store, mark, markB } = view;
  const b = markB.value ?? answer.id;
  const a = mark.value !== null && mark.value !== b ? mark.value : null;
  const far = a !== null || b !== answer.id;
  const [way, setWay] = useState<Way>("states");
  const { found, error } = useDiff(store, far ? { a: a ?? store.forest.known(b)?.parent ?? null, b } : null);
  const diff = far ? found : answer.diff;
  const marked = mark.value !== null || markB.value !== null;
  const swap = () => {
    mark.value = b;
    markB.value = a;
  };
  return (
    <div class="ckv-diff">
      <div class="ckv-diffhead">
        <span class="ckv-badge ckv-b-mark">A</span> {placeOf(store, a ?? diff?.a ?? null)}
        <span class="ckv-arrow">→</span>
        <span class="ckv-badge ckv-b-mark">B</span> {placeOf(store, b)}
        {a !== null && <Button label="Swap" icon="swap" kind="quiet" onPress={swap} />}
        {marked && <Button label="Clear marks" kind="quiet" onPress={() => view.clearMarks()} />}
        {a !== null && <Choice label="Compare" name={`${view.id}-way`} value={way} options={WAYS} onChange={setWay} />}
      </div>
      {a !== null && way === "branches" ? (
        <Later store={store} part="Compare" give={{ store, a, b, onGo: (id: string) => void store.find(id) }} />
      ) : (
        <>
          {error && <ErrorBox error={error} />}
          {!diff && !error && (
            <p class="ckv-empty">{far ? "Comparing…" : "The first checkpoint: there is nothing before it."}</p>
          )}
          {diff && <DiffBody diff={diff} />}
          {diff && <CopyCode store={store} what="diff" body={() => ({ a: diff.a, checkpoint: diff.b })} />}
        </>
      )}
      {!marked && <Note>Press Space on a row to compare with that checkpoint, on any branch.</Note>}
    </div>
  );
}

function useDiff(store: Store, ends: { a: string | null; b: string } | null) {
  const [found, setFound] = useState<Diff | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  useEffect(() => {
    setFound(null);
    setError(null);
    if (!ends) return;
    let alive = true;
    store.ask<Diff>("diff", ends).then(
      (got) => alive && setFound(got),
      (reason) => alive && setError(asKernelError(reason)),
    );
    return () => {
      alive = false;
    };
  }, [ends?.a, ends?.b]);
  return { found, error };
}

function placeOf(store: Store, id: string | null): string {
  const row = id === null ? undefined : store.forest.known(id);
  if (!row) return id === null ? "nothing" : id.slice(0, 8);
  return `step ${row.step ?? "?"}`;
}

function DiffBody({ diff }: { diff: Diff }) {
  const [same, setSame] = useState(false);
  const equal = diff.parts.filter((part) => part.op === "same");
  const equalCount = equal.reduce((sum, part) => sum + (part.n ?? 1), 0);
  const shown = same ? diff.parts : diff.parts.filter((part) => part.op !== "same");
  return (
    <>
      <p class="ckv-summary">{diff.summary}</p>
      <DiffParts parts={shown} />
      {equalCount > 0 && (
        <button type="button" class="ckv-link" aria-expanded={same} onClick={() => setSame(!same)}>
          {same ? "hide" : "show"} {count(equalCount, "equal part")}
        </button>
      )}
    </>
  );
}

export function DiffParts({ parts }: { parts: DiffPart[] }) {
  return (
    <div class="ckv-parts">
      {parts.map((part, n) => (
        <Part key={`${n}${part.path}`} part={part} />
      ))}
    </div>
  );
}

const SIGNS = { add: "+", del: "−", change: "~", same: "=" } as const;
const WORDS = { add: "added", del: "removed", change: "changed", same: "equal" } as const;

/** A path of more characters stands above its value. */
const LONG_PATH = 26;

function Part({ part }: { part: DiffPart }) {
  return (
    <div class={`ckv-part ckv-d-${part.op}${part.path.length > LONG_PATH ? " ckv-longpath" : ""}`}>
      <span class="ckv-sign" role="img" aria-label={WORDS[part.op]}>
        {SIGNS[part.op]}
      </span>
      <code dir="auto">{safe(part.path)}</code>
      <span class="ckv-val" dir="auto">
        {part.op === "change" ? <WordDiff before={part.before ?? ""} after={part.after ?? ""} /> : null}
        {part.op === "add" && safe(part.after ?? "")}
        {part.op === "del" && safe(part.before ?? "")}
        {part.op === "same" && (part.n && part.n > 1 ? count(part.n, "item") : safe(part.after ?? ""))}
      </span>
    </div>
  );
}

/** The words that both ends share, and what differs between them. */
export function wordDiff(before: string, after: string): { head: string; del: string; add: string; tail: string } {
  const a = before.split(/(\s+)/);
  const b = after.split(/(\s+)/);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return {
    head: a.slice(0, head).join(""),
    del: a.slice(head, a.length - tail).join(""),
    add: b.slice(head, b.length - tail).join(""),
    tail: tail ? a.slice(a.length - tail).join("") : "",
  };
}

function WordDiff({ before, after }: { before: string; after: string }) {
  const parts = wordDiff(before, after);
  return (
    <>
      {safe(parts.head)}
      {parts.del && <del>{safe(parts.del)}</del>}
      {parts.del && parts.add && " "}
      {parts.add && <ins>{safe(parts.add)}</ins>}
      {safe(parts.tail)}
    </>
  );
}

// --- Raw -------------------------------------------------------------------------------------------------------------

export function RawPanel({ store, answer }: { store: Store; answer: Checkpoint }) {
  const [copied, setCopied] = useState("");
  const { python, ...rest } = answer.raw;
  const copy = async (what: string, text: string) => {
    setCopied((await copyText(text)) ? `${what} copied` : "The browser did not allow copying: select the text.");
  };
  return (
    <div class="ckv-raw">
      <div class="ckv-row-start">
        <CopyCode store={store} what="selection" body={() => ({ checkpoint: answer.id })} />
        <Button label="Copy id" onPress={() => void copy("Id", answer.id)} />
        <span class="ckv-muted" role="status">
          {copied}
        </span>
      </div>
      {typeof python === "string" && <pre class="ckv-pre">{safe(python)}</pre>}
      {Object.entries(rest).map(([key, value]) => (
        <section key={key}>
          <h4>{safe(key)}</h4>
          <pre class="ckv-pre">{rawText(value)}</pre>
        </section>
      ))}
    </div>
  );
}

function rawText(value: unknown): string {
  return typeof value === "string" ? safe(value) : (JSON.stringify(value, null, 2) ?? "");
}
