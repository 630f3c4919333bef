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

export function ForkSheet(props: SheetProps) {
  const { store, view, row, answer } = props;
  const hello = store.hello.value;
  const [text, setText] = useState("{}");
  const [asNode, setAsNode] = useState("");
  const [replace, setReplace] = useState<Record<string, boolean>>({});
  const [preview, setPreview] = useState<PreviewAnswer | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [busy, setBusy] = useState("");
  const read = readValues(text);
  const values = read.ok ? (read.value as Record<string, unknown>) : {};
  const named = Object.keys(values);
  const reducers = (hello?.channels ?? []).filter((one) => one.reducer !== null && named.includes(one.name));
  const unknown = named.filter((name) => !hello?.channels.some((one) => one.name === name));
  const id = row?.unfinished?.parent ?? row?.id ?? null;
  const body = () => ({
    checkpoint: id,
    values,
    as_node: asNode === "" ? null : asNode,
    replace: reducers.filter((one) => replace[one.name]).map((one) => one.name),
  });
  const doPreview = async () => {
    setBusy("preview");
    setError(null);
    try {
      setPreview(await store.ask<PreviewAnswer>("preview", body()));
    } catch (reason) {
      setPreview(null);
      setError(asKernelError(reason));
    }
    setBusy("");
  };
  const doFork = async (run: boolean) => {
    if (busy) return;
    setBusy("fork");
    setError(null);
    try {
      const done = await props.act<{ checkpoint: string }>("fork", { ...body(), run });
      props.onDone(done.checkpoint, run ? "Forked; the branch runs." : "Forked. The head moved to the new checkpoint.");
    } catch (reason) {
      setError(asKernelError(reason));
      setBusy("");
    }
  };
  const why = read.ok ? (busy ? "Wait for the kernel's answer." : null) : `The values are not JSON yet: ${read.why}`;
  const insert = (name: string) => {
    const found = answer?.state.find((entry) => entry.k === name);
    const now = found && !found.more ? readJson(found.s) : null;
    const next = { ...values, [name]: now?.ok ? now.value : startValue(found?.t) };
    setText(JSON.stringify(next, null, 2));
  };
  return (
    <Frame
      name="Fork"
      title={`Fork at ${where(row)}`}
      onClose={props.onClose}
      buttons={
        <>
          <Button label="Cancel" kind="quiet" onPress={props.onClose} />
          <Button label="Preview" why={why} onPress={() => void doPreview()} />
          <Button label="Fork" icon="fork" why={why} onPress={() => void doFork(false)} />
          <Button label="Fork and run" kind="main" why={why} onPress={() => void doFork(true)} />
        </>
      }
    >
      <div class="ckv-two">
        <div class="ckv-form">
          <label for={`${view}-values`}>Values</label>
          <textarea
            id={`${view}-values`}
            class="ckv-code"
            rows={5}
            spellcheck={false}
            aria-invalid={read.ok ? undefined : "true"}
            aria-describedby={`${view}-values-hint`}
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setPreview(null);
            }}
          />
          <p class={`ckv-hint${read.ok && unknown.length === 0 ? "" : " ckv-bad"}`} id={`${view}-values-hint`}>
            {!read.ok && `Not JSON yet: ${read.why}`}
            {read.ok && unknown.length > 0 && `Not a channel: ${unknown.map(safe).join(", ")}`}
            {read.ok && unknown.length === 0 && "Only the channels named here are written."}
          </p>
          <div class="ckv-chips">
            {(hello?.channels ?? [])
              .filter((one) => !one.routing && !named.includes(one.name))
              .slice(0, 12)
              .map((one) => (
                <button type="button" key={one.name} class="ckv-chip" onClick={() => insert(one.name)}>
                  + {safe(one.name)}
                </button>
              ))}
          </div>
          {reducers.map((one) => (
            <div key={one.name} class="ckv-field">
              <span class="ckv-label">
                Write <b class="ckv-mono">{safe(one.name)}</b> <i>{safe(one.reducer ?? "")}</i>
              </span>
              <Choice
                label={`Write ${one.name}`}
                name={`${view}-w-${one.name}`}
                value={replace[one.name] ? "replace" : "reduce"}
                options={MODES}
                onChange={(mode) => {
                  setReplace({ ...replace, [one.name]: mode === "replace" });
                  setPreview(null);
                }}
              />
            </div>
          ))}
          <label for={`${view}-asnode`}>As node</label>
          <select
            id={`${view}-asnode`}
            class="ckv-select"
            value={asNode}
            onChange={(event) => {
              setAsNode(event.currentTarget.value);
              setPreview(null);
            }}
          >
            <option value="">as it was (what was next runs again)</option>
            {(hello?.nodes ?? []).map((node) => (
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
        </div>
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
      </div>
      <Note>Writes one checkpoint to this thread; the head moves to it. The old branch stays.</Note>
    </Frame>
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
