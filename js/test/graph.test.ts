import { instance } from "@viz-js/viz";
import { expect, test } from "vitest";
import { checkpointOf, story } from "../dev/fake";
import { arrow, bar, layoutOf, neighbour } from "../src/tabs/layout";
import { type GraphAnswer, isOver, isTaken, markOf, marksOf, markWords, owner } from "../src/tabs/marks";

const DOT = `digraph { node [shape=box fixedsize=true width=1 height=0.4]
  n0 [label="<img src=x>"]; n1; n2; n3
  subgraph cluster_0 { label=sub; n4 }
  n0 -> n1 [id=e0]; n0 -> n2 [id=e1 label=yes]; n1 -> n3 [id=e2]; n2 -> n3 [id=e3]; n3 -> n4 [id=e4]; n3 -> n3 [id=e5] }`;

test("Graphviz lays out what the page draws", async () => {
  const layout = layoutOf(await instance(), DOT, "TB");
  expect(layout.nodes.map((box) => box.id)).toEqual(["n0", "n1", "n2", "n3", "n4"]);
  expect(layout.lines.map((line) => line.id).sort()).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
  const [top, , , low] = layout.nodes;
  expect(top?.y).toBeLessThan(low?.y as number); // y goes down
  for (const box of layout.nodes) {
    expect(box.x - box.w / 2).toBeGreaterThanOrEqual(-0.5);
    expect(box.x + box.w / 2).toBeLessThanOrEqual(layout.w + 0.5);
  }
  expect(layout.frames).toHaveLength(1);
  expect(layout.lines.find((line) => line.id === "e1")?.label).not.toBeNull();
  for (const line of layout.lines) {
    expect(line.d).toMatch(/^M[-\d.]+ [-\d.]+(C[-\d. ]+)+$/);
    expect(`${arrow(line)}${bar(line)}`).not.toMatch(/NaN/);
  }
});

test("a graph may be read from left to right, and what is no graph is refused", async () => {
  const viz = await instance();
  const [down, right] = [layoutOf(viz, DOT, "TB"), layoutOf(viz, DOT, "LR")];
  expect(right.w / right.h).toBeGreaterThan(down.w / down.h);
  expect(() => layoutOf(viz, "digraph {", "TB")).toThrow(/Graphviz/);
});

test("arrow keys go to the nearest node", async () => {
  const { nodes } = layoutOf(await instance(), DOT, "TB");
  const at = (id: string) => nodes.find((box) => box.id === id) as (typeof nodes)[number];
  expect(neighbour(nodes, at("n0"), "ArrowDown")?.id).toMatch(/n1|n2/);
  const [left, right] = [at("n1"), at("n2")].sort((a, b) => a.x - b.x) as [
    (typeof nodes)[number],
    (typeof nodes)[number],
  ];
  expect(neighbour(nodes, left, "ArrowRight")?.id).toBe(right.id);
  expect(neighbour(nodes, at("n4"), "ArrowDown")).toBeNull();
});

const node = (name: string, inside = "") => ({ id: name, name, label: name, kind: "node" as const, inside });
const GRAPH: GraphAnswer = {
  dot: DOT,
  nodes: { n0: node("plan"), n1: node("approve"), n2: node("x", "approve"), n3: { ...node("__end__"), kind: "end" } },
  edges: {
    e0: { source: "n0", target: "n1", kind: "branch", label: "", router: "" },
    e1: { source: "n1", target: "n0", kind: "edge", label: "", router: "" },
    e2: { source: "n0", target: "n3", kind: "edge", label: "", router: "" },
  },
  frames: {},
  why: "",
  note: "",
};

test("nodes are marked by the tasks around a checkpoint", () => {
  const answer = checkpointOf(story().rows, "u3");
  const marks = marksOf(answer);
  expect(marks.get("approve")?.state).toBe("waits");
  expect(marks.get("plan")?.state).toBe("ran");
  expect(markWords(marks.get("approve") as never)).toBe("waits for an answer");
  expect(isTaken(GRAPH, marks, GRAPH.edges.e0 as never)).toBe(true);
  expect(isTaken(GRAPH, marks, GRAPH.edges.e1 as never)).toBe(false);
  expect(isTaken(GRAPH, marks, GRAPH.edges.e2 as never)).toBe(false);
  expect(isOver(marks)).toBe(false);
  expect(owner(GRAPH, "n2")).toBe("approve");
  const inside = marksOf(answer, { approve: { x: { kept: 2, failed: 1 } } });
  const inner = markOf(inside, GRAPH.nodes.n2 as never);
  expect(inner.state).toBe("failed");
  expect(markWords(inner)).toBe("failed, done, the step is not over ×2");
  expect(markOf(marks, GRAPH.nodes.n2 as never).state).toBe("");
  const thirty = marksOf(checkpointOf(story().rows, "c3"));
  expect(markWords(thirty.get("worker") as never)).toMatch(/^ran to make this ×/);
  expect(thirty.get("summarize")?.state).toBe("failed");
});
