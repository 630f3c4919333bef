import { useEffect, useState } from "preact/hooks";
import { count, safe } from "./format";
import { Button } from "./ui";
import type { View } from "./view";

interface Surprise {
  kind: string;
  text: string;
  checkpoint: string;
}

const SHOWN = 2;
const LOOK_MS = 600;

/** What would surprise the person who ran this: a line above the tree, each with a jump. */
export function SurpriseStrip({ view }: { view: View }) {
  const { store } = view;
  const [found, setFound] = useState<Surprise[]>([]);
  const [all, setAll] = useState(false);
  const [seen, setSeen] = useState("");
  const hello = store.hello.value;
  const state = `${hello?.thread} ${hello?.ns} ${store.head} ${store.checkpoints > 0}`;
  const running = view.running;
  useEffect(() => {
    if (running || !hello?.thread || store.checkpoints === 0) {
      if (!hello?.thread) setFound([]);
      return;
    }
    let alive = true;
    const timer = setTimeout(() => {
      store.ask<{ surprises: Surprise[] }>("surprises").then(
        (got) => alive && setFound(got.surprises),
        () => undefined, // an exported page: then nothing is told
      );
    }, LOOK_MS);
    return () => {
      alive = false;
      clearTimeout(timer);
    };
  }, [state, running]);
  const sign = found.map((one) => one.text).join("\n");
  if (found.length === 0 || seen === sign) return null;
  const shown = all ? found : found.slice(0, SHOWN);
  return (
    <div class={`ckv-surprises${all ? " ckv-all" : ""}`} role="group" aria-label="Surprises">
      <b>{count(found.length, "surprise")}</b>
      <ul>
        {shown.map((one) => (
          <li key={`${one.kind}${one.checkpoint}${one.text}`}>
            <button
              type="button"
              class="ckv-link"
              title={safe(one.text)}
              onClick={() => void store.find(one.checkpoint).then(() => view.showDetail(true))}
            >
              {safe(one.text)}
            </button>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && (
        <button type="button" class="ckv-link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "fewer" : `${found.length - SHOWN} more`}
        </button>
      )}
      <Button
        label="Dismiss the surprises"
        icon="close"
        bare
        kind="quiet"
        onPress={() => {
          view.focusTree();
          setSeen(sign);
        }}
      />
    </div>
  );
}
