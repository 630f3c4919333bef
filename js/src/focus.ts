/** The net under the focus: what removes, hides or disables the focused element should move the focus first. */

/** Takes the focus to the root when its element goes, so that no key after it reaches the notebook. */
export function keepFocus(root: HTMLElement, signal: AbortSignal): void {
  const left = (event: FocusEvent) => {
    const target = event.target as HTMLElement;
    if (event.relatedTarget === null) setTimeout(() => caught(root, target));
  };
  root.addEventListener("focusout", left, { signal });
}

function caught(root: HTMLElement, target: HTMLElement): void {
  const { activeElement } = root.getRootNode() as Document | ShadowRoot;
  const elsewhere = activeElement !== null && activeElement !== document.body;
  const gone = !target.isConnected || target.matches(":disabled") || target.getClientRects().length === 0;
  // A hidden output has no size: then the focus went with it, and nobody types into it.
  if (gone && !elsewhere && root.isConnected && root.getClientRects().length > 0) root.focus({ preventScroll: true });
}
