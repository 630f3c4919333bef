import { useEffect, useRef } from "preact/hooks";
import { reveal } from "./edits";
import { nodeText, safe } from "./format";
import { DiffParts } from "./panels";
import { EntryView } from "./state";
import type { KernelError } from "./transport";
import type { PreviewAnswer } from "./types";
import { ErrorBox } from "./ui";

/** What a fork would give: what differs, what runs, what to know before. */
export function Preview(props: { preview: PreviewAnswer | null; error: KernelError | null; busy: boolean }) {
  const { busy, error, preview } = props;
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (preview || error) reveal(box.current);
  }, [preview, error]);
  return (
    <section ref={box} class="ckv-preview" aria-label="Preview" aria-busy={busy}>
      <span class="ckv-label">Preview</span>
      <div class={`ckv-pv${preview ? " ckv-pv-full" : ""}`}>
        {error && <ErrorBox error={error} />}
        {!preview && !error && (
          <p class="ckv-empty">
            {busy
              ? "Asking the graph…"
              : "Press Preview: your reducers and routers run on a copy, and nothing is written."}
          </p>
        )}
        {preview && <Body preview={preview} />}
      </div>
    </section>
  );
}

function Body({ preview }: { preview: PreviewAnswer }) {
  const changed = preview.diff?.parts.filter((part) => part.op !== "same") ?? [];
  const { asks = [], restarts = [] } = preview;
  return (
    <>
      {changed.length > 0 ? <DiffParts parts={changed} /> : <p class="ckv-empty">The state stays as it is.</p>}
      {preview.dead_end ? (
        <p class="ckv-warn">
          <b>A dead end:</b> no node runs after this. Choose “As node” to say whose edges are followed.
        </p>
      ) : (
        <dl class="ckv-follows">
          <div>
            <dt>next</dt>
            <dd>
              <Names names={preview.next} />
            </dd>
          </div>
          <div>
            <dt>may run again</dt>
            <dd>
              <Names names={preview.again} asks={asks} restarts={restarts} />
            </dd>
          </div>
        </dl>
      )}
      <details class="ckv-details">
        <summary>The whole state after it</summary>
        {preview.values.map((entry) => (
          <EntryView key={entry.k} store={null} id="preview" entry={entry} level={1} />
        ))}
      </details>
      {preview.notes.map((note) => (
        <p key={note} class="ckv-hint">
          {safe(note)}
        </p>
      ))}
    </>
  );
}

/** Nodes in a row, each with what is to be known of it. */
export function Names(props: { names: string[]; asks?: string[]; restarts?: string[] }) {
  if (props.names.length === 0) return <span class="ckv-muted">nothing</span>;
  return (
    <span class="ckv-nodes">
      {[...new Set(props.names)].map((name) => (
        <span key={name} class="ckv-node">
          <code dir="auto">{nodeText(props.names.filter((one) => one === name).map(safe))}</code>
          {props.restarts?.includes(name) && <i>from its first node</i>}
          {props.asks?.includes(name) && <i class="ckv-warn">asks again</i>}
        </span>
      ))}
    </span>
  );
}
