import { CopyCode } from "./code";
import { count, safe } from "./format";
import { Button } from "./ui";
import type { View } from "./view";

/** What holds for the whole thread now: a scratch copy, new code, what the last act did. */
export function Strips({ view }: { view: View }) {
  return (
    <>
      <LockStrip view={view} />
      <ScratchStrip view={view} />
      <ChangesStrip view={view} />
      <AfterStrip view={view} />
    </>
  );
}

function LockStrip({ view }: { view: View }) {
  const why = view.locked;
  if (why === null || !view.lockTold.value) return null;
  return (
    <div class="ckv-banner" role="note">
      <span>
        <b>Read-only.</b> {safe(why)}
      </span>
      <Button
        label="Dismiss"
        icon="close"
        bare
        kind="quiet"
        onPress={() => {
          view.lockTold.value = false;
        }}
      />
    </div>
  );
}

function ScratchStrip({ view }: { view: View }) {
  const scratch = view.store.hello.value?.scratch;
  if (!scratch) return null;
  return (
    <div class="ckv-banner ckv-scratch" role="note">
      {scratch.recorded ? (
        <span>
          <b>This graph has no checkpointer</b>, so nothing of its runs was kept. Runs that you start here are recorded
          in memory. To keep all: <code>compile(checkpointer=InMemorySaver())</code>
        </span>
      ) : (
        <span>
          <b>Scratch copy{scratch.thread ? ` of thread ${safe(scratch.thread)}` : ""}</b> in memory. Nodes really run;{" "}
          the history itself stays as it is.
        </span>
      )}
      {scratch.back && <Button label="Back to the thread" icon="back" onPress={() => void view.leaveScratch()} />}
    </div>
  );
}

function ChangesStrip({ view }: { view: View }) {
  const { store } = view;
  const changes = store.hello.value?.changes;
  if (!changes || store.changesSeen.value === changes) return null;
  const { gone, waiting } = changes;
  const stuck = waiting.find((id) => store.row(id));
  return (
    <div class={`ckv-banner${gone.length ? " ckv-banner-warn" : ""}`} role="status">
      <span>
        <b>New code, old history.</b> {changes.new.length > 0 && `New: ${changes.new.map(safe).join(", ")}. `}
        {gone.length > 0 && `Gone: ${gone.map(safe).join(", ")}. `}
        {gone.length + changes.new.length === 0 && "The nodes have the same names; runs use the new code. "}
        {waiting.length > 0 && `Nothing runs on from ${count(waiting.length, "checkpoint")} where a gone node is next.`}
      </span>
      {stuck && <Button label="Show one" kind="quiet" onPress={() => store.select(stuck)} />}
      <Button label="Dismiss the news" icon="close" bare kind="quiet" onPress={() => view.seenChanges()} />
    </div>
  );
}

const ENDS = {
  done: "The run ended",
  interrupt: "The run waits for an answer",
  breakpoint: "The run holds at a breakpoint",
  stopped: "The run was stopped",
  error: "The run failed",
  running: "The graph runs",
} as const;

function AfterStrip({ view }: { view: View }) {
  const { store } = view;
  const after = store.after.value;
  const version = store.version.value;
  if (!after || version < 0 || store.run.value?.state === "running") return null;
  const { lanes, head } = store;
  const old = after.before && store.row(after.before);
  const moved = old && head !== after.before && !lanes.isAncestor(lanes.index(old.id), lanes.index(head ?? ""));
  const next = store.row(head)?.next ?? [];
  return (
    <div class="ckv-banner ckv-after" role="group" aria-label="The last act">
      <span>
        <b>{after.state ? ENDS[after.state] : "Forked"}.</b>{" "}
        {after.state === "breakpoint" && next.length > 0 && `Next: ${next.map(safe).join(", ")}. `}
        {moved && `The head moved here; it was step ${old.step ?? "?"} of another branch.`}
      </span>
      {after.state === "breakpoint" && (
        <Button
          label="Go on"
          kind="main"
          onPress={() => head && void view.actOnHead("resume", { checkpoint: head, answers: {} })}
        />
      )}
      {moved && (
        <Button
          label="Make the old head the head again"
          icon="undo"
          onPress={() => void view.actOnHead("make_head", { checkpoint: old.id })}
        />
      )}
      <CopyCode store={store} what="last" body={() => ({})} />
      <Button label="Dismiss" icon="close" bare kind="quiet" onPress={() => view.dismissAfter()} />
    </div>
  );
}
