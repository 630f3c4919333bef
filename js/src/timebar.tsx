import type { Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ranText } from "./cells";
import { count } from "./format";
import type { Branch, Store } from "./store";
import { Button } from "./ui";

const PLAY_MS = 700;

/** The bar below: a slider over the selected branch, newest at the right. */
export function TimeBar(props: {
  store: Store;
  path: number[];
  selected: string | null;
  branches: Branch[];
  playing: Signal<boolean>;
  onGo: (id: string, delay: number) => void;
  running: boolean;
}) {
  const { store, path, selected, branches } = props;
  const playing = props.playing.value;
  const play = (on: boolean) => {
    props.playing.value = on;
  };
  const at = selected === null ? -1 : path.indexOf(store.lanes.index(selected));
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
    const timer = setTimeout(() => go(at + 1), PLAY_MS);
    return () => clearTimeout(timer);
  }, [playing, at, last]);
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
      <input
        type="range"
        class="ckv-range"
        aria-label="Time"
        aria-valuetext={words}
        min={0}
        max={Math.max(0, last)}
        step={1}
        value={Math.max(0, at)}
        style={{ "--ckv-at": `${last > 0 ? (Math.max(0, at) / last) * 100 : 0}%` }}
        onInput={(event) => {
          play(false);
          go(Number(event.currentTarget.value), 60);
        }}
      />
      <span class="ckv-where">
        {words && <span>{words}</span>}
        <span>{count(store.checkpoints, "checkpoint")}</span>
        <b class={props.running ? "ckv-running" : "ckv-live"}>{state(store, props.running)}</b>
      </span>
    </div>
  );
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
