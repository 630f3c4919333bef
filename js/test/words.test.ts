import { describe, expect, it, vi } from "vitest";
import { chain, checkpointOf, FakeKernel, stateOf } from "../dev/fake";
import { errorName } from "../src/cells";
import { bytes, duration, middle, nodeText, safe } from "../src/format";
import { wordDiff } from "../src/panels";
import { brief } from "../src/state";
import { StaticModel } from "../src/static";
import type { Entry } from "../src/types";
import { pythonText, readValues } from "../src/ui";

describe("words", () => {
  it("counts nodes and cuts in the middle", () => {
    expect(nodeText(["worker", "worker", "plan"])).toBe("worker ×2 + plan");
    expect(middle("abcdefghij", 7)).toBe("abc…hij");
    expect([duration(0.2), duration(31), duration(4200), duration(61_000), duration(-1)]).toEqual([
      "<1 ms",
      "31 ms",
      "4.2 s",
      "1 min",
      "",
    ]);
    expect(bytes(12_400)).toBe("12.4 kB");
  });

  it("shows controls as escapes", () => {
    expect(safe("a\u202eb\u0000c\n")).toBe("a\\u202eb\\u0000c\n");
  });

  it("names an error by its type alone", () => {
    expect(errorName("ValueError: no results")).toBe("ValueError");
    expect(errorName("ValueError('the kettle is empty: xxxxxxxxxxxxxxxxxxxxxx')")).toBe("ValueError");
    expect(errorName("httpx.ReadTimeout()")).toBe("ReadTimeout");
    expect(errorName("")).toBe("failed");
  });

  it("shows what a closed container holds, without its size again", () => {
    const [messages, , results, plan] = stateOf();
    expect(brief(plan as Entry)).toBe('tool: "exa", depth: 2');
    expect(brief(results as Entry)).toBe("");
    expect(brief({ ...(messages as Entry), c: null })).toBe("3 messages");
  });

  it("finds the words that differ", () => {
    expect(wordDiff("you have 3 calls", "you have 2 calls")).toEqual({
      head: "you have ",
      del: "3",
      add: "2",
      tail: " calls",
    });
    expect(wordDiff("same", "same")).toEqual({ head: "same", del: "", add: "", tail: "" });
  });

  it("reads values by channel and nothing else", () => {
    expect(readValues("")).toEqual({ ok: true, value: {} });
    expect(readValues('{"a": 1}')).toEqual({ ok: true, value: { a: 1 } });
    expect(readValues("[1]").ok).toBe(false);
    expect(readValues("{a}").ok).toBe(false);
  });

  it("writes Python", () => {
    expect(pythonText({ a: [true, null, "it's"] })).toBe("{'a': [True, None, 'it\\'s']}");
  });
});

describe("an exported page", () => {
  it("answers what it has and refuses what needs a kernel", async () => {
    const rows = chain(2);
    const model = new StaticModel({
      hello: new FakeKernel(rows).hello(),
      checkpoints: { n1: checkpointOf(rows, "n1") },
    });
    const got: Record<string, unknown>[] = [];
    model.on("msg:custom", ((message: Record<string, unknown>) => got.push(message)) as never);
    for (const [n, body] of [
      { kind: "hello" },
      { kind: "checkpoint", checkpoint: "n1" },
      { kind: "checkpoint", checkpoint: "n0" },
      { kind: "fork" },
    ].entries()) {
      model.send({ id: n, ...body });
    }
    await vi.waitFor(() => expect(got.length).toBe(4));
    const ok = got.sort((a, b) => Number(a.re) - Number(b.re)).map((one) => one.ok);
    expect(ok).toEqual([true, true, false, false]);
  });
});
