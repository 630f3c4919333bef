import { ranText } from "./cells";
import { safe } from "./format";
import type { View } from "./view";

const MOST = 12;

/** "go to 14": the branches that have a step 14, each a button. */
export function GoTo({ view }: { view: View }) {
  const { store } = view;
  const step = stepOf(view.query.value);
  if (step === null || store.version.value < 0) return null;
  const found = store.forest.every.filter((row) => row.step === step && !row.level);
  if (found.length < 2) return null;
  return (
    <div class="ckv-goto" role="group" aria-label={`Branches with step ${step}`}>
      <b>Step {step}</b>
      {found
        .slice(-MOST)
        .reverse()
        .map((row) => (
          <button key={row.id} type="button" class="ckv-chip" onClick={() => view.pick(row.id)}>
            {store.forest.branchOf(row.id)}: {safe(ranText(row))}
          </button>
        ))}
      {found.length > MOST && <span class="ckv-muted">and {found.length - MOST} more</span>}
    </div>
  );
}

/** `14`, `step 14`, `go to 14`, `step:14` → 14 */
export function stepOf(query: string): number | null {
  const found = /^\s*(?:go to |step[ :])?(-?\d+)\s*$/i.exec(query)?.[1];
  return found === undefined ? null : Number(found);
}
