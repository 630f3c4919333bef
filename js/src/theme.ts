/** Light or dark, as the host shows it now. */
export type Theme = "light" | "dark";
export type ThemeChoice = "auto" | Theme;

export function hostTheme(doc: Document = document): Theme {
  const { body, documentElement: html } = doc;
  const lab = body.dataset.jpThemeLight;
  if (lab === "true") return "light";
  if (lab === "false") return "dark";
  const names = `${html.className} ${body.className}`;
  const kind = body.dataset.vscodeThemeKind ?? "";
  if (/\b(vscode-dark|vscode-high-contrast|dark|dark-theme|theme-dark)\b/.test(names) || kind.includes("dark"))
    return "dark";
  if (/\b(vscode-light|light|light-theme|theme-light)\b/.test(names) || kind.includes("light")) return "light";
  const named = html.dataset.theme ?? body.dataset.theme;
  if (named === "dark" || named === "light") return named;
  return window.matchMedia?.("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Calls back whenever the host's theme may have changed. */
export function watchTheme(signal: AbortSignal, onChange: () => void): void {
  const observer = new MutationObserver(onChange);
  for (const el of [document.documentElement, document.body]) {
    observer.observe(el, {
      attributes: true,
      attributeFilter: ["class", "data-jp-theme-light", "data-theme", "data-vscode-theme-kind"],
    });
  }
  window.matchMedia?.("(prefers-color-scheme: dark)").addEventListener("change", onChange, { signal });
  signal.addEventListener("abort", () => observer.disconnect());
}
