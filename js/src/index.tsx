import { render as draw } from "preact";
import { App } from "./app";
import { loadParts } from "./more/load";
import { themeOf } from "./root";
import { type StaticData, StaticModel } from "./static";
import { type Store, storeOf } from "./store";
import { hostTheme } from "./theme";
import type { Model } from "./types";

interface RenderContext {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** The kernel follows a history for as long as somebody may look at it. */
const PULSE_MS = 25_000;

/** Shows one view of a model in an element; what it returns takes the view away. */
function show({ model, el, signal }: RenderContext, store: Store): () => void {
  const root = document.createElement("div");
  root.className = "ckpt-viz";
  const theme = themeOf(model);
  root.dataset.theme = theme === "auto" ? hostTheme() : theme;
  root.style.setProperty("--ckv-height", `${Number(model.get("height")) || 560}px`);
  el.append(root);
  draw(<App model={model} store={store} root={root} />, root);
  store.start();
  // The rest of the page comes before it is asked for: at the first sign of a hand.
  const fetchRest = () => void loadParts(store).catch(() => undefined);
  for (const kind of ["pointerover", "focusin"]) root.addEventListener(kind, fetchRest, { once: true });
  // JupyterLab tells that the connection came or went, not which: so it is tried.
  const onLive = () => setTimeout(() => store.setLost(!store.transport.reaches()), 50);
  model.on("comm_live_update", onLive);
  const pulse = () => {
    if (document.visibilityState === "visible") store.setLost(!store.transport.reaches());
  };
  const pulses = setInterval(pulse, PULSE_MS);
  document.addEventListener("visibilitychange", pulse);
  const done = () => {
    clearInterval(pulses);
    document.removeEventListener("visibilitychange", pulse);
    model.off("comm_live_update", onLive);
    draw(null, root);
    root.remove();
  };
  signal?.addEventListener("abort", done, { once: true });
  return done;
}

/** Shows exported data without a kernel. */
export function mountStatic(el: HTMLElement, data: StaticData): () => void {
  const model = new StaticModel(data);
  return show({ model, el }, storeOf(model));
}

/**
 * What a host calls, once for each model. anywidget hands every view a wrapper of its own around the model, so the store
 * that all views share is made here: two stores on one model would take each other's answers.
 */
export default function widget() {
  let store: Store | null = null;
  return {
    initialize({ model }: { model: Model }): void {
      store = storeOf(model);
    },
    render(context: RenderContext): () => void {
      store ??= storeOf(context.model);
      return show(context, store);
    },
  };
}

/** An exported page holds the data and an empty place for the explorer beside this script. */
function mountExported(): void {
  const data = document.getElementById("ckpt-viz-data");
  const place = document.getElementById("ckpt-viz-root");
  if (!data || !place || place.childElementCount > 0) return;
  mountStatic(place, JSON.parse(data.textContent ?? "{}") as StaticData);
}

if (typeof document !== "undefined") mountExported();
