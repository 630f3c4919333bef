// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { FakeKernel, row } from "../dev/fake";
import { newRow, RowWriter } from "../src/cells";
import { readRows } from "../src/rows";
import { Store } from "../src/store";
import type { RowTuple } from "../src/types";

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

function saved(id: string, parent: string | null, step: number, turn: number, event: string, version = "1"): RowTuple {
  const plain: unknown[] = row(id, parent, step, [], { source: "update" });
  return [...plain, version, turn, event] as unknown as RowTuple;
}

async function shown(rows: RowTuple[]): Promise<HTMLElement[]> {
  const store = new Store(new FakeKernel(rows, []));
  store.start();
  await settle();
  const writer = new RowWriter(store);
  writer.learn();
  return store.rows.map((one, at) => {
    const el = newRow();
    writer.fill(at, el, one);
    return el;
  });
}

describe("a session's rows", () => {
  it("tell why a state was saved, after how many turns and by which version", async () => {
    const rows = await shown([
      saved("a", null, 0, 0, "create"),
      saved("b", "a", 1, 1, "turn"),
      saved("c", "a", 1, 0, "rollback", "2"),
    ]);
    const texts = rows.map((el) => [el.children[2]?.textContent, el.children[4]?.textContent]);
    expect(texts[0]).toEqual(["create", expect.stringContaining("turn 0v1")]);
    expect(texts[1]).toEqual(["turn", expect.stringContaining("turn 1v1")]);
    expect(texts[2]?.[0]).toBe("rollback");
    expect(rows[2]?.querySelector(".ckv-b-version")?.getAttribute("title")).toBe("made by version 2");
  });

  it("show what a version is called as text", async () => {
    const [el] = await shown([saved("a", null, 0, 0, "<b>create</b>", "<img src=x>\u202e")]);
    expect(el?.querySelector("img, b")).toBeNull();
    expect(el?.querySelector(".ckv-b-version")?.textContent).toBe("v<img src=x>\\u202e");
  });

  it("say nothing of it where a row has none of these", async () => {
    const [el] = await shown([row("a", null, 0)]);
    expect(el?.querySelector(".ckv-b-turn, .ckv-b-version")).toBeNull();
    expect(readRows({ rows: [row("a", null, 0)] })[0]?.event).toBeUndefined();
  });
});
