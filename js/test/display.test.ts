import { describe, expect, it } from "vitest";
import { arrange, groupKey, inside } from "../src/display";
import { Forest } from "../src/forest";
import { keyOf, type Row, unfinishedRow } from "../src/rows";
import type { Nested, Unfinished } from "../src/types";

const waiting = (parent: string, task: string, name: string): Unfinished => ({
  parent,
  task,
  name,
  status: "interrupt",
  text: "?",
});
const row = (id: string): Row => ({ ...unfinishedRow(waiting("", "", "n")), id, parent: null, source: "loop" });

describe("what waits in nested graphs", () => {
  const top: Nested = ["mid:t1", "c1", "mid"];
  const deep: Nested = ["mid:t1|deep:t2", keyOf("c2", "mid:t1"), "deep"];
  const plain = (id: string): Row => {
    const { unfinished: _, ...rest } = row(id);
    return rest;
  };

  it("stands as deep as the graph that it is in", () => {
    const groups = new Map([
      [
        groupKey(top),
        {
          rows: inside([plain("c2")], top[0], 1),
          unfinished: [waiting(keyOf("c2", top[0]), "t2", "deep")],
          nested: [deep],
          more: false,
        },
      ],
      [
        groupKey(deep),
        {
          rows: inside([plain("c3")], deep[0], 2),
          unfinished: [waiting(keyOf("c3", deep[0]), "t3", "ask")],
          nested: [],
          more: false,
        },
      ],
    ]);
    const shown = arrange({
      hidden: new Set(),
      rows: [plain("c1")],
      unfinished: [waiting("c1", "t1", "mid")],
      nested: [top],
      groups,
    });
    const levels = Object.fromEntries(
      shown.rows.filter((one) => one.unfinished).map((one) => [one.nodes[0], one.level ?? 0]),
    );
    expect(levels).toEqual({ mid: 0, deep: 1, ask: 2 });
  });

  it("is known beside a task that failed", () => {
    const forest = new Forest();
    const failed: Unfinished = { ...waiting("c1", "t1", "worker"), status: "error", of: 30 };
    forest.take([{ ...plain("c1"), status: "error" }], [failed]);
    expect(forest.asks).toBe(false);
    forest.take([], [{ ...failed, counts: "28 done 1 failed 1 waits", waits: 1 }]);
    expect(forest.asks).toBe(true);
  });
});
