import { useEffect, useState } from "preact/hooks";
import { keepFocus } from "./focus";
import { isolateKeys } from "./keyboard";
import { hostTheme, type ThemeChoice, watchTheme } from "./theme";
import type { Hello, Model } from "./types";

const NARROW = 720;
/** A saved widget without a kernel is never answered: then the saved picture below it is shown. */
const UNANSWERED_MS = 3000;

export function themeOf(model: Model): ThemeChoice {
  const wanted = model.get("theme");
  return wanted === "light" || wanted === "dark" ? wanted : "auto";
}

/** What the root itself carries: theme, size, name and keys. Tells whether the view is narrow. */
export function useRoot(
  root: HTMLElement,
  model: Model,
  hello: Hello | null,
  choice: ThemeChoice,
  onTheme: () => void,
): boolean {
  const [narrow, setNarrow] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    isolateKeys(root, abort.signal);
    keepFocus(root, abort.signal);
    const observer = new ResizeObserver(() => {
      if (root.clientWidth > 0) setNarrow(root.clientWidth < NARROW);
    });
    observer.observe(root);
    root.tabIndex = -1;
    root.setAttribute("role", "region");
    return () => {
      abort.abort();
      observer.disconnect();
    };
  }, []);
  useEffect(() => {
    const abort = new AbortController();
    const apply = () => {
      const theme = choice === "auto" ? hostTheme() : choice;
      if (root.dataset.theme === theme) return;
      root.dataset.theme = theme;
      onTheme();
    };
    apply();
    onTheme();
    watchTheme(abort.signal, apply);
    // the tree's canvas has colours of its own
    window.matchMedia?.("(forced-colors: active)").addEventListener("change", onTheme, { signal: abort.signal });
    return () => abort.abort();
  }, [choice]);
  useEffect(() => {
    if (hello) {
      delete root.dataset.unanswered;
      return;
    }
    const timer = setTimeout(() => {
      root.dataset.unanswered = "true";
    }, UNANSWERED_MS);
    return () => clearTimeout(timer);
  }, [hello === null]);
  useEffect(() => {
    root.setAttribute("aria-label", `Checkpoint explorer, thread ${hello?.thread ?? "none"}`);
    const height = Number(model.get("height") ?? hello?.height) || 560;
    root.style.setProperty("--ckv-height", `${height}px`);
    root.classList.toggle("ckv-inscratch", Boolean(hello?.scratch));
  }, [hello]);
  useEffect(() => {
    root.classList.toggle("ckv-narrow", narrow);
  }, [narrow]);
  return narrow;
}
