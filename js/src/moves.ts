/** Where the keys lead in the tree. ↓ is older: rows count from the oldest, which stands at the bottom. */
import type { Chain, Lanes } from "./lanes";

/** The row that a key on row `at` goes to, or null when the key is no movement. */
export function moved(event: KeyboardEvent, lanes: Lanes, at: number, page: number): number | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  const last = lanes.count - 1;
  switch (event.key) {
    case "ArrowDown":
      return Math.max(0, at - 1);
    case "ArrowUp":
      return Math.min(last, at + 1);
    case "PageDown":
      return Math.max(0, at - page);
    case "PageUp":
      return Math.min(last, at + page);
    case "Home":
      return last;
    case "End":
      return 0;
    case "ArrowLeft":
      return event.shiftKey ? Math.max(0, lanes.parentRow[at] ?? 0) : null;
    case "ArrowRight":
      return event.shiftKey ? newestChild(lanes, at) : null;
    default:
      return null;
  }
}

function newestChild(lanes: Lanes, at: number): number {
  const forks = lanes.forksAt.get(at);
  const fork = forks ? (lanes.chains[forks.at(-1) as number] as Chain).first : -1;
  const best = Math.max(lanes.nextRow[at] ?? -1, fork);
  return best < 0 ? at : best;
}
