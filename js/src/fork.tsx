import { useEffect, useMemo, useState } from "preact/hooks";
import { CopyCode } from "./code";
import { EditContext, Edits } from "./edits";
import { middle, nodeText, safe } from "./format";
import { Preview } from "./preview";
import { Frame, type SheetProps, where } from "./sheets";
import { EntryView } from "./state";
import { asKernelError, type Forked } from "./store";
import type { KernelError } from "./transport";
import type { ChannelInfo, Checkpoint, PreviewAnswer } from "./types";
import { Button, Choice, Note, readJson, readValues } from "./ui";

const MODES = [
  { value: "reduce", text: "through the reducer" },
  { value: "replace", text: "replace" },
] as const;

/** What is meant: change this state; run the node that made it again; say that it returned something else. */
type Meaning = "here" | "redo" | "pretend";

/** What the sheet holds: the base, the edited values, how they are written, and what the graph says to them. */
function useFork(props: SheetProps) {
  const { store, row, act, onDone } = props;
  const here = row?.unfinished?.parent ?? row?.id ?? null;
  const made = useMemo(() => (row ? [...new Set(row.nodes)].filter((node) => !node.startsWith("__")) : []), [row?.id]);
  const parent = row?.unfinished || row?.source !== "loop" ? null : (row?.parent ?? null);
  const [meaning, setMeaning] = useState<Meaning>("here");
  const base = meaning === "here" ? here : parent;
  const [text, setText] = useState("{}");
  const [asNode, setAsNode] = useState("");
  const [replace, setReplace] = useState<Record<string, boolean>>({});
  const [preview, setPreview] = useState<PreviewAnswer | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [busy, setBusy] = useState("");
  const state = useBase(props, base);
  const edits = useMemo(() => new Edits(store, base ?? "", () => setPreview(null)), [base, meaning]);
  const channels = store.hello.value?.channels ?? [];
  const read = readValues(text);
  const values = read.ok ? (read.value as Record<string, unknown>) : {};
  const named = Object.keys(values);
  const edited = edits.channels;
  const twice = named.filter((name) => edited.includes(name));
  const reducers = channels.filter((one) => one.reducer !== null && [...named, ...edited].includes(one.name));
  const body = () => ({
    checkpoint: base,
    values_json: text.trim() === "" ? "{}" : text,
    edits: edits.list.peek(),
    as_node: asNode === "" ? null : asNode,
    replace: reducers.filter((one) => replace[one.name]).map((one) => one.name),
  });
  /** A change of the form: what the graph said before no longer holds. */
  const change = (set: () => void) => {
    set();
    setPreview(null);
  };
  const attempt = async (what: string, go: () => Promise<void>) => {
    if (busy) return;
    setBusy(what);
    setError(null);
    try {
      await go();
    } catch (reason) {
      setPreview(null);
      setError(asKernelError(reason));
    }
    setBusy("");
  };
  const fill = (json: string) => change(() => setText(json));
  const why = () => {
    if (!read.ok) return `The values are not JSON yet: ${read.why}`;
    if (twice.length > 0) return `${twice.join(", ")}: edited in place and named in Values. Keep one of them.`;
    if (edits.open.value !== null) return "Set the value that is being written first, or leave it.";
    return busy ? "Wait for the kernel's answer." : null;
  };
  return {
    made,
    parent,
    meaning,
    base,
    baseRow: store.row(base) ?? row,
    state,
    edits,
    edited,
    text,
    asNode,
    replace,
    preview,
    error,
    busy,
    read,
    reducers,
    twice,
    body,
    unknown: named.filter((name) => !channels.some((one) => one.name === name)),
    others: channels.filter((one) => !one.routing && !named.includes(one.name) && !edited.includes(one.name)),
    why: why(),
    setText: fill,
    setAsNode: (to: string) => change(() => setAsNode(to)),
    setReplace: (name: string, on: boolean) => change(() => setReplace({ ...replace, [name]: on })),
    setMeaning: (to: Meaning) => {
      const node = to === "pretend" ? (made[0] ?? "") : "";
      change(() => {
        setMeaning(to);
        setAsNode(node);
        setText("{}");
      });
      if (to === "pretend")
        void attempt("returned", async () => {
          const got = await store.ask<{ json: string }>("returned", { checkpoint: here, node });
          setText(got.json);
        });
    },
    insert: (name: string) => {
      const found = state?.state.find((entry) => entry.k === name);
      const now = found && !found.more ? readJson(found.s) : null;
      const value = now?.ok ? now.value : startValue(found?.t);
      fill(JSON.stringify({ ...values, [name]: value }, null, 2));
    },
    ask: () => attempt("preview", async () => setPreview(await store.ask<PreviewAnswer>("preview", body()))),
    fork: (run: boolean) =>
      attempt("fork", async () => {
        const key = store.forked(base ?? "", await act<Forked>("fork", { ...body(), run }), run);
        onDone(key, run ? "Forked; the branch runs." : "Forked. The head moved to the new checkpoint.");
      }),
  };
}

type ForkState = ReturnType<typeof useFork>;

/** The panels of the checkpoint that the fork starts from. */
function useBase({ store, answer }: SheetProps, base: string | null): Checkpoint | null {
  const [far, setFar] = useState<Checkpoint | null>(null);
  useEffect(() => {
    let alive = true;
    if (base && base !== answer?.id)
      store.panels(base).then(
        (got) => alive && setFar(got),
        () => undefined,
      );
    return () => {
      alive = false;
    };
  }, [base, answer?.id]);
  if (base === answer?.id) return answer;
  return far?.id === base ? far : null;
}

export function ForkSheet(props: SheetProps & { path: string | null }) {
  const fork = useFork(props);
  const { why, edits } = fork;
  const { store, view } = props;
  useEffect(() => {
    if (props.path) edits.open.value = props.path;
  }, [props.path]);
  return (
    <Frame
      name="Fork"
      title={`Fork at ${where(fork.baseRow)}`}
      onClose={props.onClose}
      aside={<CopyCode store={store} what="fork" body={fork.body} why={why} />}
      buttons={
        <>
          <Button label="Cancel" kind="quiet" onPress={props.onClose} />
          <Button label="Preview" why={why} onPress={() => void fork.ask()} />
          <Button label="Fork" icon="fork" why={why} onPress={() => void fork.fork(false)} />
          <Button label="Fork and run" kind="main" why={why} onPress={() => void fork.fork(true)} />
        </>
      }
    >
      {fork.parent !== null && fork.made.length > 0 && <Meant fork={fork} view={view} />}
      <div class="ckv-two">
        <div class="ckv-form">
          {fork.meaning !== "pretend" && <InPlace fork={fork} store={store} only={props.path} />}
          <ValuesField fork={fork} id={`${view}-values`} />
          <WaysToWrite fork={fork} view={view} />
          <AsNode fork={fork} id={`${view}-asnode`} nodes={store.hello.value?.nodes ?? []} />
        </div>
        <Preview preview={fork.preview} error={fork.error} busy={fork.busy === "preview"} />
      </div>
      <Note>
        Writes 1 checkpoint to {safe(store.hello.value?.place ?? "this thread")}; the head moves to it. The old branch
        stays.
      </Note>
    </Frame>
  );
}

function Meant({ fork, view }: { fork: ForkState; view: string }) {
  const node = middle(nodeText(fork.made), 28);
  const told = {
    here: "Starts after it: what comes next runs with the changed state.",
    redo: `Starts before it: ${node} runs again, with changed input.`,
    pretend: `Starts before it: ${node} does not run, and is said to have returned these values.`,
  };
  return (
    <div class="ckv-field">
      <Choice
        label="What is meant"
        name={`${view}-meaning`}
        value={fork.meaning}
        options={[
          { value: "here", text: "change this state" },
          { value: "redo", text: `redo ${node}` },
          { value: "pretend", text: `pretend ${node} returned` },
        ]}
        onChange={fork.setMeaning}
      />
      <p class="ckv-hint">{told[fork.meaning]}</p>
    </div>
  );
}

/** The state of the base, each value of which can be edited in its place. */
function InPlace({ fork, store, only }: { fork: ForkState; store: SheetProps["store"]; only: string | null }) {
  const { state, edits } = fork;
  const channel = only?.match(/^[^.[]+/)?.[0];
  return (
    <>
      <span class="ckv-label">Edit in place</span>
      <div class="ckv-inplace" role="group" aria-label="Edit in place">
        {!state && <p class="ckv-empty">Asking for the state…</p>}
        {state?.state.length === 0 && <p class="ckv-empty">No values here yet: write them below.</p>}
        {state && (
          <EditContext.Provider value={edits}>
            {state.state.map((entry) => (
              <EntryView
                key={`${state.id}/${entry.k}`}
                store={store}
                id={state.id}
                entry={entry}
                level={entry.k === channel ? 0 : 1}
                opened={entry.k === channel}
              />
            ))}
          </EditContext.Provider>
        )}
      </div>
    </>
  );
}

function ValuesField({ fork, id }: { fork: ForkState; id: string }) {
  const { read, unknown, twice } = fork;
  const problem = !read.ok
    ? `Not JSON yet: ${read.why}`
    : unknown.length > 0
      ? `Not a channel: ${unknown.map(safe).join(", ")}`
      : twice.length > 0
        ? `Edited in place too: ${twice.map(safe).join(", ")}`
        : null;
  return (
    <>
      <label for={id}>Values</label>
      <textarea
        id={id}
        class="ckv-code"
        rows={fork.meaning === "pretend" ? 6 : Math.min(6, Math.max(2, fork.text.split("\n").length))}
        spellcheck={false}
        aria-invalid={read.ok ? undefined : "true"}
        aria-describedby={`${id}-hint`}
        value={fork.text}
        onInput={(event) => fork.setText(event.currentTarget.value)}
      />
      <p class={`ckv-hint${problem === null ? "" : " ckv-bad"}`} id={`${id}-hint`}>
        {problem ?? "JSON by channel. Only the channels named here are written."}
      </p>
      <div class="ckv-chips">
        {fork.others.slice(0, 12).map((one) => (
          <button type="button" key={one.name} class="ckv-chip" onClick={() => fork.insert(one.name)}>
            + {safe(one.name)}
          </button>
        ))}
      </div>
    </>
  );
}

function WaysToWrite({ fork, view }: { fork: ForkState; view: string }) {
  return (
    <>
      {fork.reducers.map((one) => (
        <WayToWrite key={one.name} fork={fork} one={one} view={view} />
      ))}
    </>
  );
}

function WayToWrite({ fork, one, view }: { fork: ForkState; one: ChannelInfo; view: string }) {
  const inPlace = fork.edited.includes(one.name);
  const why = `An edit inside: through ${one.reducer} the whole would be combined with the old once more.`;
  return (
    <div class="ckv-field">
      <span class="ckv-label">
        Write <b class="ckv-mono">{safe(one.name)}</b> <i>{safe(one.reducer ?? "")}</i>
      </span>
      <Choice
        label={`Write ${one.name}`}
        name={`${view}-w-${one.name}`}
        value={inPlace || fork.replace[one.name] ? "replace" : "reduce"}
        options={MODES}
        off={inPlace ? ["reduce"] : []}
        onChange={(mode) => fork.setReplace(one.name, mode === "replace")}
      />
      {inPlace && <p class="ckv-hint">{why}</p>}
    </div>
  );
}

function AsNode({ fork, id, nodes }: { fork: ForkState; id: string; nodes: string[] }) {
  const { asNode, meaning, made } = fork;
  const listed = meaning === "pretend" ? made : nodes;
  return (
    <>
      <label for={id}>As node</label>
      <select id={id} class="ckv-select" value={asNode} onChange={(event) => fork.setAsNode(event.currentTarget.value)}>
        {meaning !== "pretend" && <option value="">as it was (what was next runs again)</option>}
        {listed.map((node) => (
          <option key={node} value={node}>
            {node}
          </option>
        ))}
      </select>
      {asNode && meaning === "here" && (
        <p class="ckv-hint">Pretends that {safe(asNode)} returned these values: what follows it runs next.</p>
      )}
    </>
  );
}

function startValue(type: string | undefined): unknown {
  if (type === "list" || type === "tuple" || type === "set") return [];
  if (type === "dict") return {};
  if (type === "int" || type === "float") return 0;
  if (type === "bool") return false;
  return "";
}
