import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons";
import { asKernelError, type Store } from "./store";
import type { KernelError } from "./transport";
import { Button, copyText, ErrorBox } from "./ui";

type Form = "python" | "pytest";
const FORMS = [
  { name: "python", text: "Python" },
  { name: "pytest", text: "pytest" },
] as const;

/** Two buttons that copy what is meant as code. Where there is no clipboard, the code is shown selected. */
export function CopyCode(props: {
  store: Store;
  /** What the code is of: "selection", "diff", "last", or the name of an act. */
  what: string;
  /** The fields of the request that the act would make. */
  body: () => Record<string, unknown>;
  why?: string | null;
}) {
  const { store, what } = props;
  const [shown, setShown] = useState<{ form: Form; text: string; copied: boolean } | null>(null);
  const [error, setError] = useState<KernelError | null>(null);
  if (store.hello.value?.session === "export") return null;
  const copy = async (form: Form) => {
    setError(null);
    try {
      const { text } = await store.ask<{ text: string }>("code", { ...props.body(), what, form });
      setShown({ form, text, copied: await copyText(text) });
    } catch (reason) {
      setShown(null);
      setError(asKernelError(reason));
    }
  };
  return (
    <div class="ckv-copy">
      <span class="ckv-copylabel" aria-hidden="true">
        <Icon name="copy" /> copy as
      </span>
      {FORMS.map((form) => (
        <Button
          key={form.name}
          label={`Copy as ${form.text}`}
          text={form.text}
          kind="quiet"
          why={props.why ?? null}
          onPress={() => void copy(form.name)}
        />
      ))}
      {shown?.copied && (
        <span class="ckv-muted" role="status">
          Copied: {shown.form === "python" ? "Python" : "a test"}, {shown.text.split("\n").length} lines
        </span>
      )}
      {shown && !shown.copied && <Field text={shown.text} onClose={() => setShown(null)} />}
      {error && <ErrorBox error={error} />}
    </div>
  );
}

function Field({ text, onClose }: { text: string; onClose: () => void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
    field.current?.select();
  }, [text]);
  return (
    <div class="ckv-copyfield">
      <p class="ckv-hint" role="status">
        No clipboard here: the code is selected, press Ctrl+C (⌘C).
      </p>
      <textarea ref={field} class="ckv-code" aria-label="Code" readOnly rows={8} value={text} />
      <Button
        label="Close the code"
        kind="quiet"
        onPress={() => {
          field.current?.closest<HTMLElement>('[role="dialog"], [role="tabpanel"]')?.focus({ preventScroll: true });
          onClose();
        }}
      />
    </div>
  );
}
