import type { Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ranText } from "./cells";
import { count } from "./format";
import { Icon } from "./icons";
import type { Branch, Store } from "./store";
import { Button } from "./ui";

const PLAY_MS = 700;
/** At the recorded pace: no step shorter or longer than this. */
const SHORTEST_MS = 80;
const LONGEST_MS = 3000;
type Pace = "even" | "recorded";

/** The bar below: a slider over the selected branch, newest at the right. */
export function TimeBar(props: {
  store: Store;
  path: number[];
  selected: string | null;
  branches: Branch[];
  playing: Signal<boolean>;
  onGo: (id: string, delay: number) => void;
  running: boolean;
  /** Shows or hides why nothing can be done here; null where acts are possible. */
  lock: { told: boolean; onPress: () => void } | null;
}) {
  const { store, path, selected, branches } = props;
  const playing = props.playing.value;
  const play = (on: boolean) => {
    props.playing.value = on;
  };
  const [pace, setPace] = useState<Pace>("even");
  const at = selected === null ? -1 : placeIn(path, store.lanes.index(selected));
  const last = path.length - 1;
  const go = (to: number, delay = 0) => {
    const row = store.rows[path[Math.max(0, Math.min(last, to))] ?? -1];
    if (row) props.onGo(row.id, delay);
  };
  useEffect(() => {
    if (!playing) return;
    if (at >= last || window.matchMedia?.("(prefers-reduced-motion: reduce)").matches) {
      play(false);
      return;
    }
    const timer = setTimeout(() => go(at + 1), pace === "even" ? PLAY_MS : recorded(store, path, at));
    return () => clearTimeout(timer);
  }, [playing, at, last, pace]);
  // Older checkpoints that were not read yet have their place at the left: going there reads them.
  const hidden = store.more.value ? Math.max(0, (store.rows[path[0] ?? -1]?.step ?? -1) + 1) : 0;
  const words = place(store, path, at, branches);
  const why = last < 0 ? "No checkpoints yet." : null;
  return (
    <div class="ckv-time">
      <span class="ckv-group">
        <Button
          label="First"
          icon="first"
          bare
          kind="quiet"
          why={why ?? (at <= 0 ? "This is the first." : null)}
          onPress={() => go(0)}
        />
        <Button
          label="Previous"
          icon="prev"
          bare
          kind="quiet"
          why={why ?? (at <= 0 ? "This is the first." : null)}
          onPress={() => go(at - 1)}
        />
        <Button
          label={playing ? "Pause" : "Play"}
          icon={playing ? "pause" : "run"}
          filled={!playing}
          bare
          kind="quiet"
          why={why}
          onPress={() => {
            if (!playing && at >= last) go(0);
            play(!playing);
          }}
        />
        <Button
          label="Next"
          icon="next"
          bare
          kind="quiet"
          why={why ?? (at >= last ? "This is the newest." : null)}
          onPress={() => go(at + 1)}
        />
        <Button
          label="Last"
          icon="last"
          bare
          kind="quiet"
          why={why ?? (at >= last ? "This is the newest." : null)}
          onPress={() => go(last)}
        />
      </span>
      <select
        class="ckv-pace"
        aria-label="Pace of play"
        value={pace}
        onChange={(event) => setPace(event.currentTarget.value as Pace)}
      >
        <option value="even">even pace</option>
        <option value="recorded">as it ran</option>
      </select>
      <input
        type="range"
        class="ckv-range"
        aria-label="Time"
        aria-valuetext={words}
        min={0}
        max={Math.max(0, last + hidden)}
        step={1}
        value={Math.max(0, at + hidden)}
        style={{ "--ckv-at": `${last + hidden > 0 ? (Math.max(0, at + hidden) / (last + hidden)) * 100 : 0}%` }}
        onInput={(event) => {
          play(false);
          const to = Number(event.currentTarget.value);
          if (to >= hidden) go(to - hidden, 60);
          else void store.reach(to - 1).then((id) => id && props.onGo(id, 60));
        }}
      />
      <span class="ckv-where">
        {words && <span>{words}</span>}
        <span>{count(store.checkpoints, "checkpoint")}</span>
        {props.lock && (
          <span>
            <button
              type="button"
              class="ckv-link ckv-lock"
              aria-expanded={props.lock.told}
              onClick={props.lock.onPress}
            >
              <Icon name="lock" />
              read-only: why?
            </button>
          </span>
        )}
        <b class={props.running ? "ckv-running" : "ckv-live"}>{state(store, props.running)}</b>
      </span>
    </div>
  );
}

/** How long the next step took when it ran, within reason. */
export function recorded(store: Pick<Store, "rows">, path: readonly number[], at: number): number {
  const [from, to] = [store.rows[path[at] ?? -1], store.rows[path[at + 1] ?? -1]];
  if (!from?.time || !to?.time || to.source !== "loop") return PLAY_MS;
  return Math.max(SHORTEST_MS, Math.min(LONGEST_MS, to.took ?? to.time - from.time));
}

/** Where a row stands in a path, which is in ascending order; -1: it is not on it. */
export function placeIn(path: readonly number[], row: number): number {
  let low = 0;
  let high = path.length - 1;
  while (low <= high) {
    const mid = (low + high) >> 1;
    const found = path[mid] as number;
    if (found === row) return mid;
    if (found < row) low = mid + 1;
    else high = mid - 1;
  }
  return -1;
}

function state(store: Store, running: boolean): string {
  if (store.closed.value) return "disconnected";
  if (running) return "running";
  if (store.hello.value?.session === "export") return "exported";
  return store.hello.value ? "live" : "";
}

function place(store: Store, path: number[], at: number, branches: Branch[]): string {
  const row = store.rows[path[at] ?? -1];
  if (!row) return "";
  const end = store.rows[path.at(-1) ?? -1];
  const chain = store.lanes.chainOf[path[at] as number] ?? 0;
  const n = branches.findIndex((one) => one.chain === chain);
  const step = row.step === null ? "not finished" : `step ${row.step} of ${end?.step ?? row.step}`;
  return `${step}, ${ranText(row)}${branches.length > 1 && n >= 0 ? `, branch ${n + 1} of ${branches.length}` : ""}`;
}
