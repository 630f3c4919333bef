import { useState } from "preact/hooks";
import { CopyCode } from "./code";
import { clock, count, duration, safe } from "./format";
import { EntryView } from "./state";
import type { Store } from "./store";
import type { Checkpoint, TaskInfo } from "./types";
import { Button, Choice, pythonText, readJson } from "./ui";

export interface WritesProps {
  store: Store;
  answer: Checkpoint;
  view: string;
  /** Why nothing can be resumed, or null. */
  resumeWhy: string | null;
  /** The run stopped here and can go on without an answer. */
  goesOn: boolean;
  /** `before`: the questions were asked by tasks that made this checkpoint, so its parent asks them again. */
  onResume: (answers: Record<string, unknown>, before: boolean) => Promise<void>;
  /** The checkpoint that such an answer is given to. */
  asked: (before: boolean) => string | null;
}

const ORDER = { error: 0, interrupt: 1, pending: 2, done: 3 } as const;

export function WritesPanel(props: WritesProps) {
  const { made, next, why_not: whyNot } = props.answer.writes;
  const [filter, setFilter] = useState("");
  const match = (task: TaskInfo) => !filter || `${task.name} ${task.id} ${task.path}`.includes(filter);
  const byState = (list: TaskInfo[]) => list.filter(match).sort((a, b) => ORDER[a.state] - ORDER[b.state]);
  // What failed or waits comes first, however many tasks made this.
  const again = new Set(next.filter((task) => task.state !== "done").map((task) => safe(task.name)));
  const troubled = next.some((task) => task.state === "error" || task.state === "interrupt");
  const madeThis = (
    <>
      <h4>Made this</h4>
      {made.length === 0 && <p class="ckv-empty">No task: an input or an edit made this checkpoint.</p>}
      <Tasks {...props} tasks={byState(made)} questions={false} />
    </>
  );
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
      {!troubled && madeThis}
      <h4>Runs next</h4>
      {next.length === 0 && <p class="ckv-empty">Nothing: the run ends here.</p>}
      <Tasks {...props} tasks={byState(next)} questions={true} />
      {props.goesOn && next.length > 0 && next.every((task) => task.interrupts.length === 0) && (
        <div class="ckv-row-end ckv-goon">
          <span class="ckv-muted">Resume will run: {[...again].join(", ")}</span>
          <Button label="Resume" kind="main" why={props.resumeWhy} onPress={() => void props.onResume({}, false)} />
        </div>
      )}
      {troubled && madeThis}
      {whyNot && whyNot.length > 0 && (
        <details class="ckv-details">
          <summary>Why not another node?</summary>
          {whyNot.map((one) => (
            <p key={one.node} class="ckv-whynot">
              <b>{safe(one.node)}</b> {safe(one.why)}
              {one.versions && <span class="ckv-muted"> {safe(one.versions)}</span>}
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
    return props.onResume(answers, !props.questions);
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

const waitText = (others: number) => ` · ${count(others, "other keeps", "others keep")} waiting`;

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
        {typeof task.took === "number" && (
          <span class="ckv-muted" title={`began ${clock(task.began ?? 0)}`}>
            {duration(task.took)}
          </span>
        )}
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
    questions: boolean;
    open: string[];
    position: number;
    draft: Draft;
    onDraft: (id: string, draft: Draft) => void;
  },
) {
  const { question, draft, task, open } = props;
  const read = readDraft(draft);
  const [busy, setBusy] = useState(false);
  const name = props.position
    ? `${task.name}, question ${props.position} of ${open.length}`
    : `${task.name}, answer differently`;
  const hint = `${props.view}-q-${question.id}`;
  const send = async () => {
    if (busy || !read?.ok) return;
    setBusy(true);
    try {
      await props.onResume({ [question.id]: read.value }, !props.questions);
    } finally {
      setBusy(false);
    }
  };
  if (question.answered && open.length > 0) {
    return <EntryView store={null} id={props.answer.id} entry={{ ...question.value, k: "asked" }} level={1} />;
  }
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
        {open.length > 1 && !question.answered && waitText(open.length - 1)}
        {question.answered && " · Makes a branch beside this one and answers there."}
      </p>
      {read?.ok && (
        <CopyCode
          store={props.store}
          what="resume"
          body={() => ({ checkpoint: props.asked(!props.questions), answers: { [question.id]: read.value } })}
        />
      )}
    </form>
  );
}
