import type { Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { CopyCode } from "./code";
import { count, safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { Checkpoint, Diff, DiffPart } from "./types";
import { Button, copyText, ErrorBox, Note } from "./ui";

// --- Diff ------------------------------------------------------------------------------------------------------------

export function DiffPanel(props: { store: Store; answer: Checkpoint; mark: Signal<string | null> }) {
  const { store, answer } = props;
  const mark = props.mark.value;
  const [swapped, setSwapped] = useState(false);
  const other = mark !== null && mark !== answer.id;
  const [far, setFar] = useState<Diff | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  useEffect(() => {
    setFar(null);
    setError(null);
    if (!other) return;
    let alive = true;
    const [a, b] = swapped ? [answer.id, mark] : [mark, answer.id];
    store.ask<Diff>("diff", { a, b }).then(
      (got) => alive && setFar(got),
      (reason) => alive && setError(asKernelError(reason)),
    );
    return () => {
      alive = false;
    };
  }, [answer.id, mark, swapped, other]);
  const diff = other ? far : answer.diff;
  return (
    <div class="ckv-diff">
      <div class="ckv-diffhead">
        <span class="ckv-badge ckv-b-mark">A</span> {placeOf(store, diff?.a ?? (other ? mark : null))}
        <span class="ckv-arrow">→</span>
        <span class="ckv-badge ckv-b-mark">B</span> {placeOf(store, diff?.b ?? answer.id)}
        {other && <Button label="Swap" icon="swap" kind="quiet" onPress={() => setSwapped(!swapped)} />}
        {mark !== null && <Button label="Clear A" kind="quiet" onPress={() => (props.mark.value = null)} />}
      </div>
      {error && <ErrorBox error={error} />}
      {!diff && !error && (
        <p class="ckv-empty">{other ? "Comparing…" : "The first checkpoint: there is nothing before it."}</p>
      )}
      {diff && <DiffBody diff={diff} />}
      {diff && <CopyCode store={store} what="diff" body={() => ({ a: diff.a, checkpoint: diff.b })} />}
      {mark === null && <Note>Press Space on a row to compare with that checkpoint.</Note>}
    </div>
  );
}

function placeOf(store: Store, id: string | null): string {
  const row = store.row(id);
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

function Part({ part }: { part: DiffPart }) {
  return (
    <div class={`ckv-part ckv-d-${part.op}`}>
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
