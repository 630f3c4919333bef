import { SearchBox, Selects } from "./bar";
import type { Hits } from "./find";
import { nextHit } from "./search";
import type { Branch } from "./store";
import { Button } from "./ui";
import type { View } from "./view";

/** The bar above: where one is at the left, what one can do at the right. */
export function Toolbar(props: { view: View; branches: Branch[]; found: Hits }) {
  const { view, branches, found } = props;
  const { store } = view;
  const selected = store.selected.value;
  const set = store.hello.value?.breakpoints;
  const points = (set?.before.length ?? 0) + (set?.after.length ?? 0);
  return (
    <div class="ckv-bar" role="toolbar" aria-label="Explorer">
      <Selects
        store={store}
        branches={branches}
        tip={view.tip.value}
        row={selected}
        onTip={(id) => {
          view.tip.value = id;
          if (id) view.pick(id, 1);
        }}
      />
      <SearchBox
        input={view.search}
        query={view.query.value}
        found={found}
        onQuery={(text) => {
          view.query.value = text;
        }}
        onGo={(back) => view.jumpTo(nextHit(found.ids, selected, back))}
        onFirst={() => view.jumpTo(found.ids.at(-1))}
        onLeave={() => view.focusTree()}
      />
      <span class="ckv-space" />
      <Acts view={view} />
      <span class="ckv-group">
        <Button
          label="Breakpoints"
          icon="dot"
          bare
          filled={points > 0}
          kind={points > 0 ? "alert" : "quiet"}
          title={points > 0 ? `Breakpoints: ${points} set` : "Breakpoints"}
          why={view.why("replay")}
          onPress={() => view.openSheet("breakpoints")}
        />
        <Button
          label="Scratch"
          icon="flask"
          bare
          kind="quiet"
          title="Try on a scratch copy: this history stays as it is"
          why={view.why("scratch") ?? (store.hello.value?.thread === null ? "Pick a thread first." : null)}
          onPress={() => void view.enterScratch()}
        />
        <Button label="Export" icon="down" bare kind="quiet" onPress={() => view.openSheet("export")} />
        <Button
          label="Theme"
          icon="theme"
          bare
          kind="quiet"
          title={`Theme: ${view.theme.value}`}
          onPress={() => view.nextTheme()}
        />
        <Button label="Help" icon="help" bare kind="quiet" onPress={() => view.openSheet("help")} />
      </span>
    </div>
  );
}

function Acts({ view }: { view: View }) {
  const { store } = view;
  const version = store.version.value;
  const anyWaits = store.forest.asks && version >= 0;
  const noThread = store.hello.value?.thread === null ? "Pick a thread first." : null;
  const noRow = view.row ? null : "Select a checkpoint first.";
  const noQuestion = anyWaits || view.goesOn ? null : "Nothing waits here.";
  const stopWhy = view.why("stop") ?? (view.running ? null : "Nothing runs now.");
  return (
    <>
      <Button label="Fork" icon="fork" why={view.why("fork") ?? noRow} onPress={() => view.openSheet("fork")} />
      <Button label="Replay" icon="replay" why={view.why("replay") ?? noRow} onPress={() => view.openSheet("replay")} />
      <Button
        label="Resume"
        icon="pause"
        kind={anyWaits && view.why("resume") === null ? "wait" : "plain"}
        why={view.why("resume") ?? noQuestion}
        onPress={() => view.goToQuestion()}
      />
      <Button label="Run" icon="run" why={view.why("run") ?? noThread} onPress={() => view.openSheet("run")} />
      <Button
        label="Stop"
        icon="stop"
        bare={stopWhy !== null}
        kind={stopWhy === null ? "plain" : "quiet"}
        why={stopWhy}
        onPress={() => void view.stop()}
      />
    </>
  );
}
