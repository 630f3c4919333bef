import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { Entry } from "./types";
import { Button, Choice, readJson } from "./ui";
import { pathText } from "./watch";

type Path = readonly (string | number)[];

export interface Edit {
  path: Path;
  /** The new value as JSON text: Python reads it, so that big integers arrive whole. */
  json: string;
}

/** What JSON can say, by the kernel's names; anything else is locked. */
const KINDS = new Set(["str", "int", "float", "bool", "NoneType", "list", "tuple", "dict", "set", "frozenset"]);

/** The edits by path of one fork: at most one at a place, none inside another. */
export class Edits {
  readonly list: Signal<Edit[]> = signal([]);
  /** The path whose value is being written. */
  readonly open: Signal<string | null> = signal(null);

  private readonly topics: Set<string>;

  constructor(
    readonly store: Store,
    readonly base: string,
    private readonly changed: () => void,
  ) {
    const channels = store.hello.peek()?.channels ?? [];
    this.topics = new Set(channels.filter((one) => one.kind === "Topic").map((one) => one.name));
  }

  at(path: Path): Edit | undefined {
    return this.list.value.find((one) => pathText(one.path) === pathText(path));
  }

  set(path: Path, json: string): void {
    this.list.value = [...this.list.peek().filter((one) => !within(path, one.path)), { path, json }];
    this.changed();
  }

  drop(path: Path): void {
    this.list.value = this.list.peek().filter((one) => pathText(one.path) !== pathText(path));
    this.changed();
  }

  get channels(): string[] {
    return [...new Set(this.list.value.map((one) => String(one.path[0])))];
  }

  /** Why the value can't be written in its place, or null. */
  why(entry: Entry): string | null {
    if (entry.t === "redacted") return "It is redacted.";
    if (this.topics.has(String(entry.p[0])))
      return "A Topic: what is written there is added, so nothing in it can be changed.";
    if (this.list.value.some((one) => one.path.length < entry.p.length && within(one.path, entry.p)))
      return "The whole that it is part of is written anew.";
    if (!KINDS.has(entry.t) && !entry.c?.length && !entry.more)
      return `JSON has no form for ${entry.t}: write it from Python with explorer.edit(path, value).`;
    return null;
  }
}

const within = (outer: Path, inner: Path) => outer.every((step, n) => inner[n] === step);

export const EditContext = createContext<Edits | null>(null);

/** How a value is shown that has been edited. */
export function useEdit(entry: Entry): { edits: Edits; edit: Edit | undefined } | null {
  const edits = useContext(EditContext);
  return edits && entry.p.length > 0 ? { edits, edit: edits.at(entry.p) } : null;
}

/** The button beside a value, and below it the field while its value is written. */
export function EditButton({ edits, entry }: { edits: Edits; entry: Entry }) {
  const why = edits.why(entry);
  const path = pathText(entry.p);
  if (edits.open.value === path) return null;
  return (
    <span class="ckv-editbtn" data-edit={path}>
      <Button
        label={`Edit ${safe(path)}`}
        icon={why === null ? "pencil" : "lock"}
        bare
        kind="quiet"
        why={why}
        onPress={() => {
          edits.open.value = path;
        }}
      />
    </span>
  );
}

export function EditBody({ edits, entry, edit }: { edits: Edits; entry: Entry; edit: Edit | undefined }) {
  const path = pathText(entry.p);
  if (edits.open.value === path) return <EditField key={path} edits={edits} entry={entry} edit={edit} />;
  if (!edit) return null;
  return (
    <div class="ckv-editnew">
      <span class="ckv-arrow">→</span>
      <code dir="auto">{safe(edit.json.length > 400 ? `${edit.json.slice(0, 400)}…` : edit.json)}</code>
      <Button
        label={`Undo the edit of ${safe(path)}`}
        icon="undo"
        bare
        kind="quiet"
        onPress={() => {
          focusEdit(path);
          edits.drop(entry.p);
        }}
      />
    </div>
  );
}

/** Puts the focus on a value's edit button, before what holds it now goes. */
function focusEdit(path: string): void {
  const root = (document.activeElement?.shadowRoot ?? document).activeElement?.closest(".ckv-sheet");
  setTimeout(() => {
    const button = root?.querySelector<HTMLElement>(`[data-edit="${CSS.escape(path)}"] button`);
    (button ?? (root as HTMLElement | null))?.focus({ preventScroll: true });
  }, 0);
}

/** Scrolls the boxes around an element, but never the page, so that it is seen. */
export function reveal(element: HTMLElement | null): void {
  for (let box = element?.parentElement; box && !box.classList.contains("ckv-sheet"); box = box.parentElement) {
    if (!element || box.scrollHeight <= box.clientHeight) continue;
    const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
    if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top + 30;
    else if (inner.top + Math.min(inner.height + 40, 120) > outer.bottom)
      box.scrollTop += Math.min(inner.bottom - outer.bottom + 40, inner.top - outer.top);
  }
}

type Mode = "text" | "json";

function EditField({ edits, entry, edit }: { edits: Edits; entry: Entry; edit: Edit | undefined }) {
  const [text, setText] = useState<string | null>(null);
  const [mode, setMode] = useState<Mode>(entry.t === "str" ? "text" : "json");
  const [problem, setProblem] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const path = pathText(entry.p);
  const isText = entry.t === "str";
  useEffect(() => {
    let alive = true;
    const begin = (json: string) => {
      if (!alive) return;
      const read = readJson(json);
      const asText = isText && read.ok && typeof read.value === "string";
      setMode(asText ? "text" : "json");
      setText(asText ? String((read as { value: unknown }).value) : json);
    };
    if (edit) begin(edit.json);
    else
      edits.store
        .ask<{ json?: string; locked?: string }>("edit_text", { checkpoint: edits.base, path: entry.p })
        .then((got) => (got.json === undefined ? alive && setProblem(got.locked ?? "It is locked.") : begin(got.json)))
        .catch((reason) => alive && setProblem(asKernelError(reason).message));
    return () => {
      alive = false;
    };
  }, []);
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
    reveal(field.current);
  }, [text === null]);
  const read = text === null ? null : mode === "text" ? { ok: true as const, value: text } : readJson(text);
  const close = () => {
    focusEdit(path);
    edits.open.value = null;
  };
  const keep = () => {
    if (!read?.ok || text === null) return;
    edits.set(entry.p, mode === "text" ? JSON.stringify(text) : text.trim());
    close();
  };
  if (problem !== null || text === null) {
    return (
      <div class="ckv-editfield">
        <p class="ckv-hint" role="status">
          {problem ?? "Asking for the whole value…"}
        </p>
        <Button label="Leave it" kind="quiet" onPress={close} />
      </div>
    );
  }
  return (
    <div class="ckv-editfield">
      <textarea
        ref={field}
        class="ckv-code"
        aria-label={`New value of ${safe(path)}`}
        rows={Math.min(8, Math.max(1, text.split("\n").length, Math.ceil(text.length / 60)))}
        spellcheck={false}
        dir="auto"
        aria-invalid={read?.ok ? undefined : "true"}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Escape") close();
          else if (event.key === "Enter" && !event.shiftKey) keep();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div class="ckv-row-start">
        <Button label="Set" kind="main" why={read?.ok ? null : "This is not JSON yet."} onPress={keep} />
        <Button label="Leave it" kind="quiet" onPress={close} />
        {isText && (
          <Choice
            label="Write as"
            name={`edit-${path}`}
            value={mode}
            options={[
              { value: "text", text: "text" },
              { value: "json", text: "JSON" },
            ]}
            onChange={setMode}
          />
        )}
        <span class={`ckv-hint${read?.ok ? "" : " ckv-bad"}`}>
          {read?.ok ? "Enter sets, Shift+Enter breaks the line, Esc leaves" : read && `Not JSON yet: ${read.why}`}
        </span>
      </div>
    </div>
  );
}
