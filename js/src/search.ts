import { ranText } from "./cells";
import type { Row } from "./store";

/** Rows that a search text names: a step by its number, or a piece of a node, channel, status or id. */
export function searchRows(rows: readonly Row[], query: string): Set<number> | null {
  const text = query.trim().toLowerCase();
  if (!text) return null;
  const hits = new Set<number>();
  const step = /^(?:go to |step )?(-?\d+)$/.exec(text)?.[1];
  rows.forEach((row, at) => {
    if (step === undefined ? matches(row, text) : row.step === Number(step)) hits.add(at);
  });
  return hits;
}

function matches(row: Row, text: string): boolean {
  if (row.id.toLowerCase().startsWith(text)) return true;
  const words = [ranText(row), row.source, row.status, row.unfinished?.text ?? "", ...row.changed, ...row.next];
  return words.some((word) => word.toLowerCase().includes(text));
}

/** The newest row from `from` down to the oldest that fits, or -1. */
export function findLast(rows: readonly Row[], fits: (one: Row) => boolean, from: number): number {
  for (let at = from; at >= 0; at--) if (fits(rows[at] as Row)) return at;
  return -1;
}

/** The hit after a row (older), or before it. */
export function nextHit(hits: Set<number> | null, from: number, back: boolean): number | undefined {
  if (!hits || hits.size === 0) return undefined;
  const list = [...hits].sort((a, b) => b - a);
  if (back) return list.findLast((at) => at > from) ?? list.at(-1);
  return list.find((at) => at < from) ?? list[0];
}
