import { describe, expect, it } from "vitest";
import { draw, type LaneInput, Lanes } from "../src/lanes";

const rows = (text: string): LaneInput[] =>
  text
    .trim()
    .split(/\s+/)
    .map((one) => {
      const [id, parent] = one.split("<");
      return { id: (id ?? "").replace("~", ""), parent: parent || null, virtual: one.startsWith("~") };
    });

function picture(text: string): string {
  const input = rows(text);
  const lanes = new Lanes();
  lanes.set(input);
  return `\n${draw(input, lanes)}\n`;
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

describe("lanes", () => {
  it("draws a straight line", () => {
    expect(picture("a b<a c<b")).toMatchInlineSnapshot(`
      "
      ● c
      ● b
      ● a
      "
    `);
  });

  it("keeps the first child's lane and gives forks their own", () => {
    expect(picture("a b<a c<b d<a e<d f<b")).toMatchInlineSnapshot(`
      "
          ● f
        ● │ e
        ● │ d
      ● │ │ c
      ●─┼─╯ b
      ●─╯ a
      "
    `);
  });

  it("uses a lane again when its branch has ended", () => {
    expect(picture("a b<a x<a c<b d<c y<d e<d")).toMatchInlineSnapshot(`
      "
        ● e
      ● │ y
      ●─╯ d
      ● c
      │ ● x
      ● │ b
      ●─╯ a
      "
    `);
  });

  it("takes several roots and rows whose parent is missing", () => {
    const input = rows("a b<a c d<c e<gone");
    const lanes = new Lanes();
    lanes.set(input);
    expect(lanes.parentRow.slice(0, 5)).toEqual(Int32Array.of(-1, 0, -1, 2, -1));
    expect([...lanes.orphan.slice(0, 5)]).toEqual([0, 0, 0, 0, 1]);
  });

  it("hangs unfinished rows without taking a child's lane", () => {
    const input = rows("a ~t<a b<a ~u<b");
    const lanes = new Lanes();
    lanes.set(input);
    expect(lanes.lane(2)).toBe(0);
    expect(lanes.lane(1)).toBe(1);
    expect(lanes.lane(3)).toBe(0);
  });

  it("says the depth of forks", () => {
    const lanes = new Lanes();
    lanes.set(rows("a b<a c<a d<c e<c"));
    expect([0, 1, 2, 3, 4].map((row) => lanes.depth(row))).toEqual([0, 0, 1, 1, 2]);
  });

  it("gives the same picture by appending as by laying out again", () => {
    for (let seed = 1; seed < 60; seed++) {
      const next = random(seed);
      const input: LaneInput[] = [];
      for (let i = 0; i < 80; i++) {
        const roll = next();
        const parent = i === 0 || roll > 0.97 ? null : roll < 0.7 ? i - 1 : Math.floor(next() * i);
        input.push({ id: `n${i}`, parent: parent === null ? null : `n${parent}` });
      }
      const whole = new Lanes();
      whole.set(input);
      const grown = new Lanes();
      for (let i = 0; i < input.length; i++) {
        if (!grown.append(input.slice(i, i + 1))) grown.set(input.slice(0, i + 1));
      }
      expect(draw(input, grown)).toBe(draw(input, whole));
    }
  });

  it("takes the newest rows away again, as if they had never been there", () => {
    for (let seed = 1; seed < 40; seed++) {
      const next = random(seed);
      const input: LaneInput[] = [{ id: "n0", parent: null }];
      for (let i = 1; i < 40; i++) {
        input.push({ id: `n${i}`, parent: `n${next() < 0.7 ? i - 1 : Math.floor(next() * i)}` });
      }
      const grown = new Lanes();
      grown.set(input.slice(0, 30));
      const before = draw(input.slice(0, 30), grown);
      const hung = [0, 1, 2].map((n) => ({ id: `v${n}`, parent: "n29", virtual: true }));
      expect(grown.append(hung)).toBe(true);
      grown.pop(hung.map((row) => row.id));
      expect(draw(input.slice(0, 30), grown)).toBe(before);
      for (let i = 30; i < 40; i++) {
        if (!grown.append(input.slice(i, i + 1))) grown.set(input.slice(0, i + 1));
      }
      const whole = new Lanes();
      whole.set(input);
      expect(draw(input, grown)).toBe(draw(input, whole));
    }
  });

  it("never puts two branches on one lane at once", () => {
    const next = random(7);
    const input: LaneInput[] = [{ id: "n0", parent: null }];
    for (let i = 1; i < 2000; i++) {
      const parent = next() < 0.8 ? i - 1 : Math.floor(next() * i);
      input.push({ id: `n${i}`, parent: `n${parent}` });
    }
    const lanes = new Lanes();
    lanes.set(input);
    for (const list of lanes.byLane) {
      let end = -1;
      for (const number of list) {
        const chain = lanes.chains[number];
        expect(chain?.first).toBeGreaterThan(end);
        expect(Math.max(chain?.parentRow ?? 0, 0)).toBeGreaterThanOrEqual(Math.min(end, 0));
        end = chain?.last ?? 0;
      }
    }
  });

  it("lays out 100,000 rows fast, in a chain and as forks of one row", () => {
    const chain: LaneInput[] = Array.from({ length: 100_000 }, (_, i) => ({
      id: `n${i}`,
      parent: i === 0 ? null : `n${i % 50 === 0 ? Math.max(0, i - 40) : i - 1}`,
    }));
    const fan: LaneInput[] = chain.map((row, i) => ({ id: row.id, parent: i === 0 ? null : "n0" }));
    for (const input of [chain, fan]) {
      let best = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 5; round++) {
        const lanes = new Lanes();
        const start = performance.now();
        lanes.set(input);
        best = Math.min(best, performance.now() - start);
      }
      // 16–32 ms and 60–150 ms on a quiet machine; the limit leaves room for a loaded one.
      expect(best).toBeLessThan(input === chain ? 250 : 1000);
    }
  }, 30_000);
});
