import { useEffect, useState } from "preact/hooks";
import { bytes, count, safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { Cell, ChannelMatrix, Checkpoint, Diff, DiffPart } from "./types";
import { Button, copyText, ErrorBox, Note } from "./ui";

// --- Diff ------------------------------------------------------------------------------------------------------------

export function DiffPanel(props: { store: Store; answer: Checkpoint; mark: string | null; onClear: () => void }) {
  const { store, answer, mark } = props;
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
        {mark !== null && <Button label="Clear A" kind="quiet" onPress={props.onClear} />}
      </div>
      {error && <ErrorBox error={error} />}
      {!diff && !error && (
        <p class="ckv-empty">{other ? "Comparing…" : "The first checkpoint: there is nothing before it."}</p>
      )}
      {diff && <DiffBody diff={diff} />}
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
      <div class="ckv-parts">
        {shown.map((part, n) => (
          <Part key={`${n}${part.path}`} part={part} />
        ))}
      </div>
      {equalCount > 0 && (
        <button type="button" class="ckv-link" aria-expanded={same} onClick={() => setSame(!same)}>
          {same ? "hide" : "show"} {count(equalCount, "equal part")}
        </button>
      )}
    </>
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

// --- Channels --------------------------------------------------------------------------------------------------------

const MAX_COLUMNS = 60;

export function ChannelsPanel(props: { store: Store; answer: Checkpoint; onPick: (id: string) => void }) {
  const { answer } = props;
  const [hover, setHover] = useState<{ name: string; cell: Cell } | null>(null);
  const [routing, setRouting] = useState(false);
  const matrix = answer.channels;
  if (!matrix || matrix.rows.length === 0) return <p class="ckv-empty">No channel has a version here yet.</p>;
  const selected = matrix.steps.findIndex((step) => step.id === answer.id);
  const first = Math.max(0, Math.min(selected - MAX_COLUMNS / 2, matrix.steps.length - MAX_COLUMNS));
  const columns = matrix.steps.slice(first, first + MAX_COLUMNS);
  const folded = matrix.rows.filter((row) => row.routing);
  const shown = [...matrix.rows.filter((row) => !row.routing), ...(routing ? folded : [])];
  return (
    <div class="ckv-channels">
      <div class="ckv-matrix" role="group" aria-label="Versions by step" onMouseLeave={() => setHover(null)}>
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="ckv-sr">channel</span>
              </th>
              {columns.map((step, n) => (
                <th key={step.id} scope="col" class={first + n === selected ? "ckv-col" : ""}>
                  <button type="button" aria-label={`Step ${step.step}`} onClick={() => props.onPick(step.id)}>
                    {step.step}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.name} class={row.routing ? "ckv-routing" : ""}>
                <th scope="row" title={row.name} dir="auto">
                  {safe(row.name)}
                </th>
                {columns.map((step, n) => (
                  <MatrixCell
                    key={step.id}
                    cell={row.cells[first + n] ?? null}
                    on={first + n === selected}
                    onHover={(cell) => setHover({ name: row.name, cell })}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {folded.length > 0 && (
        <button type="button" class="ckv-link" aria-expanded={routing} onClick={() => setRouting(!routing)}>
          {routing ? "hide routing" : `routing: ${count(folded.length, "channel")} of the engine`}
        </button>
      )}
      <div class="ckv-legend">
        <span class="ckv-sw ckv-sw-written" /> written here <span class="ckv-sw ckv-sw-shared" /> same blob
        <span class="ckv-sw ckv-sw-empty" /> emptied
      </div>
      <CellLine hover={hover} matrix={matrix} selected={selected} />
    </div>
  );
}

function MatrixCell(props: { cell: Cell | null; on: boolean; onHover: (cell: Cell) => void }) {
  const { cell, on } = props;
  const words = cell ? `${KINDS[cell.kind]}, version ${cell.v}` : "";
  return (
    <td
      class={on ? "ckv-col" : ""}
      title={cell ? `${cellText(cell)}\n${cell.full}` : undefined}
      onMouseEnter={() => cell && props.onHover(cell)}
    >
      {cell && (
        <span class={`ckv-cell ckv-cell-${cell.kind}`}>
          <span class="ckv-sr">{words}</span>
        </span>
      )}
    </td>
  );
}

const KINDS = { written: "written here", shared: "same blob as before", empty: "emptied" } as const;

function cellText(cell: Cell): string {
  const size = cell.bytes === null || cell.bytes === undefined ? "" : ` · ${bytes(cell.bytes)}`;
  return `version ${cell.v} · ${KINDS[cell.kind]}${cell.tag ? ` · ${cell.tag}` : ""}${size}`;
}

function CellLine(props: { hover: { name: string; cell: Cell } | null; matrix: ChannelMatrix; selected: number }) {
  const { hover, matrix, selected } = props;
  const row = matrix.rows.find((one) => !one.routing && one.cells[selected]?.kind === "written") ?? matrix.rows[0];
  const name = hover?.name ?? row?.name;
  const cell = hover?.cell ?? row?.cells[selected];
  if (!cell) return null;
  const readers = Object.entries(matrix.seen)
    .filter(([, seen]) => name !== undefined && seen[name] !== undefined)
    .map(([node, seen]) => `${node} has seen ${seen[name as string]}`);
  return (
    <div class="ckv-why">
      <b class="ckv-mono">{safe(name ?? "")}</b> <span title={cell.full}>{cellText(cell)}</span>
      {readers.length > 0 && <div>{readers.slice(0, 6).join(" · ")}</div>}
    </div>
  );
}

// --- Raw -------------------------------------------------------------------------------------------------------------

export function RawPanel({ answer }: { answer: Checkpoint }) {
  const [copied, setCopied] = useState("");
  const { python, ...rest } = answer.raw;
  const copy = async (what: string, text: string) => {
    setCopied((await copyText(text)) ? `${what} copied` : "The browser did not allow copying: select the text.");
  };
  return (
    <div class="ckv-raw">
      <div class="ckv-row-start">
        {typeof python === "string" && <Button label="Copy as Python" onPress={() => void copy("Python", python)} />}
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
