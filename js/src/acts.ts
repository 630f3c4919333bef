import type { Store } from "./store";

let acts = 0;
/** An id for one act, so that a double click is one act. */
export function actId(): string {
  return `${Date.now().toString(36)}-${++acts}-${Math.floor(Math.random() * 1e9).toString(36)}`;
}

/** An act that is still asked for is not asked again: a double click is one act. */
export function oneAtATime(store: Store) {
  const asked = new Map<string, Promise<unknown>>();
  return <T>(kind: string, body: Record<string, unknown>): Promise<T> => {
    const name = `${kind} ${JSON.stringify(body)}`;
    const known = asked.get(name) as Promise<T> | undefined;
    if (known) return known;
    const going = store.ask<T>(kind, { ...body, act: actId() }).finally(() => asked.delete(name));
    asked.set(name, going);
    return going;
  };
}
