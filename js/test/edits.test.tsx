// @vitest-environment happy-dom
import { render } from "preact";
import { describe, expect, it, vi } from "vitest";
import { FakeKernel, story } from "../dev/fake";
import { CopyCode } from "../src/code";
import { Edits } from "../src/edits";
import { Store } from "../src/store";
import type { Entry } from "../src/types";

const entry = (t: string, p: (string | number)[], more: Partial<Entry> = {}): Entry => ({
  k: "k",
  t,
  s: "",
  p,
  ...more,
});

describe("edits", () => {
  const fresh = () => {
    const changed = vi.fn();
    return { edits: new Edits(new Store(new FakeKernel(story().rows)), "c1", changed), changed };
  };

  it("keeps one edit a place, and none inside another", () => {
    const { edits, changed } = fresh();
    edits.set(["xs", 0, "a"], "1");
    edits.set(["xs", 0, "a"], "2");
    edits.set(["xs", 1], "3");
    expect(edits.list.value.map((one) => one.json)).toEqual(["2", "3"]);
    edits.set(["xs"], "[]");
    expect(edits.list.value).toEqual([{ path: ["xs"], json: "[]" }]);
    expect(edits.why(entry("str", ["xs", 0]))).toContain("part of");
    expect(edits.channels).toEqual(["xs"]);
    edits.drop(["xs"]);
    expect(edits.list.value).toEqual([]);
    expect(changed).toHaveBeenCalledTimes(5);
  });

  it("locks what JSON has no form for, and says so", () => {
    const { edits } = fresh();
    expect(edits.why(entry("int", ["n"]))).toBeNull();
    expect(edits.why(entry("Note", ["note"], { c: [entry("str", ["note", "text"])] }))).toBeNull();
    expect(edits.why(entry("bytes", ["raw"]))).toContain("JSON has no form for bytes");
    expect(edits.why(entry("redacted", ["key"]))).toContain("redacted");
  });
});

describe("code", () => {
  it("is shown selected where there is no clipboard", async () => {
    const kernel = new FakeKernel(story().rows);
    kernel.deaf.add("code");
    const host = document.createElement("div");
    document.body.append(host);
    render(<CopyCode store={new Store(kernel)} what="selection" body={() => ({ checkpoint: "c1" })} />, host);
    const button = host.querySelector<HTMLElement>('[aria-label="Copy as pytest"]');
    button?.click();
    expect(kernel.sent[0]).toMatchObject({ kind: "code", what: "selection", form: "pytest", checkpoint: "c1" });
    vi.stubGlobal("navigator", { clipboard: { writeText: () => Promise.reject(new Error("not here")) } });
    kernel.emit({ re: kernel.sent[0]?.id, ok: true, result: { text: "def test(): ..." } });
    await vi.waitFor(() => expect(host.querySelector("textarea")?.value).toBe("def test(): ..."));
    expect(host.textContent).toContain("No clipboard here");
    vi.unstubAllGlobals();
    render(null, host);
  });
});
