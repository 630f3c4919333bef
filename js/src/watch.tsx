import { type Signal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Column } from "./cells";
import { safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import { Button } from "./ui";

type Point = [id: string, text: string | null, number: number | null, changed: boolean];

/** One pinned path: its value at each step of the branch that is shown. */
export class Watch {
  readonly points: Signal<Point[]> = signal([]);
  readonly error: Signal<KernelError | null> = signal(null);
  private asked = "";

  constructor(readonly path: string) {}

  async load(store: Store, tip: string, version: number): Promise<void> {
    const asked = `${tip} ${version}`;
    if (asked === this.asked) return;
    this.asked = asked;
    try {
      const got = await store.ask<{ points: Point[] }>("watch", { path: this.path, checkpoint: tip });
      if (asked !== this.asked) return;
      this.points.value = got.points;
      this.error.value = null;
    } catch (reason) {
      if (asked === this.asked) this.error.value = asKernelError(reason);
    }
  }

  at(id: string | null): Point | undefined {
    return this.points.value.find((one) => one[0] === id);
  }

  /** The nearest step before (-1) or after (1) a checkpoint where the value changed. */
  change(id: string | null, way: 1 | -1): string | null {
    const points = this.points.value;
    const from = points.findIndex((one) => one[0] === id);
    for (let at = from + way; at >= 0 && at < points.length; at += way) {
      const [found, , , changed] = points[at] as Point;
      if (changed) return found;
    }
    return null;
  }
}

const PINNED = 3;

/** The newest watched paths as columns of the tree. */
export function columnsOf(watches: readonly Watch[]): Column[] {
  return watches.slice(-PINNED).map((watch) => {
    const values = new Map(watch.points.value.map(([id, text]) => [id, text]));
    return { name: watch.path, at: (id: string) => values.get(id) ?? null };
  });
}

/** A path as one types it: messages[0].content */
export function pathText(steps: readonly (string | number)[]): string {
  return steps.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(step)) return text ? `${text}.${step}` : step;
    return text ? `${text}[${JSON.stringify(step)}]` : step;
  }, "");
}

interface StripProps {
  store: Store;
  watches: Signal<Watch[]>;
  tip: string | null;
  onGo: (id: string) => void;
  onClose: (watch: Watch) => void;
}

/** The pinned paths, a line each: name, value here, its course along the branch, next and previous change. */
export function WatchStrip(props: StripProps) {
  const { watches } = props;
  if (watches.value.length === 0) return null;
  return (
    <div class="ckv-watches" role="group" aria-label="Watched paths">
      {watches.value.map((watch) => (
        <WatchLine key={watch.path} {...props} watch={watch} />
      ))}
    </div>
  );
}

function WatchLine({ store, watch, tip, onGo, onClose }: StripProps & { watch: Watch }) {
  const version = store.version.value;
  useEffect(() => {
    const timer = setTimeout(() => tip && void watch.load(store, tip, version), 60);
    return () => clearTimeout(timer);
  }, [tip, version]);
  const selected = store.selected.value;
  const here = watch.at(selected);
  const error = watch.error.value;
  const go = (way: 1 | -1) => {
    const id = watch.change(selected, way);
    if (id) onGo(id);
  };
  const none = (way: 1 | -1) => (watch.change(selected, way) ? null : "No further change on this branch.");
  return (
    <div class="ckv-watch">
      <b class="ckv-mono">{safe(watch.path)}</b>
      <span class={`ckv-val${error ? " ckv-bad" : ""}`} dir="auto" role="status">
        {error ? error.message : here?.[1] === null || !here ? "–" : safe(here[1])}
      </span>
      <Spark points={watch.points.value} selected={selected} />
      <Button
        label={`Previous change of ${watch.path}`}
        icon="prev"
        bare
        kind="quiet"
        why={none(-1)}
        onPress={() => go(-1)}
      />
      <Button
        label={`Next change of ${watch.path}`}
        icon="next"
        bare
        kind="quiet"
        why={none(1)}
        onPress={() => go(1)}
      />
      <button
        type="button"
        class="ckv-link"
        aria-label={`Stop watching ${safe(watch.path)}`}
        onClick={() => onClose(watch)}
      >
        ×
      </button>
    </div>
  );
}

const W = 160;
const H = 20;

/** Numbers as a line, other values as ticks where they changed. */
function Spark({ points, selected }: { points: Point[]; selected: string | null }) {
  if (points.length < 2) return <svg class="ckv-spark" width={W} height={H} aria-hidden="true" />;
  const x = (at: number) => 2 + (at / (points.length - 1)) * (W - 4);
  const numbers = points.map((one) => one[2]);
  const known = numbers.filter((one): one is number => one !== null);
  const low = Math.min(...known);
  const high = Math.max(...known);
  const y = (value: number) => H - 3 - ((value - low) / (high - low || 1)) * (H - 6);
  const line = numbers.flatMap((one, at) => (one === null ? [] : [`${x(at).toFixed(1)},${y(one).toFixed(1)}`]));
  const at = points.findIndex((one) => one[0] === selected);
  return (
    <svg class="ckv-spark" width={W} height={H} aria-hidden="true">
      {known.length > 1 ? (
        <polyline points={line.join(" ")} />
      ) : (
        points.map((one, n) => one[3] && <line key={one[0]} x1={x(n)} x2={x(n)} y1={4} y2={H - 4} />)
      )}
      {at >= 0 && <line class="ckv-here" x1={x(at)} x2={x(at)} y1={0} y2={H} />}
    </svg>
  );
}
