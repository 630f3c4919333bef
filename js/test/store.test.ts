import { describe, expect, it } from "vitest";
import { chain, FakeKernel, row, story } from "../dev/fake";
import { searchRows } from "../src/search";
import { letters, Store, storeOf } from "../src/store";

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

async function opened(kernel = new FakeKernel(story().rows, story().unfinished)) {
  const store = new Store(kernel);
  store.start();
  await settle();
  return { kernel, store };
}

const asked = (kernel: FakeKernel, kind: string) => kernel.sent.filter((one) => one.kind === kind).length;

describe("store", () => {
  it("says hello once, selects what Python selected and fetches its panels in one request", async () => {
    const { kernel, store } = await opened();
    store.start();
    await settle();
    expect(asked(kernel, "hello")).toBe(1);
    expect(asked(kernel, "checkpoint")).toBe(1);
    expect(store.selected.value).toBe("f3");
    expect(store.answer.value?.id).toBe("f3");
    expect(store.pending.value).toBe(false);
  });

  it("says that the kernel is gone, and comes back with it", async () => {
    const { kernel, store } = await opened();
    kernel.deaf.add("value");
    const waits = store.ask("value", { path: [] });
    store.setLost(true);
    await expect(waits).rejects.toMatchObject({ type: "Disconnected" });
    expect(store.closed.value).toContain("Run the cell again");
    expect(store.rows.length).toBeGreaterThan(0);
    store.setLost(false);
    await settle();
    expect(store.closed.value).toBeNull();
    expect(asked(kernel, "hello")).toBe(2);
  });

  it("never shows the state of one checkpoint under the title of another that could not be read", async () => {
    const { kernel, store } = await opened();
    kernel.deaf.add("checkpoint");
    store.select("c1");
    kernel.emit({
      re: kernel.sent.at(-1)?.id,
      ok: false,
      error: { type: "CheckpointNotFoundError", message: "pruned" },
    });
    await settle();
    expect(store.answerError.value?.type).toBe("CheckpointNotFoundError");
    expect(store.answer.value).toBeNull();
  });

  it("takes a message that can't be sent for a lost kernel", async () => {
    const { kernel, store } = await opened();
    kernel.send = () => {
      throw new Error("Cannot send");
    };
    expect(store.transport.reaches()).toBe(false);
    await expect(store.ask("value")).rejects.toMatchObject({ type: "Disconnected" });
    expect(store.closed.value).toContain("Run the cell again");
  });

  it("hangs unfinished rows right after their parent, uncounted", async () => {
    const { store } = await opened();
    const ids = store.rows.map((one) => one.id);
    expect(ids[ids.indexOf("c3") + 1]).toBe("unfinished:c3:t-sum");
    expect(store.checkpoints).toBe(9);
    store.select("unfinished:c3:t-sum");
    await settle();
    expect(store.answer.value?.id).toBe("c3");
  });

  it("answers from the cache the second time", async () => {
    const { kernel, store } = await opened();
    store.select("c1");
    await settle();
    store.select("c2");
    await settle();
    store.select("c1");
    expect(store.answer.value?.id).toBe("c1");
    await settle();
    expect(asked(kernel, "checkpoint")).toBe(3);
  });

  it("asks only for the last of many quick selections", async () => {
    const { kernel, store } = await opened();
    for (const id of ["c0", "c1", "c2", "c3"]) store.select(id, 20);
    expect(store.pending.value).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(asked(kernel, "checkpoint")).toBe(2);
    expect(store.answer.value?.id).toBe("c3");
  });

  it("drops an answer that comes after a newer selection", async () => {
    const { kernel, store } = await opened();
    kernel.delay = 10;
    store.select("c0");
    store.select("c1");
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(store.answer.value?.id).toBe("c1");
  });

  it("takes new rows in, replaces known ones and follows the head", async () => {
    const { kernel, store } = await opened(new FakeKernel(chain(4)));
    expect(store.selected.value).toBe("n3");
    kernel.addRow(row("n4", "n3", 3, ["plan"]));
    expect(store.rows.length).toBe(5);
    expect(store.selected.value).toBe("n4");
    kernel.emit({
      event: "rows",
      rows: { reset: false, head: "n4", rows: [row("n4", "n3", 3, ["act"])], unfinished: [] },
    });
    expect(store.rows.length).toBe(5);
    expect(store.row("n4")?.nodes).toEqual(["act"]);
  });

  it("does not follow the head when something else is selected", async () => {
    const { kernel, store } = await opened(new FakeKernel(chain(4)));
    store.select("n1");
    kernel.addRow(row("n4", "n3", 3, ["plan"]));
    expect(store.selected.value).toBe("n1");
  });

  it("stays where a sheet is being filled in, also at the head", async () => {
    const { kernel, store } = await opened(new FakeKernel(chain(4)));
    store.held = 1;
    kernel.addRow(row("n4", "n3", 3, ["plan"]));
    expect(store.selected.value).toBe("n3");
    store.held = 0;
    store.select("n4");
    kernel.addRow(row("n5", "n4", 4, ["plan"]));
    expect(store.selected.value).toBe("n5");
  });

  it("selects a fork as soon as its row is there", async () => {
    const { kernel, store } = await opened(new FakeKernel(chain(4)));
    store.selectWhenThere("new");
    kernel.addRow(row("new", "n1", 1, [], { source: "fork" }));
    expect(store.selected.value).toBe("new");
    expect(store.branches().map((one) => one.name)).toEqual(["main", "fork A"]);
  });

  it("shows an error of the panels, and a retry clears it", async () => {
    const kernel = new FakeKernel(chain(4));
    kernel.deaf.add("checkpoint");
    const { store } = await opened(kernel);
    const request = kernel.sent.find((one) => one.kind === "checkpoint");
    kernel.emit({ re: request?.id, ok: false, error: { type: "KeyError", message: "gone" } });
    await settle();
    expect(store.answerError.value?.type).toBe("KeyError");
    kernel.deaf.clear();
    store.refresh();
    await settle();
    expect(store.answerError.value).toBeNull();
    expect(store.answer.value?.id).toBe("n3");
  });

  it("is one per model", () => {
    const kernel = new FakeKernel(chain(2));
    expect(storeOf(kernel)).toBe(storeOf(kernel));
  });

  it("names branches by letters", () => {
    expect([0, 25, 26, 701, 702].map(letters)).toEqual(["A", "Z", "AA", "ZZ", "AAA"]);
  });
});

describe("search", () => {
  it("finds all rows of a step, and words in nodes and channels", async () => {
    const { store } = await opened();
    expect(searchRows(store.rows, "3")?.length).toBe(3);
    expect(searchRows(store.rows, "go to 3")?.length).toBe(3);
    expect(searchRows(store.rows, "TAVILY")?.length).toBeGreaterThan(0);
    expect(searchRows(store.rows, "nothing like it")?.length).toBe(0);
    expect(searchRows(store.rows, "  ")).toBeNull();
  });
});
