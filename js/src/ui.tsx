import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons";
import type { KernelError } from "./transport";

let views = 0;
/** A number for a view's DOM ids. */
export function viewId(): string {
  return `ckv${++views}`;
}

export interface ButtonProps {
  label: string;
  /** What is shown, where it is shorter than the name. */
  text?: string;
  icon?: IconName;
  filled?: boolean;
  /** Show the icon alone; the label is its name. */
  bare?: boolean;
  kind?: "plain" | "main" | "wait" | "quiet" | "alert";
  /** Why it can't be pressed; it stays focusable. */
  why?: string | null;
  pressed?: boolean;
  type?: "button" | "submit";
  title?: string;
  onPress?: () => void;
}

export function Button(props: ButtonProps) {
  const { label, icon, why, kind = "plain" } = props;
  const off = why !== undefined && why !== null;
  return (
    <button
      type={props.type ?? "button"}
      class={`ckv-btn ckv-k-${kind}${props.bare ? " ckv-bare" : ""}`}
      aria-label={label}
      aria-disabled={off ? "true" : undefined}
      aria-description={off ? why : undefined}
      aria-pressed={props.pressed}
      title={off ? why : (props.title ?? (props.bare ? label : undefined))}
      onClick={(event) => {
        if (off) event.preventDefault();
        else props.onPress?.();
      }}
    >
      {icon && <Icon name={icon} fill={props.filled ?? false} />}
      {!props.bare && <span>{props.text ?? label}</span>}
    </button>
  );
}

export function ErrorBox({ error, onRetry }: { error: KernelError; onRetry?: () => void }) {
  return (
    <div class="ckv-error" role="alert">
      <b>{error.type}</b> <span>{error.message}</span>
      {error.traceback && (
        <details>
          <summary>Traceback</summary>
          <pre>{error.traceback}</pre>
        </details>
      )}
      {onRetry && <Button label="Retry" onPress={onRetry} />}
    </div>
  );
}

export function Note({ children }: { children: ComponentChildren }) {
  return <p class="ckv-note">{children}</p>;
}

/** A choice of a few words; native radios, so that arrow keys work everywhere. */
export function Choice<T extends string>(props: {
  label: string;
  name: string;
  value: T;
  options: readonly { value: T; text: string }[];
  /** Values that can't be chosen now. */
  off?: readonly T[];
  onChange: (value: T) => void;
}) {
  return (
    <div class="ckv-seg" role="radiogroup" aria-label={props.label}>
      {props.options.map((option) => (
        <label key={option.value} class={option.value === props.value ? "ckv-on" : ""}>
          <input
            type="radio"
            name={props.name}
            checked={option.value === props.value}
            disabled={props.off?.includes(option.value) ?? false}
            onChange={() => props.onChange(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </div>
  );
}

export type JsonResult = { ok: true; value: unknown } | { ok: false; why: string };

export function readJson(text: string): JsonResult {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Reads an object of values by channel. */
export function readValues(text: string): JsonResult {
  if (text.trim() === "") return { ok: true, value: {} };
  const read = readJson(text);
  if (!read.ok) return read;
  if (typeof read.value !== "object" || read.value === null || Array.isArray(read.value)) {
    return { ok: false, why: 'Write an object by channel, such as {"channel": value}.' };
  }
  return read;
}

/** How Python would write a JSON value. */
export function pythonText(value: unknown): string {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") {
    const body = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
    return `'${body}'`;
  }
  if (Array.isArray(value)) return `[${value.map(pythonText).join(", ")}]`;
  if (typeof value === "object") {
    const items = Object.entries(value as object).map(([key, one]) => `${pythonText(key)}: ${pythonText(one)}`);
    return `{${items.join(", ")}}`;
  }
  return String(value);
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
