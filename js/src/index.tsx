import { render as draw } from "preact";
import { App, themeOf } from "./app";
import { type StaticData, StaticModel } from "./static";
import { storeOf } from "./store";
import { hostTheme } from "./theme";
import type { Model } from "./types";

interface RenderContext {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** Shows one view of a model in an element; what it returns takes the view away. */
function render({ model, el, signal }: RenderContext): () => void {
  const store = storeOf(model);
  const root = document.createElement("div");
  root.className = "ckpt-viz";
  const theme = themeOf(model);
  root.dataset.theme = theme === "auto" ? hostTheme() : theme;
  root.style.setProperty("--ckv-height", `${Number(model.get("height")) || 560}px`);
  el.append(root);
  draw(<App model={model} store={store} root={root} />, root);
  store.start();
  const done = () => {
    draw(null, root);
    root.remove();
  };
  signal?.addEventListener("abort", done, { once: true });
  return done;
}

/** Shows exported data without a kernel. */
export function mountStatic(el: HTMLElement, data: StaticData): () => void {
  return render({ model: new StaticModel(data), el });
}

export default { render };

/** An exported page holds the data and an empty place for the explorer beside this script. */
function mountExported(): void {
  const data = document.getElementById("ckpt-viz-data");
  const place = document.getElementById("ckpt-viz-root");
  if (!data || !place || place.childElementCount > 0) return;
  mountStatic(place, JSON.parse(data.textContent ?? "{}") as StaticData);
}

if (typeof document !== "undefined") mountExported();
