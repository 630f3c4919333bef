import { ErrorBox } from "../ui";
import type { Failure } from "./props";

/** An error of the kernel inside its own pane. */
export function Failed({ error, onRetry }: { error: Failure; onRetry: () => void }) {
  return <ErrorBox error={Object.assign(new Error(error.message), error)} onRetry={onRetry} />;
}
