import { useState } from "preact/hooks";
import { BlameLine, onValueClick, onValueKey, useBlame, ValueButtons } from "./blame";
import { EditBody, EditButton, useEdit } from "./edits";
import { bytes, count, middle, safe } from "./format";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import type { Checkpoint, Entry } from "./types";
import { Button, ErrorBox } from "./ui";
import { pathText } from "./watch";

const FOLD_AT = 240;

export function StatePanel(props: {
  store: Store;
  answer: Checkpoint;
  onPin: (path: string) => void;
  onEdit: (path: string) => void;
}) {
  const { store, answer } = props;
  if (answer.state.length === 0) return <p class="ckv-empty">No values in this checkpoint yet.</p>;
  return (
    <div
      class="ckv-state"
      role="group"
      aria-label="Values"
      onClick={(event) => onValueClick(event, props.onPin, props.onEdit)}
      onKeyDown={(event) => onValueKey(event, props.onPin)}
    >
      {answer.state.map((entry) => (
        <EntryView key={`${answer.id}/${entry.k}`} store={store} id={answer.id} entry={entry} level={0} />
      ))}
    </div>
  );
}

interface EntryProps {
  store: Store | null;
  id: string;
  entry: Entry;
  level: number;
  /** Open from the start, whatever its size. */
  opened?: boolean;
}

export function EntryView({ store, id, entry, level, opened = false }: EntryProps) {
  const isText = !entry.c && (entry.t === "str" || entry.t === "bytes");
  const has = (entry.c?.length ?? 0) > 0 || (entry.more === true && !isText);
  const isChat = entry.c?.some((one) => one.chat) ?? false;
  const [open, setOpen] = useState(opened || (level === 0 && (isChat || (entry.c?.length ?? 99) <= 4)));
  const [more, setMore] = useState<{ entries: Entry[]; total: number } | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const blame = useBlame(store, id, entry);
  const edit = useEdit(entry);
  const children = more?.entries ?? entry.c ?? [];
  const total = more?.total ?? entry.n ?? children.length;
  const canLoad = store !== null && (entry.more || (more !== null && children.length < total));
  const load = async () => {
    if (!store) return;
    try {
      const offset = more ? children.length : 0;
      const got = await store.ask<{ entries: Entry[]; total: number }>("value", {
        checkpoint: id,
        path: entry.p,
        offset,
      });
      setMore({ entries: more ? [...children, ...got.entries] : got.entries, total: got.total });
      setError(null);
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  const toggle = () => {
    setOpen(!open);
    if (!open && children.length === 0 && canLoad) void load();
  };
  return (
    <div
      data-path={pathText(entry.p)}
      class={`ckv-entry${level === 0 ? " ckv-top" : ""}${entry.mark && entry.mark !== "same" ? ` ckv-m-${entry.mark}` : ""}${edit?.edit ? " ckv-edited" : ""}`}
    >
      <div class="ckv-kv">
        {has ? (
          <button
            type="button"
            class="ckv-twist"
            aria-expanded={open}
            aria-label={`${open ? "Close" : "Open"} ${safe(entry.k)}`}
            onClick={toggle}
          />
        ) : (
          <span class="ckv-twist ckv-leaf" />
        )}
        <b dir="auto">{safe(entry.k)}</b>
        <i>{typeText(entry)}</i>
        {isText && entry.more && store ? (
          <LongText store={store} id={id} entry={entry} />
        ) : (
          !(has && open) && <Text text={brief(entry)} type={entry.t} />
        )}
        {blame.able && !edit && (
          <ValueButtons entry={entry} open={blame.found !== null} onPress={() => void blame.ask()} />
        )}
        {edit && <EditButton edits={edit.edits} entry={entry} />}
      </div>
      {edit && <EditBody edits={edit.edits} entry={entry} edit={edit.edit} />}
      {store && <BlameLine store={store} found={blame.found} error={blame.error} />}
      {has && open && (
        <div class={isChat ? "ckv-chat" : "ckv-children"}>
          {children.map((child) =>
            child.chat ? (
              <Message key={child.k} store={store} id={id} entry={child} />
            ) : (
              <EntryView key={child.k} store={store} id={id} entry={child} level={level + 1} />
            ),
          )}
          {error && <ErrorBox error={error} onRetry={() => void load()} />}
          {canLoad && (
            <Button label={`More (${children.length} of ${total})`} kind="quiet" onPress={() => void load()} />
          )}
        </div>
      )}
    </div>
  );
}

/** What a closed container holds, in one line; its size is said beside its type. */
export function brief(entry: Entry): string {
  if (!entry.c || entry.chat) return entry.s;
  if (entry.c.length === 0) return "";
  const keyed = entry.c.some((one) => typeof one.p.at(-1) === "string");
  const parts = entry.c.slice(0, 5).map((one) => {
    const text = middle(one.t === "str" ? JSON.stringify(one.s) : one.s, 24);
    return keyed ? `${middle(one.k, 24)}: ${text}` : text;
  });
  return `${parts.join(", ")}${(entry.n ?? entry.c.length) > parts.length ? ", …" : ""}`;
}

function typeText(entry: Entry): string {
  const size = entry.n === null || entry.n === undefined ? "" : sizeText(entry);
  const mark = entry.mark === "added" ? " · new here" : entry.mark === "changed" ? " · changed here" : "";
  return `${entry.t}${size}${mark}`;
}

function sizeText(entry: Entry): string {
  const n = entry.n as number;
  if (entry.t === "bytes") return ` · ${bytes(n)}`;
  if (entry.t === "str") return n > 60 ? ` · ${count(n, "character")}` : "";
  return n === 0 ? " · empty" : ` · ${count(n, "item")}`;
}

const TYPE_CLASS: Record<string, string> = {
  int: "ckv-num",
  float: "ckv-num",
  bool: "ckv-num",
  NoneType: "ckv-nul",
  str: "ckv-str",
};

function Text({ text, type }: { text: string; type: string }) {
  const [all, setAll] = useState(false);
  const long = text.length > FOLD_AT;
  return (
    <span class={`ckv-val ${TYPE_CLASS[type] ?? "ckv-mono"}`} dir="auto">
      {safe(long && !all ? `${text.slice(0, FOLD_AT)}…` : text)}
      {long && (
        <button type="button" class="ckv-link" onClick={() => setAll(!all)}>
          {all ? "less" : "more"}
        </button>
      )}
    </span>
  );
}

/** A text that the kernel cut: further parts come on demand. */
function LongText({ store, id, entry }: { store: Store; id: string; entry: Entry }) {
  const [text, setText] = useState<string | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  const total = entry.n ?? 0;
  const left = text === null ? total : total - text.length;
  const load = async () => {
    try {
      const got = await store.ask<{ entries: Entry[]; total: number }>("value", {
        checkpoint: id,
        path: entry.p,
        offset: text?.length ?? 0,
      });
      setText((text ?? "") + (got.entries[0]?.s ?? ""));
      setError(null);
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  return (
    <span class="ckv-val" dir="auto">
      {safe(text ?? (entry.s.length > FOLD_AT ? `${entry.s.slice(0, FOLD_AT)}…` : entry.s))}
      {left > 0 && entry.t === "str" && (
        <button type="button" class="ckv-link" onClick={() => void load()}>
          more of {count(total, "character")}
        </button>
      )}
      {error && <ErrorBox error={error} />}
    </span>
  );
}

function Message({ store, id, entry }: { store: Store | null; id: string; entry: Entry }) {
  const edit = useEdit(entry);
  const [open, setOpen] = useState(false);
  const blame = useBlame(store, id, entry);
  const content = entry.c?.find((one) => one.k === "content" && one.t === "str");
  const said = content ?? entry;
  const saidEdit = edit?.edits.at(said.p);
  const marked = entry.mark === "added" || entry.mark === "changed";
  return (
    <div data-path={pathText(entry.p)} class={`ckv-msg${marked ? " ckv-new" : ""}${saidEdit ? " ckv-edited" : ""}`}>
      <div class="ckv-msgline">
        <em>{entry.chat}</em>
        <Text text={content?.s ?? entry.s} type="str" />
        {entry.c && entry.c.length > 0 && (
          <button type="button" class="ckv-link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "less" : "fields"}
          </button>
        )}
        {blame.able && !edit && (
          <ValueButtons entry={entry} open={blame.found !== null} onPress={() => void blame.ask()} />
        )}
        {edit && !open && <EditButton edits={edit.edits} entry={said} />}
      </div>
      {edit && !open && <EditBody edits={edit.edits} entry={said} edit={saidEdit} />}
      {store && <BlameLine store={store} found={blame.found} error={blame.error} />}
      {open && entry.c?.map((child) => <EntryView key={child.k} store={store} id={id} entry={child} level={1} />)}
    </div>
  );
}
