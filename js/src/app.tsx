import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { oneAtATime } from "./acts";
import { Banners, SearchBox, Selects } from "./bar";
import { ChannelsPanel } from "./channels";
import { ForkSheet } from "./fork";
import { DiffPanel, RawPanel } from "./panels";
import { Nothing, RUN_NEWS, Skeleton, Splitter, type Tab, TabList, Threads, Title } from "./places";
import { themeOf, useRoot } from "./root";
import { findLast, nextHit, searchRows } from "./search";
import { ExportSheet, HelpSheet, ReplaySheet, RunSheet } from "./sheets";
import { StatePanel } from "./state";
import { asKernelError, type Row, type Store } from "./store";
import type { ThemeChoice } from "./theme";
import { TimeBar } from "./timebar";
import type { KernelError } from "./transport";
import { Tree } from "./tree";
import type { Act, Model } from "./types";
import { Button, ErrorBox, viewId } from "./ui";
import { WritesPanel } from "./writes";

type Sheet = "fork" | "replay" | "run" | "export" | "help";
const THEMES: readonly ThemeChoice[] = ["auto", "light", "dark"];

export function App({ model, store, root }: { model: Model; store: Store; root: HTMLElement }) {
  const view = useMemo(viewId, []);
  const [tab, setTab] = useState<Tab>("State");
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const [mark, setMark] = useState<string | null>(null);
  const [tip, setTip] = useState<string | null>(null);
  const [query, setQuery] = useState("");
  const [letters, setLetters] = useState(true);
  const [news, setNews] = useState("");
  const [actError, setActError] = useState<KernelError | null>(null);
  const [choice, setChoice] = useState<ThemeChoice>(() => themeOf(model));
  const [split, setSplit] = useState(47);
  const [slowLoad, setSlowLoad] = useState(false);
  const treeHost = useRef<HTMLDivElement>(null);
  const tree = useRef<Tree | null>(null);
  const inspector = useRef<HTMLElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const hello = store.hello.value;
  const narrow = useRoot(root, model, hello, choice, () => tree.current?.readTheme());
  const selected = store.selected.value;
  const version = store.version.value;
  const answer = store.answer.value;
  const pending = store.pending.value;
  const row = store.row(selected);
  const branches = useMemo(() => store.branches(), [version]);
  const tipRow = tip === null ? store.lanes.index(store.head ?? "") : store.lanes.index(tip);

  /** Which pane a narrow explorer shows; set at once, so that the focus can go there. */
  const showDetail = (on: boolean) => {
    root.classList.toggle("ckv-showdetail", on);
  };
  const pick = (id: string, delay = 0) => {
    store.select(id, delay);
    if (narrow && delay === 0) showDetail(true);
  };
  const focusTree = () => tree.current?.focus();
  const closeSheet = () => {
    if (narrow) showDetail(false);
    focusTree();
    setSheet(null);
  };
  const openSheet = (name: Sheet) => {
    setSheet(name);
    if (narrow) showDetail(true);
  };
  const act = useMemo(() => oneAtATime(store), [store]);
  const done = (select: string | null, text: string) => {
    setTip(null);
    if (select) store.selectWhenThere(select);
    setNews(text);
    closeSheet();
  };
  const resume = async (answers: Record<string, unknown>, before: boolean) => {
    setActError(null);
    const asked = row?.unfinished?.parent ?? row?.id ?? null;
    const checkpoint = before ? (store.row(asked)?.parent ?? null) : asked;
    try {
      await act("resume", { checkpoint, answers });
      setNews("Resumed; the run goes on.");
      focusTree();
    } catch (reason) {
      setActError(asKernelError(reason));
    }
  };
  const jump = (at: number | undefined) => {
    const found = at === undefined ? undefined : store.rows[at];
    if (found) store.select(found.id);
  };
  const nextWhere = (fits: (one: Row) => boolean) => {
    const from = selected === null ? store.rows.length : store.lanes.index(selected);
    const older = findLast(store.rows, fits, from - 1);
    jump(older >= 0 ? older : findLast(store.rows, fits, store.rows.length - 1));
    focusTree();
  };
  const command = (key: string, at: Row): boolean => {
    if (key === " ") {
      const id = at.unfinished?.parent ?? at.id;
      setMark(mark === id ? null : id);
      setNews(mark === id ? "Diff mark removed." : `Diff starts at step ${at.step ?? "?"}.`);
      return true;
    }
    if (key === "Escape" && (sheet || narrow)) {
      closeSheet();
      return true;
    }
    if (!letters) return false;
    return letterCommand(key);
  };
  const letterCommand = (key: string): boolean => {
    const todo: Record<string, () => void> = {
      f: () => openSheet("fork"),
      r: () => openSheet("replay"),
      d: () => showTab("Diff"),
      e: () => nextWhere((one) => one.status === "error"),
      i: () => nextWhere((one) => one.status === "interrupt"),
      "/": () => search.current?.focus({ preventScroll: true }),
      "?": () => openSheet("help"),
    };
    const go = todo[key];
    go?.();
    return go !== undefined;
  };
  const showTab = (name: Tab) => {
    setSheet(null);
    setTab(name);
  };
  const enterPanel = () => {
    if (narrow) showDetail(true);
    queueMicrotask(() => {
      const target = inspector.current?.querySelector<HTMLElement>(
        '[role="tab"][aria-selected="true"], [role="dialog"]',
      );
      target?.focus({ preventScroll: true });
    });
  };

  // The tree is a plain class; it always calls the newest handlers.
  const handlers = useRef({ pick, command, enterPanel });
  handlers.current = { pick, command, enterPanel };
  useEffect(() => {
    const host = treeHost.current;
    if (!host) return;
    const made = new Tree(host, store, {
      pick: (id, delay) => handlers.current.pick(id, delay),
      enter: () => handlers.current.enterPanel(),
      command: (key, at) => handlers.current.command(key, at),
    });
    tree.current = made;
    made.setData();
    return () => {
      made.dispose();
      tree.current = null;
    };
  }, []);
  useEffect(() => tree.current?.setData(), [version]);
  useEffect(() => tree.current?.select(selected, tipRow), [selected, tipRow, version]);
  useEffect(() => tree.current?.setMark(mark), [mark]);
  const hits = useMemo(() => searchRows(store.rows, query), [query, version]);
  useEffect(() => tree.current?.setHits(hits), [hits]);

  const busy = pending || (hello === null && store.failure.value === null);
  useSignalEffect(() => {
    // At once when a click begins to wait, and after the answer is drawn when it ends.
    const waits = store.pending.value || (store.hello.value === null && store.failure.value === null);
    const show = () => {
      root.setAttribute("aria-busy", String(waits));
      inspector.current?.setAttribute("aria-busy", String(waits));
    };
    if (waits) show();
    const timer = waits ? undefined : setTimeout(show, 0);
    return () => clearTimeout(timer);
  });
  useEffect(() => {
    if (!busy) {
      setSlowLoad(false);
      return;
    }
    const timer = setTimeout(() => setSlowLoad(true), 150);
    return () => clearTimeout(timer);
  }, [busy]);
  useSignalEffect(() => {
    if (store.notice.value) setNews(store.notice.value);
  });
  const runState = useComputed(() => store.run.value?.state ?? null).value;
  useEffect(() => {
    if (runState) setNews(RUN_NEWS[runState]);
  }, [runState]);

  const why = (name: Act): string | null => {
    const can = hello?.can[name];
    if (store.closed.value) return "Disconnected from the kernel: run the cell again.";
    if (!can) return hello ? "This source can't do that." : "Loading.";
    return can.ok ? null : (can.why ?? "This source can't do that.");
  };
  const waiting = (one: Row) => one.status === "interrupt";
  const onResume = () => {
    const current = row && (waiting(row) || goesOn || answer?.writes.next.some((task) => task.interrupts.length > 0));
    if (!current) nextWhere(waiting);
    showTab("Writes");
    if (narrow) showDetail(true);
    setTimeout(() => {
      const field = inspector.current?.querySelector<HTMLElement>("form input, .ckv-goon button");
      (field ?? inspector.current?.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]'))?.focus({
        preventScroll: true,
      });
    }, 120);
  };
  const noRow = row ? null : "Select a checkpoint first.";
  const running = runState === "running";
  const goesOn = row?.status === "pending" && !running;
  const noQuestion = store.rows.some(waiting) || goesOn ? null : "Nothing waits here.";
  const stopWhy = why("stop") ?? (running ? null : "Nothing runs now.");
  const sheetProps = { store, view, row, answer, onClose: closeSheet, onDone: done, act };
  const goal = goalOf(store, selected, tipRow);
  const path = useMemo(() => (goal < 0 ? [] : store.lanes.path(goal)), [goal, version]);
  const [playing, setPlaying] = useState(false);

  return (
    <>
      <div class="ckv-bar" role="toolbar" aria-label="Explorer">
        <Selects
          store={store}
          branches={branches}
          tip={tip}
          row={selected}
          onTip={(id) => {
            setTip(id);
            if (id) pick(id, 1);
          }}
        />
        <SearchBox
          input={search}
          query={query}
          hits={hits}
          onQuery={setQuery}
          onGo={(back) => jump(nextHit(hits, store.lanes.index(selected ?? ""), back))}
          onLeave={focusTree}
        />
        <span class="ckv-space" />
        <Button label="Fork" icon="fork" why={why("fork") ?? noRow} onPress={() => openSheet("fork")} />
        <Button label="Replay" icon="replay" why={why("replay") ?? noRow} onPress={() => openSheet("replay")} />
        <Button
          label="Resume"
          icon="pause"
          kind={store.rows.some(waiting) && why("resume") === null ? "wait" : "plain"}
          why={why("resume") ?? noQuestion}
          onPress={onResume}
        />
        <Button label="Run" icon="run" why={why("run")} onPress={() => openSheet("run")} />
        <Button
          label="Stop"
          icon="stop"
          bare={stopWhy !== null}
          kind={stopWhy === null ? "plain" : "quiet"}
          why={stopWhy}
          onPress={() => {
            store.ask("stop").then(
              () => setNews("Stops before the next step."),
              (reason) => setActError(asKernelError(reason)),
            );
          }}
        />
        <span class="ckv-group">
          <Button label="Export" icon="down" bare kind="quiet" onPress={() => openSheet("export")} />
          <Button
            label="Theme"
            icon="theme"
            bare
            kind="quiet"
            title={`Theme: ${choice}`}
            onPress={() => {
              const next = THEMES[(THEMES.indexOf(choice) + 1) % THEMES.length] as ThemeChoice;
              setChoice(next);
              setNews(`Theme: ${next}.`);
            }}
          />
          <Button label="Help" icon="help" bare kind="quiet" onPress={() => openSheet("help")} />
        </span>
      </div>
      <Banners
        store={store}
        error={actError}
        onDismiss={() => {
          focusTree();
          setActError(null);
        }}
      />
      <div class="ckv-main" style={{ "--ckv-split": `${split}%` }}>
        <div class="ckv-left">
          <div class="ckv-treehost" ref={treeHost} />
          {hello && store.rows.length === 0 && hello.thread !== null && <Nothing store={store} />}
          {hello?.thread === null && <Threads store={store} />}
          {!hello && !store.failure.value && slowLoad && <Skeleton slow={store.slow.value} />}
          {store.failure.value && <ErrorBox error={store.failure.value} onRetry={() => store.retry()} />}
        </div>
        {!narrow && <Splitter value={split} onChange={setSplit} host={root} />}
        <section
          class="ckv-right"
          ref={inspector}
          aria-label="Checkpoint"
          onKeyDown={(event) => {
            if (event.key !== "Escape" || event.defaultPrevented) return;
            if (narrow) showDetail(false);
            focusTree();
          }}
        >
          {narrow && (
            <Button
              label="Back"
              icon="back"
              kind="quiet"
              onPress={() => {
                showDetail(false);
                focusTree();
                setSheet(null);
              }}
            />
          )}
          {sheet === "fork" && <ForkSheet key={selected} {...sheetProps} />}
          {sheet === "replay" && (
            <ReplaySheet
              {...sheetProps}
              onPlay={() => {
                closeSheet();
                setPlaying(true);
              }}
            />
          )}
          {sheet === "run" && <RunSheet {...sheetProps} />}
          {sheet === "export" && <ExportSheet {...sheetProps} />}
          {sheet === "help" && <HelpSheet onClose={closeSheet} letters={letters} onLetters={setLetters} />}
          {sheet === null && (
            <>
              <Title store={store} row={row} branches={branches} />
              <TabList view={view} tab={tab} onTab={setTab} />
              <div
                class={`ckv-panel${pending && slowLoad ? " ckv-stale" : ""}`}
                role="tabpanel"
                id={`${view}-panel`}
                aria-labelledby={`${view}-tab-${tab}`}
                tabIndex={0}
              >
                {store.answerError.value && (
                  <ErrorBox error={store.answerError.value} onRetry={() => store.refresh()} />
                )}
                {!answer && !store.answerError.value && hello && store.rows.length > 0 && slowLoad && (
                  <Skeleton slow={store.slow.value} />
                )}
                {answer && tab === "State" && <StatePanel store={store} answer={answer} />}
                {answer && tab === "Diff" && (
                  <DiffPanel store={store} answer={answer} mark={mark} onClear={() => setMark(null)} />
                )}
                {answer && tab === "Channels" && <ChannelsPanel answer={answer} onPick={(id) => pick(id)} />}
                {answer && tab === "Writes" && (
                  <WritesPanel
                    key={answer.id}
                    store={store}
                    answer={answer}
                    view={view}
                    resumeWhy={why("resume")}
                    goesOn={goesOn}
                    onResume={resume}
                  />
                )}
                {answer && tab === "Raw" && <RawPanel answer={answer} />}
              </div>
            </>
          )}
        </section>
      </div>
      <TimeBar
        store={store}
        path={path}
        selected={selected}
        branches={branches}
        playing={playing}
        onPlaying={setPlaying}
        onGo={(id, delay) => store.select(id, delay)}
        running={running}
      />
      <div class="ckv-sr" role="status" aria-live="polite">
        {news}
      </div>
    </>
  );
}

/** The end of the branch that the selection stands on. */
function goalOf(store: Store, selected: string | null, tipRow: number): number {
  const { lanes } = store;
  const at = selected === null ? -1 : lanes.index(selected);
  if (at < 0) return -1;
  return tipRow >= at && lanes.isAncestor(at, tipRow) ? tipRow : lanes.tip(at);
}
