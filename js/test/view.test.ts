// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";
import { FakeKernel, story } from "../dev/fake";
import { oneAtATime } from "../src/acts";
import widget from "../src/index";
import { Store } from "../src/store";
import type { Model } from "../src/types";

const settle = () => new Promise((resolve) => setTimeout(resolve, 20));

/** What anywidget gives to each view: a wrapper of its own around the one model. */
function wrapper(kernel: FakeKernel): Model {
  return {
    get: (name) => kernel.get(name),
    send: (content) => kernel.send(content),
    on: (event, fn) => kernel.on(event, fn),
    off: (event, fn) => kernel.off(event, fn as never),
  };
}

describe("views", () => {
  it("share one store, though each gets a wrapper of its own", async () => {
    const kernel = new FakeKernel(story().rows, story().unfinished);
    const host = widget();
    host.initialize({ model: wrapper(kernel) });
    const stop = [0, 1].map(() =>
      host.render({ model: wrapper(kernel), el: document.body.appendChild(document.createElement("div")) }),
    );
    await settle();
    expect(document.querySelectorAll(".ckpt-viz").length).toBe(2);
    expect(kernel.sent.filter((one) => one.kind === "hello").length).toBe(1);
    const numbers = kernel.sent.map((one) => one.id);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const end of stop) end();
  });
});

describe("acts", () => {
  it("are asked once while they are under way and for a double click's time, and again after that", async () => {
    vi.useFakeTimers();
    const kernel = new FakeKernel(story().rows);
    kernel.deaf.add("fork");
    const act = oneAtATime(new Store(kernel));
    const first = act("fork", { checkpoint: "c1" });
    expect(act("fork", { checkpoint: "c1" })).toBe(first);
    expect(kernel.sent.length).toBe(1);
    kernel.emit({ re: 1, ok: true, result: { checkpoint: "n" } });
    expect(await first).toEqual({ checkpoint: "n" });
    expect(act("fork", { checkpoint: "c1" })).toBe(first);
    vi.advanceTimersByTime(600);
    void act("fork", { checkpoint: "c1" });
    expect(kernel.sent.length).toBe(2);
    expect(kernel.sent[0]?.act).not.toBe(kernel.sent[1]?.act);
    vi.useRealTimers();
  });
});
