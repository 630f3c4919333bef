import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Banners } from "./bar";
import { useHits } from "./find";
import { GoTo } from "./goto";
import { Inspector } from "./inspector";
import { Later } from "./more/load";
import { Nothing, RUN_NEWS, Skeleton, Splitter } from "./places";
import { themeOf, useRoot } from "./root";
import type { Store } from "./store";
import { Strips } from "./strips";
import { SurpriseStrip } from "./surprises";
import { TimeBar } from "./timebar";
import { Toolbar } from "./toolbar";
import { Tree } from "./tree";
import type { Model } from "./types";
import { ErrorBox } from "./ui";
import { View } from "./view";
import { columnsOf, WatchStrip } from "./watch";

export function App({ model, store, root }: { model: Model; store: Store; root: HTMLElement }) {
  const view = useMemo(() => new View(store, root, themeOf(model)), []);
  const narrow = useRoot(root, model, store.hello.value, view.theme.value, () => view.tree?.readTheme());
  view.narrow.value = narrow;
  const version = store.version.value;
  const branches = useMemo(() => store.branches(), [version]);
  const found = useHits(store, view.query.value);
  const selected = store.selected.value;
  const tip = view.tip.value;
  const path = useMemo(() => view.path, [selected, tip, version]);
  const slow = useSlow(store);
  useBusy(view);
  useNews(view);
  return (
    <>
      <Toolbar view={view} branches={branches} found={found} />
      <Banners store={store} error={view.error.value} onDismiss={() => view.dismiss()} />
      <Strips view={view} />
      <SurpriseStrip view={view} />
      <GoTo view={view} />
      {store.hello.value?.thread === null && <Later store={store} part="Threads" give={{ store }} />}
      <div class="ckv-main" style={{ "--ckv-split": `${view.split.value}%` }}>
        <TreePane view={view} hits={found.hits} slow={slow} />
        {!narrow && <Splitter value={view.split} host={root} />}
        <Inspector view={view} branches={branches} slow={slow} />
      </div>
      <WatchStrip
        store={store}
        watches={view.watches}
        tip={store.rows[path.at(-1) ?? -1]?.unfinished?.parent ?? store.rows[path.at(-1) ?? -1]?.id ?? null}
        onGo={(id) => store.select(id)}
        onClose={(watch) => view.unpin(watch)}
      />
      <TimeBar
        store={store}
        path={path}
        selected={selected}
        branches={branches}
        playing={view.playing}
        onGo={(id, delay) => store.select(id, delay)}
        running={view.running}
        lock={lockOf(view)}
      />
      <div class="ckv-sr" role="status" aria-live="polite">
        {view.news.value}
      </div>
    </>
  );
}

function TreePane({ view, hits, slow }: { view: View; hits: Set<number> | null; slow: boolean }) {
  const { store } = view;
  const host = useRef<HTMLDivElement>(null);
  const version = store.version.value;
  const selected = store.selected.value;
  // Before the browser draws: else each new row is drawn in two frames, the bar below first and the tree then.
  useLayoutEffect(() => {
    if (!host.current) return;
    const tree = new Tree(host.current, store, {
      pick: (id, delay) => view.pick(id, delay),
      enter: () => view.enterPanel(),
      command: (key, at) => view.command(key, at),
    });
    view.tree = tree;
    return () => {
      tree.dispose();
      view.tree = null;
    };
  }, []);
  useLayoutEffect(() => view.tree?.setData(selected, view.tipRow), [version]);
  useLayoutEffect(() => view.tree?.select(selected, view.tipRow), [selected, view.tipRow]);
  useLayoutEffect(() => view.tree?.setMarks(view.mark.value, view.markB.value), [view.mark.value, view.markB.value]);
  useLayoutEffect(() => view.tree?.setHits(hits), [hits]);
  const watches = view.watches.value;
  const columns = useComputed(() => columnsOf(view.watches.value)).value;
  useLayoutEffect(() => view.tree?.setColumns(columns), [columns, watches]);
  const hello = store.hello.value;
  const failure = store.failure.value;
  return (
    <div class="ckv-left">
      <div class="ckv-treehost" ref={host} />
      {hello && store.rows.length === 0 && hello.thread !== null && <Nothing store={store} />}
      {!hello && !failure && slow && <Skeleton slow={store.slow.value} />}
      {failure && <ErrorBox error={failure} onRetry={() => store.retry()} />}
    </div>
  );
}

const isBusy = (store: Store) => store.pending.value || (store.hello.value === null && store.failure.value === null);

/** Whether an answer has been waited for so long that a skeleton helps. */
function useSlow(store: Store): boolean {
  const busy = useComputed(() => isBusy(store)).value;
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!busy) return;
    const timer = setTimeout(() => setSlow(true), 150);
    return () => clearTimeout(timer);
  }, [busy]);
  return slow;
}

/** `aria-busy`: on at once when a click begins to wait, off after the answer is drawn. */
function useBusy(view: View): void {
  useSignalEffect(() => {
    const busy = isBusy(view.store);
    const show = () => {
      view.root.setAttribute("aria-busy", String(busy));
      view.inspector.current?.setAttribute("aria-busy", String(busy));
    };
    if (busy) show();
    const timer = busy ? undefined : setTimeout(show, 0);
    return () => clearTimeout(timer);
  });
}

function lockOf(view: View) {
  const { lockTold } = view;
  const onPress = () => {
    lockTold.value = !lockTold.value;
  };
  return view.locked === null ? null : { told: lockTold.value, onPress };
}

/** What the live region says: notices of the kernel, and how a run goes. */
function useNews(view: View): void {
  const { store } = view;
  useSignalEffect(() => {
    if (store.notice.value) view.news.value = store.notice.value;
  });
  const state = useComputed(() => store.run.value?.state ?? null).value;
  useEffect(() => {
    if (state) view.news.value = RUN_NEWS[state];
  }, [state]);
}
