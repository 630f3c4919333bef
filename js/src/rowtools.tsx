import { useRef, useState } from "preact/hooks";
import { safe } from "./format";
import { asKernelError, type Row } from "./store";
import { Button } from "./ui";
import type { View } from "./view";

/** What can be done with the selected row beside the acts: mark it to compare, write on it, make it the head. */
export function RowTools({ view }: { view: View }) {
  const { store, row } = view;
  const [writing, setWriting] = useState<string | null>(null);
  const back = useRef<HTMLSpanElement>(null);
  if (!row) return null;
  const id = row.unfinished?.parent ?? row.id;
  const note = store.notes.value.get(id);
  if (writing === id) {
    const done = () => {
      setWriting(null);
      queueMicrotask(() => back.current?.querySelector<HTMLElement>("[data-note]")?.focus({ preventScroll: true }));
    };
    return <NoteForm view={view} id={id} note={note ?? ""} onDone={done} />;
  }
  return (
    <div class="ckv-rowtools">
      {note && <span class="ckv-badge ckv-b-note">{safe(note)}</span>}
      <span class="ckv-group" ref={back}>
        <Mark view={view} id={id} name="A" mark={view.mark} />
        <Mark view={view} id={id} name="B" mark={view.markB} />
        {!row.level && (
          <button type="button" class="ckv-link" data-note="" onClick={() => setWriting(id)}>
            {note ? "change the note" : "note"}
          </button>
        )}
        <Head view={view} row={row} id={id} />
      </span>
    </div>
  );
}

function Mark({ view, id, name, mark }: { view: View; id: string; name: string; mark: View["mark"] }) {
  const on = mark.value === id;
  return (
    <button
      type="button"
      class="ckv-link"
      aria-pressed={on}
      onClick={() => {
        mark.value = on ? null : id;
        view.news.value = on ? `Mark ${name} removed.` : `This is ${name}.`;
      }}
    >
      {on ? `is ${name}` : `mark ${name}`}
    </button>
  );
}

function Head({ view, row, id }: { view: View; row: Row; id: string }) {
  const { store } = view;
  if (row.level || row.unfinished || id === store.head) return null;
  const why = view.why("fork");
  return (
    <button
      type="button"
      class="ckv-link"
      aria-disabled={why ? "true" : undefined}
      title={why ?? "Saves a copy of this checkpoint, which is then the newest: runs go on from it"}
      onClick={() => {
        if (why) return;
        view.act<{ checkpoint: string }>("make_head", { checkpoint: id }).then(
          (got) => view.done(got.checkpoint, "This is the head now."),
          (reason) => {
            view.error.value = asKernelError(reason);
          },
        );
      }}
    >
      make this the head
    </button>
  );
}

function NoteForm(props: { view: View; id: string; note: string; onDone: () => void }) {
  const { view, id, onDone } = props;
  const [text, setText] = useState(props.note);
  const can = view.store.hello.value?.can.label;
  const save = async () => {
    try {
      const got = await view.store.ask<{ notes: Record<string, string> }>("note", { checkpoint: id, text });
      view.store.takeNotes(got.notes);
      view.news.value = text.trim() ? "The note is kept." : "The note is gone.";
      onDone();
    } catch (reason) {
      view.error.value = asKernelError(reason);
    }
  };
  return (
    <form
      class="ckv-rowtools"
      aria-label="Note"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <input
        class="ckv-input"
        type="text"
        aria-label="Note on this checkpoint"
        placeholder="What is worth remembering here?"
        maxLength={500}
        value={text}
        ref={(el) => {
          if (el && !el.dataset.met) {
            el.dataset.met = "1";
            el.focus({ preventScroll: true });
          }
        }}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          onDone();
        }}
      />
      <Button label="Keep" kind="main" type="submit" />
      <Button label="Cancel" kind="quiet" onPress={onDone} />
      {can?.why && <span class="ckv-muted">{can.why}</span>}
    </form>
  );
}
