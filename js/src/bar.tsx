import type { Hits } from "./find";
import { safe } from "./format";
import type { Branch, Store } from "./store";
import type { KernelError } from "./transport";
import { Button, ErrorBox } from "./ui";

export function Selects(props: {
  store: Store;
  branches: Branch[];
  tip: string | null;
  row: string | null;
  onTip: (id: string | null) => void;
}) {
  const { store, branches } = props;
  const hello = store.hello.value;
  const thread = hello?.thread ?? "";
  const threads = hello?.threads ?? [];
  const known = threads.some((one) => one.id === thread);
  const shown = branches.slice(-200);
  return (
    <span class="ckv-group">
      <span class="ckv-pick">
        <span aria-hidden="true">thread</span>
        <select
          aria-label="Thread"
          value={thread}
          onChange={(event) => void store.openThread(event.currentTarget.value || null, "")}
        >
          {!known && <option value={thread}>{thread || "none"}</option>}
          {hello?.thread_count !== 1 && (hello?.thread_count === null || threads.length > 1) && thread && (
            <option value="">all threads…</option>
          )}
          {threads.map((one) => (
            <option key={one.id} value={one.id}>
              {safe(one.id)}
              {one.id !== thread && one.status && one.status !== "done" && one.status !== "can go on"
                ? ` (${one.status})`
                : ""}
            </option>
          ))}
        </select>
      </span>
      <span class={`ckv-pick${(hello?.namespaces.length ?? 0) < 2 ? " ckv-lone" : ""}`}>
        <select
          aria-label="Namespace"
          value={hello?.ns ?? ""}
          onChange={(event) => void store.openThread(thread, event.currentTarget.value)}
        >
          {(hello?.namespaces.length ? hello.namespaces : [""]).map((ns) => (
            <option key={ns} value={ns}>
              {ns === "" ? "root" : safe(ns)}
            </option>
          ))}
        </select>
      </span>
      <span class={`ckv-pick${branches.length < 2 ? " ckv-lone" : ""}`}>
        <span aria-hidden="true">branch</span>
        <select
          aria-label="Branch"
          value={props.tip ?? ""}
          onChange={(event) => props.onTip(event.currentTarget.value || null)}
        >
          <option value="">head's</option>
          {shown.map((one) => (
            <option key={one.chain} value={store.rows[one.tip]?.id ?? ""}>
              {one.name}
              {one.forkedFrom === null ? "" : `, from step ${one.forkedFrom}`}
            </option>
          ))}
        </select>
      </span>
    </span>
  );
}

export function SearchBox(props: {
  input: { current: HTMLInputElement | null };
  query: string;
  found: Hits;
  onQuery: (text: string) => void;
  onGo: (back: boolean) => void;
  /** To the oldest hit. */
  onFirst: () => void;
  onLeave: () => void;
}) {
  const { hits, ids, problem, searching } = props.found;
  return (
    <span class="ckv-search">
      <input
        ref={props.input}
        type="search"
        aria-label="Search checkpoints"
        placeholder="Search"
        title="A text, or node:plan messages~text"
        aria-invalid={problem ? "true" : undefined}
        aria-description={problem ?? undefined}
        spellcheck={false}
        value={props.query}
        onInput={(event) => props.onQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Enter") props.onGo(event.shiftKey);
          else if (event.key === "Escape") {
            props.onQuery("");
            props.onLeave();
          } else return;
          event.preventDefault();
        }}
      />
      {hits && (
        <span class={`ckv-hits${problem ? " ckv-bad" : ""}`} role="status" title={problem ?? undefined}>
          {problem
            ? "not understood"
            : ids.length === 0 && !searching
              ? "nothing"
              : `${ids.length}${searching ? "…" : ""}`}
        </span>
      )}
      {ids.length > 1 && !searching && (
        <button
          type="button"
          class="ckv-link"
          title="The first checkpoint where this appears"
          aria-label="First checkpoint where this appears"
          onClick={props.onFirst}
        >
          first
        </button>
      )}
    </span>
  );
}

export function Banners({
  store,
  error,
  onDismiss,
}: {
  store: Store;
  error: KernelError | null;
  onDismiss: () => void;
}) {
  const run = store.run.value;
  const failed = run?.state === "error" && run.error;
  return (
    <>
      {store.closed.value && (
        <div class="ckv-banner ckv-banner-warn">{store.closed.value} What was loaded stays here to read.</div>
      )}
      {store.slow.value && !store.closed.value && (
        <div class="ckv-banner" role="status">
          waits for the running cell
        </div>
      )}
      {error && (
        <div class="ckv-banner ckv-banner-bad">
          <ErrorBox error={error} />
          <Button label="Dismiss" kind="quiet" onPress={onDismiss} />
        </div>
      )}
      {failed && (
        <div class="ckv-banner ckv-banner-bad">
          <RunError failed={failed} />
          <Button
            label="Dismiss"
            kind="quiet"
            onPress={() => {
              onDismiss();
              store.run.value = null;
            }}
          />
        </div>
      )}
    </>
  );
}

function RunError({ failed }: { failed: string | { type?: string; message?: string; traceback?: string } }) {
  const parts = typeof failed === "string" ? { message: failed } : failed;
  return (
    <div class="ckv-error" role="alert">
      <b>The run failed: {parts.type ?? ""}</b> <span>{safe(parts.message ?? "")}</span>
      {parts.traceback && (
        <details>
          <summary>Traceback</summary>
          <pre>{parts.traceback}</pre>
        </details>
      )}
    </div>
  );
}
