import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock, count, safe } from "./format";
import { isolateKeys } from "./keyboard";
import { ChannelsPanel, DiffPanel, RawPanel, StatePanel, WritesPanel } from "./panels";
import { searchRows } from "./search";
import { ExportSheet, ForkSheet, HelpSheet, ReplaySheet, RunSheet } from "./sheets";
import { actId, asKernelError, type Branch, type Row, type Store } from "./store";
import { hostTheme, type ThemeChoice, watchTheme } from "./theme";
import { TimeBar } from "./timebar";
import type { KernelError } from "./transport";
import { ranText, Tree } from "./tree";
import type { Act, Model } from "./types";
import { Button, ErrorBox, viewId } from "./ui";

const TABS = ["State", "Diff", "Channels", "Writes", "Raw"] as const;
type Tab = (typeof TABS)[number];
type Sheet = "fork" | "replay" | "run" | "export" | "help";
const THEMES: readonly ThemeChoice[] = ["auto", "light", "dark"];
const NARROW = 720;

export function App({ model, store, root }: { model: Model; store: Store; root: HTMLElement }) {
  const view = useMemo(viewId, []);
  const [tab, setTab] = useState<Tab>("State");
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const [narrow, setNarrow] = useState(false);
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
  const act = async <T,>(kind: string, body: Record<string, unknown>): Promise<T> =>
    store.ask<T>(kind, { ...body, act: actId() });
  const done = (select: string | null, text: string) => {
    setTip(null);
    if (select) store.selectWhenThere(select);
    setNews(text);
    closeSheet();
  };
  const resume = async (answers: Record<string, unknown>) => {
    setActError(null);
    const checkpoint = row?.unfinished?.parent ?? row?.id ?? null;
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

  // What the root itself carries: theme, size, keys, busy.
  useEffect(() => {
    const abort = new AbortController();
    isolateKeys(root, abort.signal);
    const observer = new ResizeObserver(() => {
      if (root.clientWidth > 0) setNarrow(root.clientWidth < NARROW);
    });
    observer.observe(root);
    root.tabIndex = -1;
    root.setAttribute("role", "region");
    return () => {
      abort.abort();
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    const abort = new AbortController();
    const apply = () => {
      const theme = choice === "auto" ? hostTheme() : choice;
      if (root.dataset.theme === theme) return;
      root.dataset.theme = theme;
      tree.current?.readTheme();
    };
    apply();
    tree.current?.readTheme();
    watchTheme(abort.signal, apply);
    return () => abort.abort();
  }, [choice]);
  useEffect(() => {
    root.setAttribute("aria-label", `Checkpoint explorer, thread ${hello?.thread ?? "none"}`);
    const height = Number(model.get("height") ?? hello?.height) || 560;
    root.style.setProperty("--ckv-height", `${height}px`);
  }, [hello]);
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
    root.classList.toggle("ckv-narrow", narrow);
  }, [narrow]);
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
    if (runState === "running") setNews("The graph runs.");
    else if (runState === "done") setNews("The run ended.");
    else if (runState === "interrupt") setNews("The run waits for an answer.");
    else if (runState === "error") setNews("The run failed.");
  }, [runState]);

  const why = (name: Act): string | null => {
    const can = hello?.can[name];
    if (store.closed.value) return "Disconnected from the kernel: run the cell again.";
    if (!can) return hello ? "This source can't do that." : "Loading.";
    return can.ok ? null : (can.why ?? "This source can't do that.");
  };
  const waiting = (one: Row) => one.status === "interrupt";
  const onResume = () => {
    const current = row && (waiting(row) || answer?.writes.next.some((task) => task.interrupts.length > 0));
    if (!current) nextWhere(waiting);
    showTab("Writes");
    if (narrow) showDetail(true);
    setTimeout(() => {
      const field = inspector.current?.querySelector<HTMLElement>("form input");
      (field ?? inspector.current?.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]'))?.focus({
        preventScroll: true,
      });
    }, 120);
  };
  const noRow = row ? null : "Select a checkpoint first.";
  const running = runState === "running";
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
          why={why("resume")}
          onPress={onResume}
        />
        <Button label="Run" icon="run" why={why("run")} onPress={() => openSheet("run")} />
        <Button
          label="Stop"
          icon="stop"
          bare={why("stop") !== null}
          kind={why("stop") === null ? "plain" : "quiet"}
          why={why("stop")}
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
                {answer && tab === "Channels" && (
                  <ChannelsPanel store={store} answer={answer} onPick={(id) => pick(id)} />
                )}
                {answer && tab === "Writes" && (
                  <WritesPanel
                    key={answer.id}
                    store={store}
                    answer={answer}
                    view={view}
                    resumeWhy={why("resume")}
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

export function themeOf(model: Model): ThemeChoice {
  const wanted = model.get("theme");
  return wanted === "light" || wanted === "dark" ? wanted : "auto";
}

function findLast(rows: readonly Row[], fits: (one: Row) => boolean, from: number): number {
  for (let at = from; at >= 0; at--) if (fits(rows[at] as Row)) return at;
  return -1;
}

function nextHit(hits: Set<number> | null, from: number, back: boolean): number | undefined {
  if (!hits || hits.size === 0) return undefined;
  const list = [...hits].sort((a, b) => b - a);
  if (back) return list.findLast((at) => at > from) ?? list.at(-1);
  return list.find((at) => at < from) ?? list[0];
}

/** The end of the branch that the selection stands on. */
function goalOf(store: Store, selected: string | null, tipRow: number): number {
  const { lanes } = store;
  const at = selected === null ? -1 : lanes.index(selected);
  if (at < 0) return -1;
  return tipRow >= at && lanes.isAncestor(at, tipRow) ? tipRow : lanes.tip(at);
}

function Selects(props: {
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
          onChange={(event) => void store.openThread(event.currentTarget.value, hello?.ns ?? "")}
        >
          {!known && <option value={thread}>{thread || "none"}</option>}
          {threads.map((one) => (
            <option key={one.id} value={one.id}>
              {safe(one.id)}
              {one.status && one.status !== "done" ? ` (${one.status})` : ""}
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

function SearchBox(props: {
  input: { current: HTMLInputElement | null };
  query: string;
  hits: Set<number> | null;
  onQuery: (text: string) => void;
  onGo: (back: boolean) => void;
  onLeave: () => void;
}) {
  return (
    <span class="ckv-search">
      <input
        ref={props.input}
        type="search"
        aria-label="Search checkpoints"
        placeholder="Search"
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
      {props.hits && (
        <span class="ckv-hits" role="status">
          {props.hits.size === 0 ? "nothing" : props.hits.size}
        </span>
      )}
    </span>
  );
}

function Banners({ store, error, onDismiss }: { store: Store; error: KernelError | null; onDismiss: () => void }) {
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

function Nothing({ store }: { store: Store }) {
  const hello = store.hello.value;
  return (
    <div class="ckv-nothing">
      <b>No checkpoints yet</b>
      <p>
        Thread {safe(hello?.thread ?? "")} has none
        {hello?.can.run?.ok ? ". Press Run to give the graph its first input." : "."}
      </p>
    </div>
  );
}

/** What to open when no thread was given. */
function Threads({ store }: { store: Store }) {
  const [filter, setFilter] = useState("");
  const [limit, setLimit] = useState(100);
  const all = store.hello.value?.threads ?? [];
  const found = all.filter((one) => one.id.includes(filter) || (one.status ?? "").includes(filter));
  return (
    <div class="ckv-threads">
      <h3>{count(all.length, "thread")}</h3>
      {all.length === 0 && <p class="ckv-empty">Nothing was recorded here yet.</p>}
      {all.length > 8 && (
        <input
          type="text"
          class="ckv-input"
          aria-label="Filter threads"
          placeholder="Filter by name or state"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {all.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">thread</th>
              <th scope="col">checkpoints</th>
              <th scope="col">last step</th>
              <th scope="col">last change</th>
              <th scope="col">state</th>
            </tr>
          </thead>
          <tbody>
            {found.slice(0, limit).map((one) => (
              <tr key={one.id}>
                <td>
                  <button type="button" class="ckv-link" onClick={() => void store.openThread(one.id, "")}>
                    {safe(one.id)}
                  </button>
                </td>
                <td>{one.checkpoints}</td>
                <td>{one.last_step ?? ""}</td>
                <td>{typeof one.last_time === "number" ? clock(one.last_time) : (one.last_time ?? "")}</td>
                <td>{one.status ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {found.length > limit && <Button label="More threads" kind="quiet" onPress={() => setLimit(limit + 500)} />}
    </div>
  );
}

function Skeleton({ slow }: { slow: boolean }) {
  return (
    <div class="ckv-skel">
      {slow ? (
        <p>waits for the running cell</p>
      ) : (
        [70, 45, 60, 35, 52].map((w) => <i key={w} style={{ width: `${w}%` }} />)
      )}
    </div>
  );
}

const UNFINISHED = { error: "failed", interrupt: "waits for an answer", running: "runs now" } as const;

function Title({ store, row, branches }: { store: Store; row: Row | undefined; branches: Branch[] }) {
  const answer = store.answer.value;
  if (!row) return <div class="ckv-title" />;
  const chain = store.lanes.chainOf[store.lanes.index(row.id)] ?? 0;
  const n = branches.findIndex((one) => one.chain === chain);
  const [place] = (answer?.title ?? "").split(" · Next");
  const here = answer?.id === (row.unfinished?.parent ?? row.id);
  const known = here ? (place ?? "").replace(/ \(step -?\d+\)$/, "") : `After ${ranText(row)}`;
  const title = row.unfinished ? `${row.unfinished.name}: ${UNFINISHED[row.unfinished.status]}` : known;
  const next = here ? answer.next : row.next;
  return (
    <div class="ckv-title">
      <h3 dir="auto">{safe(title)}</h3>
      <span>
        {row.step === null ? "" : `step ${row.step}`}
        {branches.length > 1 && n >= 0 ? ` · branch ${n + 1} of ${branches.length}` : ""}
      </span>
      <span class="ckv-next" title={next.join(", ")}>
        {next.length ? `Next: ${next.map(safe).join(", ")}` : "Next: nothing"}
      </span>
    </div>
  );
}

function TabList({ view, tab, onTab }: { view: string; tab: Tab; onTab: (tab: Tab) => void }) {
  const list = useRef<HTMLDivElement>(null);
  const go = (to: number) => {
    const name = TABS[(to + TABS.length) % TABS.length] as Tab;
    list.current?.querySelector<HTMLElement>(`#${view}-tab-${name}`)?.focus({ preventScroll: true });
    onTab(name);
  };
  return (
    <div
      class="ckv-tabs"
      role="tablist"
      aria-label="Checkpoint"
      ref={list}
      onKeyDown={(event) => {
        const at = TABS.indexOf(tab);
        if (event.key === "ArrowRight") go(at + 1);
        else if (event.key === "ArrowLeft") go(at - 1);
        else if (event.key === "Home") go(0);
        else if (event.key === "End") go(TABS.length - 1);
        else return;
        event.preventDefault();
      }}
    >
      {TABS.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${view}-tab-${name}`}
          aria-selected={name === tab}
          aria-controls={`${view}-panel`}
          tabIndex={name === tab ? 0 : -1}
          onClick={() => onTab(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

function Splitter({ value, onChange, host }: { value: number; onChange: (to: number) => void; host: HTMLElement }) {
  const set = (to: number) => onChange(Math.max(25, Math.min(70, to)));
  return (
    <div
      class="ckv-split"
      role="separator"
      aria-orientation="vertical"
      aria-label="Tree width"
      aria-valuenow={Math.round(value)}
      aria-valuemin={25}
      aria-valuemax={70}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") set(value - 3);
        else if (event.key === "ArrowRight") set(value + 3);
        else return;
        event.preventDefault();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const box = host.getBoundingClientRect();
        set(((event.clientX - box.left) / box.width) * 100);
      }}
    />
  );
}
