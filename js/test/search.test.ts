import { describe, expect, it } from "vitest";
import { story } from "../dev/fake";
import { readRows } from "../src/rows";
import { filterRows } from "../src/search";

describe("filters in an exported page", () => {
  const rows = readRows({ rows: story().rows } as never);
  const stepOf = (query: string) => filterRows(rows, query).ids.map((id) => rows.find((row) => row.id === id)?.step);

  it("find rows by node, source and step, also by what is not so", () => {
    const node = rows.at(-1)?.nodes[0] as string;
    const made = rows.filter((row) => row.nodes.some((one) => one.includes(node))).length;
    expect(filterRows(rows, `node:${node}`).ids.length).toBe(made);
    expect(filterRows(rows, `-node:${node}`).ids.length).toBe(rows.length - made);
    expect(new Set(stepOf("step:1"))).toEqual(new Set([1]));
    expect(filterRows(rows, `node:${node} node:nowhere`).ids).toEqual([]);
  });

  it("say of a value that it can't be looked for", () => {
    expect(filterRows(rows, 'messages~"refund"').problem).toContain("not values");
    expect(filterRows(rows, "nope:x").problem).toContain("nope:x");
  });
});
