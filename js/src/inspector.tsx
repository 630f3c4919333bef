import { useEffect } from "preact/hooks";
import { ChannelsPanel } from "./channels";
import { Lazy } from "./lazy";
import { Later } from "./more/load";
import { DiffPanel, RawPanel } from "./panels";
import { Skeleton, type Tab, TabList, Title, tabsOf } from "./places";
import { RowTools } from "./rowtools";
import type { SheetProps } from "./sheets";
import { StatePanel } from "./state";
import type { Branch } from "./store";
import type { Checkpoint } from "./types";
import { Button, ErrorBox } from "./ui";
import type { View } from "./view";
import { WritesPanel } from "./writes";

/** The pane beside the tree: a sheet for an act, else the selected checkpoint in tabs. */
export function Inspector(props: { view: View; branches: Branch[]; slow: boolean }) {
  const { view } = props;
  return (
    <section
      class="ckv-right"
      ref={view.inspector}
      aria-label="Checkpoint"
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) view.leavePanel();
      }}
    >
      {view.narrow.value && <Button label="Back" icon="back" kind="quiet" onPress={() => view.closeSheet()} />}
      {view.sheet.value === null ? <Tabs {...props} /> : <ActSheet view={view} />}
    </section>
  );
}

function ActSheet({ view }: { view: View }) {
  const { store } = view;
  useEffect(() => {
    store.held++;
    return () => {
      store.held--;
    };
  }, []);
  const props: SheetProps = {
    store,
    view: view.id,
    row: view.row,
    answer: store.answer.value,
    onClose: () => view.closeSheet(),
    onDone: (select, news) => view.done(select, news),
    act: view.act,
  };
  const play = () => {
    view.closeSheet();
    view.playing.value = true;
  };
  switch (view.sheet.value) {
    case "fork":
      return (
        <Later
          store={store}
          part="ForkSheet"
          key={`${store.selected.value}${view.editPath.value}`}
          give={{ path: view.editPath.value, ...props }}
        />
      );
    case "replay":
      return <Later key="replay" store={store} part="ReplaySheet" give={{ ...props, onPlay: play }} />;
    case "run":
      return <Later key="run" store={store} part="RunSheet" give={props} />;
    case "breakpoints":
      return <Later key="breaks" store={store} part="BreakpointsSheet" give={props} />;
    case "export":
      return <Later key="export" store={store} part="ExportSheet" give={props} />;
    case "help":
      return (
        <Later key="help" store={store} part="HelpSheet" give={{ letters: view.letters, onClose: props.onClose }} />
      );
    default:
      return null;
  }
}

function Tabs({ view, branches, slow }: { view: View; branches: Branch[]; slow: boolean }) {
  const { store } = view;
  const tabs = tabsOf(store.hello.value?.store);
  const tab = tabs.includes(view.tab.value) ? view.tab.value : "State";
  const answer = store.answer.value;
  const error = store.answerError.value;
  const empty = !answer && !error && store.hello.value && store.rows.length > 0;
  return (
    <>
      <Title store={store} row={view.row} branches={branches} />
      <RowTools view={view} />
      <TabList view={view.id} tabs={tabs} tab={tab} onTab={(name) => view.showTab(name)} />
      <div
        class={`ckv-panel${store.pending.value && slow ? " ckv-stale" : ""}`}
        role="tabpanel"
        id={`${view.id}-panel`}
        aria-labelledby={`${view.id}-tab-${tab}`}
        tabIndex={0}
      >
        {error && <ErrorBox error={error} onRetry={() => store.refresh()} />}
        {empty && slow && <Skeleton slow={store.slow.value} />}
        {answer && <Panel view={view} tab={tab} answer={answer} />}
      </div>
    </>
  );
}

function Panel({ view, tab, answer }: { view: View; tab: Tab; answer: Checkpoint }) {
  const { store } = view;
  switch (tab) {
    case "State":
      return (
        <StatePanel store={store} answer={answer} onPin={(path) => view.pin(path)} onEdit={(path) => view.edit(path)} />
      );
    case "Diff":
      return <DiffPanel view={view} answer={answer} />;
    case "Channels":
      return <ChannelsPanel answer={answer} onPick={(id) => view.pick(id)} />;
    case "Writes":
      return (
        <WritesPanel
          key={answer.id}
          store={store}
          answer={answer}
          view={view.id}
          resumeWhy={view.why("resume")}
          goesOn={view.goesOn}
          onResume={(answers, before) => view.resume(answers, before)}
          asked={(before) => view.asked(before)}
        />
      );
    case "Graph":
      return <Lazy view={view} tab="Graph" answer={answer} />;
    case "Memory":
      return <Lazy view={view} tab="Memory" answer={answer} />;
    case "Storage":
      return <Lazy view={view} tab="Storage" answer={answer} />;
    case "Raw":
      return <RawPanel store={store} answer={answer} />;
  }
}
