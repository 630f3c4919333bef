import type { Row } from "./store";
import { ranText } from "./tree";

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
