import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { chain, FakeKernel } from "../dev/fake";
import { KernelError, Transport } from "../src/transport";

describe("transport", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("matches answers to requests by their number, in any order", async () => {
    const kernel = new FakeKernel(chain(3));
    kernel.deaf.add("value");
    const transport = new Transport(kernel);
    const first = transport.request("value", { path: ["a"] });
    const second = transport.request("value", { path: ["b"] });
    kernel.emit({ re: 2, ok: true, result: "B" });
    kernel.emit({ re: 1, ok: true, result: "A" });
    kernel.emit({ re: 1, ok: true, result: "again" });
    expect(await Promise.all([first, second])).toEqual(["A", "B"]);
    expect(kernel.sent[0]).toEqual({ id: 1, kind: "value", path: ["a"] });
  });

  it("turns an error answer into an error with type and traceback", async () => {
    const kernel = new FakeKernel(chain(3));
    kernel.deaf.add("fork");
    const transport = new Transport(kernel);
    const asked = transport.request("fork");
    kernel.emit({ re: 1, ok: false, error: { type: "ValueError", message: "no", traceback: "tb" } });
    await expect(asked).rejects.toMatchObject({ type: "ValueError", message: "no", traceback: "tb" });
  });

  it("says when the kernel is busy, and when it is back", async () => {
    const kernel = new FakeKernel(chain(3));
    kernel.deaf.add("hello");
    const transport = new Transport(kernel, { slowMs: 100 });
    const seen: boolean[] = [];
    transport.onSlow = (slow) => seen.push(slow);
    const asked = transport.request("hello");
    vi.advanceTimersByTime(99);
    expect(seen).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(seen).toEqual([true]);
    kernel.emit({ re: 1, ok: true, result: {} });
    await asked;
    expect(seen).toEqual([true, false]);
  });

  it("fails what is never answered", async () => {
    const kernel = new FakeKernel(chain(3));
    kernel.deaf.add("hello");
    const transport = new Transport(kernel, { lateMs: 1000 });
    const asked = transport.request("hello");
    const failed = expect(asked).rejects.toBeInstanceOf(KernelError);
    vi.advanceTimersByTime(1001);
    await failed;
  });

  it("fails at once when the model can't send", async () => {
    const kernel = new FakeKernel(chain(3));
    kernel.send = () => {
      throw new Error("comm closed");
    };
    await expect(new Transport(kernel).request("hello")).rejects.toMatchObject({ type: "Disconnected" });
  });

  it("passes events on, also as text, and drops what is neither", () => {
    const kernel = new FakeKernel(chain(3));
    const transport = new Transport(kernel);
    const seen: unknown[] = [];
    transport.listen((message) => seen.push(message.event));
    kernel.emit({ event: "rows" });
    kernel.emit('{"event":"run"}' as unknown as object);
    kernel.emit("not json" as unknown as object);
    kernel.emit({ other: 1 });
    expect(seen).toEqual(["rows", "run"]);
  });
});
