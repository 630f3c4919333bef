import { ranText } from "./cells";
import type { Row } from "./store";

/** Rows that a search text names, newest first: a step by its number, or a piece of a node, channel, status or id. */
export function searchRows(rows: readonly Row[], query: string): string[] | null {
  const text = query.trim().toLowerCase();
  if (!text) return null;
  const step = /^(?:go to |step )?(-?\d+)$/.exec(text)?.[1];
  const hits = rows.filter((row) => (step === undefined ? matches(row, text) : row.step === Number(step)));
  return hits.map((row) => row.id).reverse();
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

/** The hit after a checkpoint (older), or before it; ids are newest first. */
export function nextHit(ids: readonly string[], from: string | null, back: boolean): string | undefined {
  const at = from === null ? -1 : ids.indexOf(from);
  if (at >= 0) return ids[(at + (back ? ids.length - 1 : 1)) % ids.length];
  if (from === null) return ids[0];
  return back ? (ids.findLast((id) => id > from) ?? ids.at(-1)) : (ids.find((id) => id < from) ?? ids[0]);
}
