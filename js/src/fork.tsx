import { useState } from "preact/hooks";
import { safe } from "./format";
import { Frame, type SheetProps, where } from "./sheets";
import { EntryView } from "./state";
import { asKernelError } from "./store";
import type { KernelError } from "./transport";
import type { PreviewAnswer } from "./types";
import { Button, Choice, ErrorBox, Note, readJson, readValues } from "./ui";

const MODES = [
  { value: "reduce", text: "through the reducer" },
  { value: "replace", text: "replace" },
] as const;

/** What the sheet holds: the edited values, how they are written, and what the graph says to them. */
function useFork({ store, row, answer, act, onDone }: SheetProps) {
  const [text, setText] = useState("{}");
  const [asNode, setAsNode] = useState("");
  const [replace, setReplace] = useState<Record<string, boolean>>({});
  const [preview, setPreview] = useState<PreviewAnswer | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [busy, setBusy] = useState("");
  const channels = store.hello.value?.channels ?? [];
  const read = readValues(text);
  const values = read.ok ? (read.value as Record<string, unknown>) : {};
  const named = Object.keys(values);
  const reducers = channels.filter((one) => one.reducer !== null && named.includes(one.name));
  const body = () => ({
    checkpoint: row?.unfinished?.parent ?? row?.id ?? null,
    values,
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
  return {
    text,
    asNode,
    replace,
    preview,
    error,
    busy,
    read,
    reducers,
    unknown: named.filter((name) => !channels.some((one) => one.name === name)),
    others: channels.filter((one) => !one.routing && !named.includes(one.name)),
    why: read.ok ? (busy ? "Wait for the kernel's answer." : null) : `The values are not JSON yet: ${read.why}`,
    setText: (to: string) => change(() => setText(to)),
    setAsNode: (to: string) => change(() => setAsNode(to)),
    setReplace: (name: string, on: boolean) => change(() => setReplace({ ...replace, [name]: on })),
    insert: (name: string) => {
      const found = answer?.state.find((entry) => entry.k === name);
      const now = found && !found.more ? readJson(found.s) : null;
      const value = now?.ok ? now.value : startValue(found?.t);
      change(() => setText(JSON.stringify({ ...values, [name]: value }, null, 2)));
    },
    ask: () => attempt("preview", async () => setPreview(await store.ask<PreviewAnswer>("preview", body()))),
    fork: (run: boolean) =>
      attempt("fork", async () => {
        const { checkpoint } = await act<{ checkpoint: string }>("fork", { ...body(), run });
        onDone(checkpoint, run ? "Forked; the branch runs." : "Forked. The head moved to the new checkpoint.");
      }),
  };
}

type ForkState = ReturnType<typeof useFork>;

export function ForkSheet(props: SheetProps) {
  const fork = useFork(props);
  const { why } = fork;
  return (
    <Frame
      name="Fork"
      title={`Fork at ${where(props.row)}`}
      onClose={props.onClose}
      buttons={
        <>
          <Button label="Cancel" kind="quiet" onPress={props.onClose} />
          <Button label="Preview" why={why} onPress={() => void fork.ask()} />
          <Button label="Fork" icon="fork" why={why} onPress={() => void fork.fork(false)} />
          <Button label="Fork and run" kind="main" why={why} onPress={() => void fork.fork(true)} />
        </>
      }
    >
      <div class="ckv-two">
        <div class="ckv-form">
          <ValuesField fork={fork} id={`${props.view}-values`} />
          <WaysToWrite fork={fork} view={props.view} />
          <AsNode fork={fork} id={`${props.view}-asnode`} nodes={props.store.hello.value?.nodes ?? []} />
        </div>
        <Preview fork={fork} />
      </div>
      <Note>Writes one checkpoint to this thread; the head moves to it. The old branch stays.</Note>
    </Frame>
  );
}

function ValuesField({ fork, id }: { fork: ForkState; id: string }) {
  const { read, unknown } = fork;
  return (
    <>
      <label for={id}>Values</label>
      <textarea
        id={id}
        class="ckv-code"
        rows={5}
        spellcheck={false}
        aria-invalid={read.ok ? undefined : "true"}
        aria-describedby={`${id}-hint`}
        value={fork.text}
        onInput={(event) => fork.setText(event.currentTarget.value)}
      />
      <p class={`ckv-hint${read.ok && unknown.length === 0 ? "" : " ckv-bad"}`} id={`${id}-hint`}>
        {!read.ok && `Not JSON yet: ${read.why}`}
        {read.ok && unknown.length > 0 && `Not a channel: ${unknown.map(safe).join(", ")}`}
        {read.ok && unknown.length === 0 && "Only the channels named here are written."}
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
        <div key={one.name} class="ckv-field">
          <span class="ckv-label">
            Write <b class="ckv-mono">{safe(one.name)}</b> <i>{safe(one.reducer ?? "")}</i>
          </span>
          <Choice
            label={`Write ${one.name}`}
            name={`${view}-w-${one.name}`}
            value={fork.replace[one.name] ? "replace" : "reduce"}
            options={MODES}
            onChange={(mode) => fork.setReplace(one.name, mode === "replace")}
          />
        </div>
      ))}
    </>
  );
}

function AsNode({ fork, id, nodes }: { fork: ForkState; id: string; nodes: string[] }) {
  const { asNode } = fork;
  return (
    <>
      <label for={id}>As node</label>
      <select id={id} class="ckv-select" value={asNode} onChange={(event) => fork.setAsNode(event.currentTarget.value)}>
        <option value="">as it was (what was next runs again)</option>
        {nodes.map((node) => (
          <option key={node} value={node}>
            {node}
          </option>
        ))}
      </select>
      <p class="ckv-hint">
        {asNode
          ? `Pretends that ${asNode} returned these values: what follows ${asNode} runs next.`
          : "Redoes what follows this checkpoint, with changed values."}
      </p>
    </>
  );
}

function Preview({ fork }: { fork: ForkState }) {
  const { busy, error, preview } = fork;
  return (
    <section class="ckv-preview" aria-label="Preview" aria-busy={busy === "preview"}>
      <span class="ckv-label">Preview</span>
      <div class="ckv-pv">
        {error && <ErrorBox error={error} />}
        {!preview && !error && (
          <p class="ckv-empty">
            {busy === "preview" ? "Asking the graph…" : "Preview runs the graph's routers and writes nothing."}
          </p>
        )}
        {preview && <PreviewBody preview={preview} />}
      </div>
    </section>
  );
}

function startValue(type: string | undefined): unknown {
  if (type === "list" || type === "tuple" || type === "set") return [];
  if (type === "dict") return {};
  if (type === "int" || type === "float") return 0;
  if (type === "bool") return false;
  return "";
}

function PreviewBody({ preview }: { preview: PreviewAnswer }) {
  return (
    <>
      {preview.values.map((entry) => (
        <EntryView key={entry.k} store={null} id="preview" entry={entry} level={0} />
      ))}
      <div class="ckv-kv">
        <b>next</b>
        <span class="ckv-val">{preview.next.map(safe).join(", ") || "nothing"}</span>
      </div>
      <div class="ckv-kv">
        <b>runs again</b>
        <span class="ckv-val">{preview.again.map(safe).join(", ") || "nothing"}</span>
      </div>
      {preview.dead_end && <p class="ckv-warn">A dead end: no node runs after this.</p>}
      {preview.notes.map((note) => (
        <p key={note} class="ckv-warn">
          {safe(note)}
        </p>
      ))}
    </>
  );
}
