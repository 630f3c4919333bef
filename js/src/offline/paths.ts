/** Paths as one types them (`messages[-1].content`, `len(docs)`), over the values of an exported page. */
import type { Step, Values } from "./values";

export interface Path {
  steps: Step[];
  length: boolean;
}

const STEP = /\.?([\p{L}_][\p{L}\p{N}_]*)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]/uy;

export function parsePath(text: string): Path {
  const inner = /^len\((.*)\)$/s.exec(text.trim());
  const body = (inner?.[1] ?? text).trim();
  const steps: Step[] = [];
  let at = 0;
  while (at < body.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(body);
    if (!found || (found[1] && (body[at] === ".") !== steps.length > 0)) {
      throw new Error(
        `'${text}' is no path at '${body.slice(at)}': write names, [positions] and ['keys'], such as messages[-1].content or len(docs).`,
      );
    }
    steps.push(found[1] ?? (found[2] ? Number(found[2]) : unquoted(found[3] as string)));
    at = STEP.lastIndex;
  }
  if (steps.length === 0) throw new Error("A path needs a channel's name, such as messages[-1].content");
  return { steps, length: inner !== null };
}

function unquoted(text: string): string {
  const double = text[0] === "'" ? `"${text.slice(1, -1).replaceAll("\\'", "'").replaceAll('"', '\\"')}"` : text;
  return JSON.parse(double) as string;
}

/** The value at a path: a number of the table, a length, or nothing. */
export function valueAt(values: Values, state: number, path: Path): { value?: number; length?: number } | null {
  const value = values.follow(state, path.steps);
  if (value === undefined) return null;
  if (!path.length) return { value };
  const length = values.length(value);
  return length === null ? null : { length };
}

/** Steps as text, as Python shows them. */
export function shownPath(steps: readonly Step[]): string {
  return steps.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    if (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(step)) return text ? `${text}.${step}` : step;
    return text ? `${text}['${step}']` : step;
  }, "");
}
