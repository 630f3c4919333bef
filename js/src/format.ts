/** Words and numbers for people. */

export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "";
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${(n / 1000).toFixed(1)} kB`;
  return `${(n / 1_000_000).toFixed(1)} MB`;
}

/** Made once: to make one takes longer than to draw the words. */
const NUMBERS = new Intl.NumberFormat("en-US");

export function count(n: number, one: string, many = `${one}s`): string {
  return `${NUMBERS.format(n)} ${n === 1 ? one : many}`;
}

/** `worker, worker, plan` → `worker ×2 + plan`. */
export function nodeText(nodes: readonly string[], between = " + "): string {
  const seen = new Map<string, number>();
  for (const node of nodes) {
    const name = node === "__start__" ? "start" : node;
    seen.set(name, (seen.get(name) ?? 0) + 1);
  }
  return [...seen].map(([name, n]) => (n > 1 ? `${name} ×${n}` : name)).join(between);
}

/** Cuts in the middle: both ends of a name tell something. */
export function middle(text: string, max: number): string {
  if (text.length <= max) return text;
  const keep = max - 1;
  return `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - Math.floor(keep / 2))}`;
}

// Bidirectional controls and other characters that would change how a name reads.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Shows controls as escapes. */
export function safe(text: string): string {
  return text.replace(CONTROLS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function clock(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString();
}
