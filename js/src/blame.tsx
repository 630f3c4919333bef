import { useState } from "preact/hooks";
import { safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { BlameAnswer, Entry } from "./types";
import { Button, ErrorBox } from "./ui";

/** Asks who wrote a value, and holds the answer. */
export function useBlame(store: Store | null, id: string, entry: Entry) {
  const [found, setFound] = useState<BlameAnswer | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const able = store !== null && entry.p.length > 0;
  const ask = async () => {
    if (!store || !able) return;
    setError(null);
    if (found) {
      setFound(null);
      return;
    }
    try {
      setFound(await store.ask<BlameAnswer>("blame", { checkpoint: id, path: entry.p }));
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  return { found, error, able, ask };
}

/** The buttons beside a value; `b` and `p` press them from anywhere in the value's line. */
export function ValueButtons({ entry, open, onPress }: { entry: Entry; open: boolean; onPress: () => void }) {
  return (
    <span class="ckv-valuebtns">
      <button type="button" class="ckv-who ckv-pin" aria-label={`Watch ${safe(entry.k)}`} title="Watch this path (p)">
        watch
      </button>
      <button
        type="button"
        class="ckv-who"
        aria-label={`Who wrote ${safe(entry.k)}?`}
        aria-expanded={open}
        title="Who wrote this? (b)"
        onClick={onPress}
      >
        who?
      </button>
      <button
        type="button"
        class="ckv-who ckv-edit"
        aria-label={`Edit ${safe(entry.k)}`}
        title="Fork with this changed"
      >
        edit
      </button>
    </span>
  );
}

export function BlameLine(props: { store: Store; found: BlameAnswer | null; error: KernelError | null }) {
  const { store, found, error } = props;
  if (error) return <ErrorBox error={error} />;
  if (!found) return null;
  const { checkpoint, before } = found;
  return (
    <div class="ckv-blame" role="status">
      <span>
        {found.change} by <b>{safe(found.by)}</b> at step {found.step}
        {found.carried > 0 && `, carried on for ${found.carried} more`}
        {found.note && <i> {safe(found.note)}</i>}
      </span>
      {store.selected.value !== checkpoint && (
        <Button label={`Go to step ${found.step}`} kind="quiet" onPress={() => store.select(checkpoint)} />
      )}
      {before && <Button label="The step before" kind="quiet" onPress={() => store.select(before)} />}
    </div>
  );
}

/** A press on one of the panel's pin buttons. */
export function onValueClick(event: MouseEvent, onPin: (path: string) => void, onEdit: (path: string) => void): void {
  const button = (event.target as HTMLElement).closest(".ckv-pin, .ckv-edit");
  const path = button?.closest<HTMLElement>("[data-path]")?.dataset.path;
  if (path) (button.classList.contains("ckv-pin") ? onPin : onEdit)(path);
}

/** Keys on a focused value: `b` asks who wrote it, `p` pins its path. */
export function onValueKey(event: KeyboardEvent, onPin: (path: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const target = event.target as HTMLElement;
  if (event.key === "b") {
    target.closest(".ckv-kv, .ckv-msgline")?.querySelector<HTMLElement>(".ckv-who:not(.ckv-pin, .ckv-edit)")?.click();
  } else if (event.key === "p") {
    const path = target.closest<HTMLElement>("[data-path]")?.dataset.path;
    if (path) onPin(path);
  }
}
