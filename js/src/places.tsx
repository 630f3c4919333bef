import type { Signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { ranText } from "./cells";
import { nodeText, safe } from "./format";
import type { Branch, Row, Store } from "./store";

export const TABS = ["State", "Diff", "Channels", "Writes", "Graph", "Raw", "Storage"] as const;
export const RUN_NEWS = {
  running: "The graph runs.",
  done: "The run ended.",
  interrupt: "The run waits for an answer.",
  error: "The run failed.",
  stopped: "The run was stopped.",
  breakpoint: "The run holds at a breakpoint.",
} as const;
export type Tab = (typeof TABS)[number] | "Memory";

export function Nothing({ store }: { store: Store }) {
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

export function Skeleton({ slow }: { slow: boolean }) {
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

export function Title({ store, row, branches }: { store: Store; row: Row | undefined; branches: Branch[] }) {
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
        {[
          row.step !== null && `step ${row.step}`,
          branches.length > 1 && n >= 0 && `branch ${n + 1} of ${branches.length}`,
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
      <span class="ckv-next" title={nodeText(next, ", ")}>
        {next.length ? `Next: ${safe(nodeText(next, ", "))}` : "Next: nothing"}
      </span>
    </div>
  );
}

/** The tabs of a history; a graph with a store has one more. */
export function tabsOf(hasStore: boolean | undefined): readonly Tab[] {
  return hasStore ? [...TABS, "Memory"] : TABS;
}

export function TabList(props: { view: string; tabs: readonly Tab[]; tab: Tab; onTab: (tab: Tab) => void }) {
  const { view, tabs, tab, onTab } = props;
  const list = useRef<HTMLDivElement>(null);
  const go = (to: number) => {
    const name = tabs[(to + tabs.length) % tabs.length] as Tab;
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
        const at = tabs.indexOf(tab);
        if (event.key === "ArrowRight") go(at + 1);
        else if (event.key === "ArrowLeft") go(at - 1);
        else if (event.key === "Home") go(0);
        else if (event.key === "End") go(tabs.length - 1);
        else return;
        event.preventDefault();
      }}
    >
      {tabs.map((name) => (
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

export function Splitter({ value, host }: { value: Signal<number>; host: HTMLElement }) {
  const set = (to: number) => {
    value.value = Math.max(25, Math.min(70, to));
  };
  return (
    <div
      class="ckv-split"
      role="separator"
      aria-orientation="vertical"
      aria-label="Tree width"
      aria-valuenow={Math.round(value.value)}
      aria-valuemin={25}
      aria-valuemax={70}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") set(value.value - 3);
        else if (event.key === "ArrowRight") set(value.value + 3);
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
