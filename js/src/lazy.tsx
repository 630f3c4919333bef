import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { loadModule } from "./load";
import { Skeleton } from "./places";
import { placeOf } from "./rows";
import { asKernelError } from "./store";
import type { LazyTab, TabProps, TabsModule } from "./tabs/props";
import type { KernelError } from "./transport";
import type { Checkpoint } from "./types";
import { ErrorBox } from "./ui";
import type { View } from "./view";

/** A tab whose code is fetched when it is first opened. */
export function Lazy({ view, tab, answer }: { view: View; tab: LazyTab; answer: Checkpoint }) {
  const host = useRef<HTMLDivElement>(null);
  const [module, setModule] = useState<TabsModule | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const [tries, setTries] = useState(0);
  const [late, setLate] = useState(false);
  const hello = view.store.hello.value;
  const row = view.row;
  useEffect(() => {
    let alive = true;
    setError(null);
    loadModule<TabsModule>((kind, body) => view.store.ask(kind, body), "tabs").then(
      (found) => alive && setModule(found),
      (reason) => alive && setError(asKernelError(reason)),
    );
    return () => {
      alive = false;
    };
  }, [tries]);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  useLayoutEffect(() => {
    if (module && host.current && hello)
      module.show(host.current, propsOf(view, tab, answer, row?.step ?? null, hello));
  });
  useEffect(() => {
    const element = host.current;
    return () => {
      if (module && element) module.show(element, null);
    };
  }, [module]);
  return (
    <>
      {error && <ErrorBox error={error} onRetry={() => setTries(tries + 1)} />}
      {!module && !error && late && <Skeleton slow={view.store.slow.value} />}
      <div ref={host} />
    </>
  );
}

function propsOf(
  view: View,
  tab: LazyTab,
  answer: Checkpoint,
  step: number | null,
  hello: TabProps["hello"],
): TabProps {
  const { store } = view;
  return {
    tab,
    view: view.id,
    answer,
    at: placeOf(answer.id).at,
    step,
    head: store.head,
    hello,
    history: store,
    ask: (kind, body) => store.ask(kind, body),
    goTo: (name) => view.toTab(name as LazyTab),
    pick: (id) => {
      view.toTab(tab); // the focus goes before what is picked takes its button away
      view.pick(id);
    },
    openNamespace: (ns) => void store.openThread(hello.thread ?? "", ns),
    lastRun: (node) => lastRun(view, node),
  };
}

function lastRun(view: View, node: string): { id: string; step: number | null } | null {
  const { store } = view;
  let at = store.lanes.index(view.row?.unfinished?.parent ?? view.row?.id ?? "");
  while (at >= 0) {
    const row = store.rows[at];
    if (row?.nodes.includes(node)) return { id: row.id, step: row.step };
    at = store.lanes.parentRow[at] ?? -1;
  }
  return null;
}
