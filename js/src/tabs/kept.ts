import { useEffect, useState } from "preact/hooks";
import { type Failure, failureOf, type TabProps } from "./props";

const KEPT = 200;
const answers = new WeakMap<object, Map<string, unknown>>();

export interface Answered<T> {
  /** What is shown: till the answer is there, that about the checkpoint before. */
  found: T | null;
  /** The answer about this checkpoint itself. */
  current: T | null;
  error: Failure | null;
  retry: () => void;
}

/**
 * The answer about the selected checkpoint, asked once: what such an answer tells does not change. What was shown stays
 * until the next answer is there, so nothing flickers while one walks along.
 */
export function useAnswer<T>({ history, ask, answer }: TabProps, kind: string): Answered<T> {
  const kept = (answers.get(history) ?? new Map()) as Map<string, T>;
  answers.set(history, kept);
  const id = `${kind} ${answer.id}`;
  const [state, setState] = useState<{ id: string; found: T | null; error: Failure | null } | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (kept.has(id)) return;
    let alive = true;
    ask<T>(kind, { checkpoint: answer.id }).then(
      (found) => {
        kept.set(id, found);
        if (kept.size > KEPT) kept.delete(kept.keys().next().value as string);
        if (alive) setState({ id, found, error: null });
      },
      (reason) => alive && setState({ id, found: null, error: failureOf(reason) }),
    );
    return () => {
      alive = false;
    };
  }, [id, tries]);
  const now = state?.id === id ? state : null;
  const current = kept.get(id) ?? now?.found ?? null;
  return {
    found: current ?? state?.found ?? null,
    current,
    error: now?.error ?? null,
    retry: () => setTries(tries + 1),
  };
}
