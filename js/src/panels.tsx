import { useEffect, useState } from "preact/hooks";
import { bytes, count, safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { Cell, ChannelMatrix, Checkpoint, Diff, DiffPart, Entry, TaskInfo } from "./types";
import { Button, Choice, copyText, ErrorBox, Note, pythonText, readJson } from "./ui";

const FOLD_AT = 240;

// --- State -----------------------------------------------------------------------------------------------------------

export function StatePanel({ store, answer }: { store: Store; answer: Checkpoint }) {
  if (answer.state.length === 0) return <p class="ckv-empty">No values in this checkpoint yet.</p>;
  return (
    <div class="ckv-state">
      {answer.state.map((entry) => (
        <EntryView key={`${answer.id}/${entry.k}`} store={store} id={answer.id} entry={entry} level={0} />
      ))}
    </div>
  );
}

interface EntryProps {
  store: Store | null;
  id: string;
  entry: Entry;
  level: number;
}

export function EntryView({ store, id, entry, level }: EntryProps) {
  const isText = !entry.c && (entry.t === "str" || entry.t === "bytes");
  const has = (entry.c?.length ?? 0) > 0 || (entry.more === true && !isText);
  const isChat = entry.c?.some((one) => one.chat) ?? false;
  const [open, setOpen] = useState(level === 0 && (isChat || (entry.c?.length ?? 99) <= 4));
  const [more, setMore] = useState<{ entries: Entry[]; total: number } | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const children = more?.entries ?? entry.c ?? [];
  const total = more?.total ?? entry.n ?? children.length;
  const canLoad = store !== null && (entry.more || (more !== null && children.length < total));
  const load = async () => {
    if (!store) return;
    try {
      const offset = more ? children.length : 0;
      const got = await store.ask<{ entries: Entry[]; total: number }>("value", {
        checkpoint: id,
        path: entry.p,
        offset,
      });
      setMore({ entries: more ? [...children, ...got.entries] : got.entries, total: got.total });
      setError(null);
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  const toggle = () => {
    setOpen(!open);
    if (!open && children.length === 0 && canLoad) void load();
  };
  return (
    <div
      class={`ckv-entry${level === 0 ? " ckv-top" : ""}${entry.mark && entry.mark !== "same" ? ` ckv-m-${entry.mark}` : ""}`}
    >
      <div class="ckv-kv">
        {has ? (
          <button
            type="button"
            class="ckv-twist"
            aria-expanded={open}
            aria-label={`${open ? "Close" : "Open"} ${safe(entry.k)}`}
            onClick={toggle}
          />
        ) : (
          <span class="ckv-twist ckv-leaf" />
        )}
        <b dir="auto">{safe(entry.k)}</b>
        <i>{typeText(entry)}</i>
        {isText && entry.more && store ? (
          <LongText store={store} id={id} entry={entry} />
        ) : (
          !(has && open) && <Text text={entry.s} type={entry.t} />
        )}
      </div>
      {has && open && (
        <div class={isChat ? "ckv-chat" : "ckv-children"}>
          {children.map((child) =>
            child.chat ? (
              <Message key={child.k} store={store} id={id} entry={child} />
            ) : (
              <EntryView key={child.k} store={store} id={id} entry={child} level={level + 1} />
            ),
          )}
          {error && <ErrorBox error={error} onRetry={() => void load()} />}
          {canLoad && (
            <Button label={`More (${children.length} of ${total})`} kind="quiet" onPress={() => void load()} />
          )}
        </div>
      )}
    </div>
  );
}

function typeText(entry: Entry): string {
  const size = entry.n === null || entry.n === undefined ? "" : sizeText(entry);
  const mark = entry.mark === "added" ? " · new here" : entry.mark === "changed" ? " · changed here" : "";
  return `${entry.t}${size}${mark}`;
}

function sizeText(entry: Entry): string {
  const n = entry.n as number;
  if (entry.t === "bytes") return ` · ${bytes(n)}`;
  if (entry.t === "str") return n > 60 ? ` · ${count(n, "character")}` : "";
  return n === 0 ? " · empty" : ` · ${count(n, "item")}`;
}

const TYPE_CLASS: Record<string, string> = {
  int: "ckv-num",
  float: "ckv-num",
  bool: "ckv-num",
  NoneType: "ckv-nul",
  str: "ckv-str",
};

function Text({ text, type }: { text: string; type: string }) {
  const [all, setAll] = useState(false);
  const long = text.length > FOLD_AT;
  return (
    <span class={`ckv-val ${TYPE_CLASS[type] ?? "ckv-mono"}`} dir="auto">
      {safe(long && !all ? `${text.slice(0, FOLD_AT)}…` : text)}
      {long && (
        <button type="button" class="ckv-link" onClick={() => setAll(!all)}>
          {all ? "less" : "more"}
        </button>
      )}
    </span>
  );
}

/** A text that the kernel cut: further parts come on demand. */
function LongText({ store, id, entry }: { store: Store; id: string; entry: Entry }) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const total = entry.n ?? 0;
  const left = text === null ? total : total - text.length;
  const load = async () => {
    try {
      const got = await store.ask<{ entries: Entry[]; total: number }>("value", {
        checkpoint: id,
        path: entry.p,
        offset: text?.length ?? 0,
      });
      setText((text ?? "") + (got.entries[0]?.s ?? ""));
      setError(null);
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  return (
    <span class="ckv-val" dir="auto">
      {safe(text ?? (entry.s.length > FOLD_AT ? `${entry.s.slice(0, FOLD_AT)}…` : entry.s))}
      {left > 0 && entry.t === "str" && (
        <button type="button" class="ckv-link" onClick={() => void load()}>
          more of {count(total, "character")}
        </button>
      )}
      {error && <ErrorBox error={error} />}
    </span>
  );
}

function Message({ store, id, entry }: { store: Store | null; id: string; entry: Entry }) {
  const [open, setOpen] = useState(false);
  const content = entry.c?.find((one) => one.k === "content" && one.t === "str");
  const marked = entry.mark === "added" || entry.mark === "changed";
  return (
    <div class={`ckv-msg${marked ? " ckv-new" : ""}`}>
      <div class="ckv-msgline">
        <em>{entry.chat}</em>
        <Text text={content?.s ?? entry.s} type="str" />
        {entry.c && entry.c.length > 0 && (
          <button type="button" class="ckv-link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "less" : "fields"}
          </button>
        )}
      </div>
      {open && entry.c?.map((child) => <EntryView key={child.k} store={store} id={id} entry={child} level={1} />)}
    </div>
  );
}

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

// --- Writes ----------------------------------------------------------------------------------------------------------

export interface WritesProps {
  store: Store;
  answer: Checkpoint;
  view: string;
  /** Why nothing can be resumed, or null. */
  resumeWhy: string | null;
  onResume: (answers: Record<string, unknown>) => Promise<void>;
}

const ORDER = { error: 0, interrupt: 1, pending: 2, done: 3 } as const;

export function WritesPanel(props: WritesProps) {
  const { made, next, why_not: whyNot } = props.answer.writes;
  const [filter, setFilter] = useState("");
  const match = (task: TaskInfo) => !filter || `${task.name} ${task.id} ${task.path}`.includes(filter);
  const byState = (list: TaskInfo[]) => list.filter(match).sort((a, b) => ORDER[a.state] - ORDER[b.state]);
  return (
    <div class="ckv-writes">
      {made.length + next.length > 8 && (
        <input
          type="text"
          class="ckv-input"
          aria-label="Filter tasks"
          placeholder="Filter tasks"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      <h4>Made this</h4>
      {made.length === 0 && <p class="ckv-empty">No task: an input or an edit made this checkpoint.</p>}
      <Tasks {...props} tasks={byState(made)} questions={false} />
      <h4>Runs next</h4>
      {next.length === 0 && <p class="ckv-empty">Nothing: the run ends here.</p>}
      <Tasks {...props} tasks={byState(next)} questions={true} />
      {whyNot && whyNot.length > 0 && (
        <details class="ckv-details">
          <summary>Why not another node?</summary>
          {whyNot.map((one) => (
            <p key={one.node} class="ckv-whynot">
              <b>{safe(one.node)}</b> {safe(one.why)}
            </p>
          ))}
        </details>
      )}
    </div>
  );
}

const SHOWN_TASKS = 40;

function Tasks(props: WritesProps & { tasks: TaskInfo[]; questions: boolean }) {
  const [limit, setLimit] = useState(SHOWN_TASKS);
  const { tasks } = props;
  const open = tasks
    .flatMap((task) => task.interrupts.map((one) => ({ task, one })))
    .filter(({ one }) => !one.answered);
  const [drafts, setDrafts] = useState<Record<string, Draft>>({});
  const ready = open.filter(({ one }) => readDraft(drafts[one.id])?.ok);
  const sendAll = () => {
    const answers: Record<string, unknown> = {};
    for (const { one } of ready) {
      const read = readDraft(drafts[one.id]);
      if (read?.ok) answers[one.id] = read.value;
    }
    return props.onResume(answers);
  };
  return (
    <>
      {tasks.slice(0, limit).map((task) => (
        <TaskCard
          key={task.id}
          {...props}
          task={task}
          open={open.map(({ one }) => one.id)}
          drafts={drafts}
          onDraft={(id, draft) => setDrafts({ ...drafts, [id]: draft })}
        />
      ))}
      {tasks.length > limit && (
        <Button
          label={`${count(tasks.length - limit, "more task")}`}
          kind="quiet"
          onPress={() => setLimit(limit + 200)}
        />
      )}
      {props.questions && open.length > 1 && (
        <div class="ckv-row-end">
          <span class="ckv-muted">
            {ready.length} of {open.length} answered{ready.length < open.length ? "; the others keep waiting" : ""}
          </span>
          <Button
            label="Resume with all answers"
            kind="main"
            why={props.resumeWhy ?? (ready.length === 0 ? "Answer at least one question." : null)}
            onPress={() => void sendAll()}
          />
        </div>
      )}
    </>
  );
}

interface Draft {
  text: string;
  mode: "text" | "json";
}

function readDraft(draft: Draft | undefined) {
  if (!draft || (draft.text === "" && draft.mode === "json")) return null;
  if (draft.mode === "json") return readJson(draft.text);
  return draft.text === "" ? null : ({ ok: true, value: draft.text } as const);
}

const STATES = { done: "done", error: "failed", interrupt: "waits for an answer", pending: "will run" } as const;

function TaskCard(
  props: WritesProps & {
    task: TaskInfo;
    questions: boolean;
    open: string[];
    drafts: Record<string, Draft>;
    onDraft: (id: string, draft: Draft) => void;
  },
) {
  const { task } = props;
  return (
    <div class="ckv-task" data-task-id={task.id}>
      <div class="ckv-th">
        <span class={`ckv-dot ckv-dot-${task.state}`} />
        <b dir="auto">{safe(task.name)}</b>
        <i>{STATES[task.state] ?? task.state}</i>
        <code title={task.id}>{task.id.slice(0, 8)}</code>
      </div>
      {task.why && <p class="ckv-because">{safe(task.why)}</p>}
      {task.result.map((entry) => (
        <EntryView key={entry.k} store={null} id={props.answer.id} entry={entry} level={1} />
      ))}
      {task.error && (
        <div class="ckv-taskerr">
          {safe(task.error)}
          {task.traceback && (
            <details>
              <summary>Traceback</summary>
              <pre>{task.traceback}</pre>
            </details>
          )}
        </div>
      )}
      {task.interrupts.map((one) => (
        <Question
          key={one.id}
          {...props}
          question={one}
          position={props.open.indexOf(one.id) + 1}
          draft={props.drafts[one.id] ?? { text: "", mode: "text" }}
        />
      ))}
      {(task.versions || task.triggers.length > 0 || task.path) && (
        <details class="ckv-details">
          <summary>Versions</summary>
          {task.versions && <p>{safe(task.versions)}</p>}
          {task.triggers.length > 0 && <p>triggers: {task.triggers.map(safe).join(", ")}</p>}
          {task.path && <p>path: {safe(task.path)}</p>}
        </details>
      )}
    </div>
  );
}

function Question(
  props: WritesProps & {
    task: TaskInfo;
    question: TaskInfo["interrupts"][number];
    open: string[];
    position: number;
    draft: Draft;
    onDraft: (id: string, draft: Draft) => void;
  },
) {
  const { question, draft, task, open } = props;
  const read = readDraft(draft);
  const [busy, setBusy] = useState(false);
  const number = props.position || 1;
  const name = `${task.name}, question ${number} of ${Math.max(open.length, 1)}`;
  const hint = `${props.view}-q-${question.id}`;
  const send = async () => {
    if (busy || !read?.ok) return;
    setBusy(true);
    try {
      await props.onResume({ [question.id]: read.value });
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="ckv-ask"
      aria-label={name}
      onSubmit={(event) => {
        event.preventDefault();
        if (props.resumeWhy === null) void send();
      }}
    >
      <EntryView
        store={null}
        id={props.answer.id}
        entry={{ ...question.value, k: question.value.k || "asks" }}
        level={0}
      />
      <div class="ckv-askrow">
        <input
          type="text"
          class="ckv-input"
          aria-label={question.answered ? "Answer differently" : "Answer"}
          placeholder={question.answered ? "answer differently" : "your answer"}
          aria-describedby={hint}
          aria-invalid={read && !read.ok ? "true" : undefined}
          value={draft.text}
          onInput={(event) => props.onDraft(question.id, { ...draft, text: event.currentTarget.value })}
        />
        <Choice
          label="Answer as"
          name={`${hint}-mode`}
          value={draft.mode}
          options={[
            { value: "text", text: "text" },
            { value: "json", text: "JSON" },
          ]}
          onChange={(mode) => props.onDraft(question.id, { ...draft, mode })}
        />
        <Button
          label="Resume"
          type="submit"
          kind="main"
          why={props.resumeWhy ?? (read?.ok ? null : "Write an answer first.")}
        />
      </div>
      <p class="ckv-hint" id={hint}>
        {read === null && "Python gets what you write here."}
        {read?.ok && `Python gets ${pythonText(read.value)}`}
        {read && !read.ok && read.why}
        {open.length > 1 && !question.answered && ` · ${open.length - 1} other keeps waiting`}
      </p>
    </form>
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
