/** Keeps keys typed inside the explorer from the notebook around it. */

const FLAG = "data-lm-suppress-shortcuts";
const STOPPED = ["keydown", "keypress", "keyup", "copy", "cut", "paste"] as const;

/** Keys that the host should still see: saving, and the function keys. */
export function passesThrough(event: KeyboardEvent): boolean {
  if (/^F\d{1,2}$/.test(event.key)) return true;
  return (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s";
}

/** A single letter meant as a command: not with a modifier, AltGr or while composing. */
export function isPlainKey(event: KeyboardEvent): boolean {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return false;
  return !event.getModifierState?.("AltGraph");
}

/**
 * Puts both mechanisms on a root; the signal takes them off. The flag is for JupyterLab's and Notebook's own listener, which
 * asks each element from the focused one upwards for the flag and then for a match: so it stands on the focused one.
 */
export function isolateKeys(root: HTMLElement, signal: AbortSignal): void {
  const flag = (event: Event) => {
    const path = event.composedPath();
    const target = path[0];
    if (!path.includes(root) || !(target instanceof Element)) return;
    if (event instanceof KeyboardEvent && passesThrough(event)) target.removeAttribute(FLAG);
    else target.setAttribute(FLAG, "true");
  };
  for (const kind of ["keydown", "keypress", "keyup"] as const) {
    window.addEventListener(kind, flag, { capture: true, signal });
  }
  for (const kind of STOPPED) {
    root.addEventListener(
      kind,
      (event) => {
        if (!(event instanceof KeyboardEvent && passesThrough(event))) event.stopPropagation();
      },
      { signal },
    );
  }
  root.addEventListener("focusin", flag, { signal });
  root.addEventListener("focusout", (event) => (event.target as Element).removeAttribute(FLAG), { signal });
}
