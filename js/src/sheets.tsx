import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { CopyCode } from "./code";
import { safe } from "./format";
import { Names } from "./preview";
import { asKernelError, type Row, type Store } from "./store";
import type { KernelError } from "./transport";
import type { Checkpoint } from "./types";
import { Button, Choice, ErrorBox, Note, readJson } from "./ui";

export interface SheetProps {
  store: Store;
  view: string;
  row: Row | undefined;
  answer: Checkpoint | null;
  onClose: () => void;
  /** An act began well: `select` is a checkpoint to go to. */
  onDone: (select: string | null, news: string) => void;
  act: <T>(kind: string, body: Record<string, unknown>) => Promise<T>;
}

interface FrameProps {
  name: string;
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  buttons: ComponentChildren;
  /** What stands at the foot's other end. */
  aside?: ComponentChildren;
}

/** A sheet in the inspector's place; not modal, the tree stays usable. */
export function Frame({ name, title, onClose, children, buttons, aside }: FrameProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const find = (what: string) => box.current?.querySelector<HTMLElement>(what);
    const first = find("textarea") ?? find("input:checked, input, select, button") ?? box.current;
    first?.focus({ preventScroll: true });
  }, []);
  return (
    <div
      class="ckv-sheet"
      role="dialog"
      aria-modal="false"
      aria-label={name}
      tabIndex={-1}
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.isComposing) return;
        event.preventDefault();
        onClose();
      }}
    >
      <h3>{title}</h3>
      <div class="ckv-sheetbody">{children}</div>
      <div class="ckv-foot">
        {aside}
        <div class="ckv-row-end">{buttons}</div>
      </div>
    </div>
  );
}

export function where(row: Row | undefined): string {
  return row?.step === null || row?.step === undefined ? "the selected checkpoint" : `step ${row.step}`;
}

export function ReplaySheet(props: SheetProps & { onPlay: () => void }) {
  const { store, row, view } = props;
  const [mode, setMode] = useState<"recorded" | "live">("live");
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [busy, setBusy] = useState(false);
  const id = row?.unfinished?.parent ?? row?.id ?? null;
  useEffect(() => {
    let alive = true;
    setPlan(null);
    store.ask<Plan>("replay_plan", { checkpoint: id }).then(
      (got) => alive && setPlan(got),
      (reason) => alive && setError(asKernelError(reason)),
    );
    return () => {
      alive = false;
    };
  }, [id]);
  const go = async () => {
    if (busy) return;
    if (mode === "recorded") {
      props.onPlay();
      return;
    }
    setBusy(true);
    try {
      await props.act("replay", { checkpoint: id, mode: "live" });
      props.onDone(null, "The replay runs.");
    } catch (reason) {
      setError(asKernelError(reason));
      setBusy(false);
    }
  };
  const can = store.hello.value?.can.replay;
  const why = mode === "live" && can && !can.ok ? (can.why ?? "This source can't replay.") : null;
  return (
    <Frame
      name="Replay"
      title={`Replay from ${where(row)}`}
      onClose={props.onClose}
      aside={<CopyCode store={store} what="replay" body={() => ({ checkpoint: id })} />}
      buttons={
        <>
          <Button label="Cancel" kind="quiet" onPress={props.onClose} />
          <Button label="Replay" icon="replay" kind="main" why={why} onPress={() => void go()} />
        </>
      }
    >
      <Choice
        label="How to replay"
        name={`${view}-replay`}
        value={mode}
        options={[
          { value: "live", text: "live" },
          { value: "recorded", text: "recorded" },
        ]}
        onChange={setMode}
      />
      {mode === "recorded" ? (
        <p>Steps through what was recorded. No node runs.</p>
      ) : (
        <>
          <p>These nodes run again, with all they do outside of the graph:</p>
          {plan === null && !error && <p class="ckv-empty">Asking the graph…</p>}
          {plan && <PlanText plan={plan} />}
          <Note>
            Writes a branch of its own to {safe(store.hello.value?.place ?? "this thread")}; the head moves to its end.
          </Note>
        </>
      )}
      {error && <ErrorBox error={error} />}
    </Frame>
  );
}

interface Plan {
  next?: string[];
  again: string[];
  restarts?: string[];
  asks?: string[];
}

function PlanText({ plan }: { plan: Plan }) {
  const next = plan.next ?? [];
  const later = plan.again.filter((node) => !next.includes(node));
  if (plan.again.length === 0) return <p class="ckv-empty">None: nothing follows this checkpoint.</p>;
  return (
    <dl class="ckv-follows">
      {next.length > 0 && (
        <div>
          <dt>first</dt>
          <dd>
            <Names names={next} asks={plan.asks ?? []} restarts={plan.restarts ?? []} />
          </dd>
        </div>
      )}
      {later.length > 0 && (
        <div>
          <dt>{next.length > 0 ? "then maybe" : "maybe"}</dt>
          <dd>
            <Names names={later} asks={plan.asks ?? []} restarts={plan.restarts ?? []} />
          </dd>
        </div>
      )}
    </dl>
  );
}

export function RunSheet(props: SheetProps) {
  const { store, view } = props;
  const first = store.hello.value?.channels.find((one) => !one.routing)?.name;
  const [text, setText] = useState(first ? JSON.stringify({ [first]: "" }) : "{}");
  const [error, setError] = useState<KernelError | null>(null);
  const [busy, setBusy] = useState(false);
  const read = readJson(text);
  const go = async () => {
    if (busy || !read.ok) return;
    setBusy(true);
    try {
      await props.act("run", { input_json: text });
      props.onDone(null, "The run started.");
    } catch (reason) {
      setError(asKernelError(reason));
      setBusy(false);
    }
  };
  return (
    <Frame
      name="Run"
      title="Run with new input"
      onClose={props.onClose}
      aside={
        <CopyCode
          store={store}
          what="run"
          body={() => ({ input_json: text })}
          why={read.ok ? null : `Not JSON yet: ${read.why}`}
        />
      }
      buttons={
        <>
          <Button label="Cancel" kind="quiet" onPress={props.onClose} />
          <Button
            label="Run"
            kind="main"
            why={read.ok ? null : `Not JSON yet: ${read.why}`}
            onPress={() => void go()}
          />
        </>
      }
    >
      <div class="ckv-form">
        <label for={`${view}-input`}>Input</label>
        <textarea
          id={`${view}-input`}
          class="ckv-code"
          rows={6}
          spellcheck={false}
          aria-invalid={read.ok ? undefined : "true"}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <p class={`ckv-hint${read.ok ? "" : " ckv-bad"}`}>
          {read.ok
            ? `JSON, given to the graph from the thread's head on. Written to ${safe(store.hello.value?.place ?? "the thread")}.`
            : `Not JSON yet: ${read.why}`}
        </p>
      </div>
      {error && <ErrorBox error={error} />}
    </Frame>
  );
}

const FORMATS = [
  { value: "html", text: "HTML page" },
  { value: "svg", text: "SVG picture" },
  { value: "dot", text: "DOT, for Graphviz" },
  { value: "json", text: "JSON" },
] as const;

export function ExportSheet(props: SheetProps) {
  const [format, setFormat] = useState<"html" | "svg" | "dot" | "json">("html");
  const [path, setPath] = useState<string | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const go = async () => {
    setError(null);
    try {
      setPath((await props.store.ask<{ path: string }>("export", { format })).path);
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  return (
    <Frame
      name="Export"
      title="Export this thread"
      onClose={props.onClose}
      buttons={
        <>
          <Button label="Close" kind="quiet" onPress={props.onClose} />
          <Button label="Export" icon="down" kind="main" onPress={() => void go()} />
        </>
      }
    >
      <Choice label="Format" name={`${props.view}-format`} value={format} options={FORMATS} onChange={setFormat} />
      <p>
        {format === "html"
          ? "One file for any browser, offline: everything but acting."
          : "The kernel writes the file."}
      </p>
      {path && (
        <p role="status">
          Written to <code>{safe(path)}</code>
        </p>
      )}
      {error && <ErrorBox error={error} />}
    </Frame>
  );
}

const KEYS: readonly [string, string][] = [
  ["↑ ↓", "newer, older (newest is at the top)"],
  ["PgUp PgDn Home End", "further"],
  ["Shift ← →", "parent, newest child"],
  ["Enter Esc", "to the panel, back to the tree"],
  ["→ ←", "open what a row holds (a nested graph, a folded branch), close it; from cell to cell"],
  ["Space", "mark A, then B: what the diff compares"],
  ["f r", "open Fork, Replay (neither runs at once)"],
  ["d", "show the diff"],
  ["e i", "next error, next question"],
  ["b p", "on a value: who wrote it, pin its path; on a row: go to what changed there"],
  ["[ ]", "previous, next change of the pinned path"],
  ["/", "search (“node:plan messages~refund”, “go to 14”); Enter goes to the next hit"],
  ["?", "this help"],
];

export function HelpSheet(props: { onClose: () => void; letters: Signal<boolean> }) {
  return (
    <Frame
      name="Help"
      title="Keys"
      onClose={props.onClose}
      buttons={<Button label="Close" kind="main" onPress={props.onClose} />}
    >
      <dl class="ckv-keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="ckv-check">
        <input
          type="checkbox"
          checked={props.letters.value}
          onChange={(event) => {
            props.letters.value = event.currentTarget.checked;
          }}
        />
        Single letters act while a row has the focus
      </label>
      <Note>
        The time slider's right end is the newest step. A filled dot is a step, a ring a fork, a diamond an edit.
      </Note>
    </Frame>
  );
}
