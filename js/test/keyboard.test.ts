import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isolateKeys, isPlainKey, passesThrough } from "../src/keyboard";

describe("keyboard isolation", () => {
  let root: HTMLElement;
  let field: HTMLInputElement;
  let abort: AbortController;
  let outside: string[];
  const note = (event: Event) => outside.push(`${event.type} ${(event as KeyboardEvent).key ?? ""}`.trim());
  const press = (at: HTMLElement, key: string, more: KeyboardEventInit = {}) =>
    at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, ...more }));

  beforeEach(() => {
    root = document.createElement("div");
    field = document.createElement("input");
    root.append(field);
    document.body.append(root);
    abort = new AbortController();
    outside = [];
    isolateKeys(root, abort.signal);
    for (const kind of ["keydown", "keyup", "keypress", "paste"]) document.body.addEventListener(kind, note);
  });

  afterEach(() => {
    abort.abort();
    root.remove();
    for (const kind of ["keydown", "keyup", "keypress", "paste"]) document.body.removeEventListener(kind, note);
  });

  it("marks the focused element before the document's capture listeners run", () => {
    let flag: string | null = null;
    const capture = () => {
      flag = field.getAttribute("data-lm-suppress-shortcuts");
    };
    document.addEventListener("keydown", capture, true);
    press(field, "d");
    document.removeEventListener("keydown", capture, true);
    expect(flag).toBe("true");
  });

  it("keeps keys and the clipboard inside", () => {
    for (const key of ["d", "x", "b", "a", "Enter", "Escape", "ArrowDown"]) press(field, key);
    field.dispatchEvent(new Event("paste", { bubbles: true }));
    expect(outside).toEqual([]);
  });

  it("lets saving and function keys through", () => {
    press(field, "s", { ctrlKey: true });
    expect(field.hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
    press(field, "S", { metaKey: true });
    press(field, "F5");
    expect(outside).toEqual(["keydown s", "keydown S", "keydown F5"]);
    press(field, "d");
    expect(field.getAttribute("data-lm-suppress-shortcuts")).toBe("true");
  });

  it("leaves keys outside of the root alone, and all keys once it is gone", () => {
    press(document.body, "d");
    expect(outside).toEqual(["keydown d"]);
    abort.abort();
    press(field, "x");
    expect(outside).toEqual(["keydown d", "keydown x"]);
  });

  it("takes the mark away when focus leaves", () => {
    field.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
    expect(field.getAttribute("data-lm-suppress-shortcuts")).toBe("true");
    field.dispatchEvent(new FocusEvent("focusout", { bubbles: true, relatedTarget: document.body }));
    expect(field.hasAttribute("data-lm-suppress-shortcuts")).toBe(false);
  });

  it("knows a plain key", () => {
    const key = (more: KeyboardEventInit) => new KeyboardEvent("keydown", { key: "f", ...more });
    expect(isPlainKey(key({}))).toBe(true);
    expect(isPlainKey(key({ ctrlKey: true }))).toBe(false);
    expect(isPlainKey(key({ altKey: true }))).toBe(false);
    expect(isPlainKey(key({ isComposing: true }))).toBe(false);
    expect(passesThrough(key({ ctrlKey: true }))).toBe(false);
  });
});
