import type { Store } from "./store";

let acts = 0;
/** An id for one act, so that a double click is one act. */
export function actId(): string {
  return `${Date.now().toString(36)}-${++acts}-${Math.floor(Math.random() * 1e9).toString(36)}`;
}

/** How long after its answer the same act counts as the second half of a double click. */
const DOUBLE_MS = 500;

/** An act that is still asked for, or was just now, is not asked again: a double click is one act. */
export function oneAtATime(store: Store) {
  const asked = new Map<string, Promise<unknown>>();
  return <T>(kind: string, body: Record<string, unknown>): Promise<T> => {
    const name = `${kind} ${JSON.stringify(body)}`;
    const known = asked.get(name) as Promise<T> | undefined;
    if (known) return known;
    const going = store.ask<T>(kind, { ...body, act: actId() });
    asked.set(name, going);
    going.then(
      () => setTimeout(() => asked.delete(name), DOUBLE_MS),
      () => asked.delete(name),
    );
    return going;
  };
}
