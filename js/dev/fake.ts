/** A kernel made of paper, for tests and for looking at the page. */
import type { Checkpoint, Entry, Hello, Model, RowTuple, TaskInfo, Unfinished } from "../src/types";

type Handler = (...args: never[]) => void;
type Body = Record<string, unknown>;

const T0 = Date.UTC(2025, 2, 3, 9, 30);

export function row(
  id: string,
  parent: string | null,
  step: number,
  nodes: string[] = [],
  more: { source?: string; changed?: string[]; status?: string; next?: string[]; at?: number } = {},
): RowTuple {
  const source = more.source ?? (nodes.length ? "loop" : "input");
  return [
    id,
    parent,
    step,
    source,
    T0 + (more.at ?? step * 400),
    nodes,
    more.changed ?? [],
    more.status ?? "done",
    more.next ?? [],
    null,
  ];
}

/** The story of the design's picture: a search agent with two forks, a failure and a question. */
export function story(): { rows: RowTuple[]; unfinished: Unfinished[] } {
  const rows = [
    row("c-1", null, -1, [], { changed: ["__start__"], next: ["__start__"], at: 0 }),
    row("c0", "c-1", 0, ["__start__"], { changed: ["messages"], next: ["call_model"], at: 1 }),
    row("c1", "c0", 1, ["call_model"], { changed: ["messages"], next: ["plan"], at: 447 }),
    row("c2", "c1", 2, ["plan"], { changed: ["messages", "budget"], next: ["worker"], at: 465 }),
    row("c3", "c2", 3, Array(30).fill("worker"), {
      changed: ["results"],
      next: ["summarize"],
      at: 863,
      status: "error",
    }),
    row("u3", "c2", 3, ["plan"], {
      source: "update",
      changed: ["budget"],
      next: ["approve"],
      at: 60_000,
      status: "interrupt",
    }),
    row("f3", "c2", 3, [], {
      source: "fork",
      changed: ["messages"],
      next: ["exa_search", "tavily_search"],
      at: 90_000,
    }),
    row("f4", "f3", 4, ["exa_search", "tavily_search"], { changed: ["results"], next: ["summarize"], at: 90_412 }),
    row("f5", "f4", 5, ["summarize"], { changed: ["answer"], at: 90_443 }),
  ];
  const unfinished: Unfinished[] = [
    { parent: "c3", task: "t-sum", name: "summarize", status: "error", text: "ValueError: no results to summarize" },
    { parent: "u3", task: "t-app", name: "approve", status: "interrupt", text: "Spend the second call?" },
  ];
  return { rows, unfinished };
}

export function chain(n: number, forkEvery = 0): RowTuple[] {
  const names = ["plan", "act", "observe", "reflect"];
  const rows: RowTuple[] = [];
  for (let i = 0; i < n; i++) {
    const back = forkEvery && i > 20 && i % forkEvery === 0 ? 3 + (i % 11) : 1;
    const parent = i === 0 ? null : `n${i - back}`;
    const step = i === 0 ? -1 : (rows[i - back] as RowTuple)[2] + 1;
    const nodes = back > 1 ? [] : i === 0 ? [] : [names[i % 4] as string];
    rows.push(
      row(`n${i}`, parent, step, nodes, {
        source: back > 1 ? "fork" : i === 0 ? "input" : "loop",
        changed: ["messages"],
        at: i * 37,
      }),
    );
  }
  return rows;
}

const leaf = (k: string, t: string, s: string, p: (string | number)[] = [k]): Entry => ({
  k,
  t,
  s,
  n: null,
  c: null,
  p,
});

export function stateOf(): Entry[] {
  const say = (k: number, role: string, s: string, mark?: "added"): Entry => ({
    ...leaf(String(k), "message", s, ["messages", k]),
    chat: role,
    ...(mark ? { mark } : {}),
  });
  return [
    {
      ...leaf("messages", "list", "3 messages"),
      n: 3,
      mark: "changed",
      c: [
        say(0, "human", "What is the weather in SF?"),
        say(1, "ai", "I will search twice and compare."),
        say(2, "tool", "Budget is 2 calls. Use exa only.", "added"),
      ],
    },
    leaf("budget", "int", "2"),
    { ...leaf("results", "list", "[]"), n: 0, c: [] },
    {
      ...leaf("plan", "dict", "{'tool': 'exa', 'depth': 2}"),
      n: 2,
      c: [leaf("tool", "str", "exa", ["plan", "tool"]), leaf("depth", "int", "2", ["plan", "depth"])],
    },
    leaf("embedding", "ndarray float32 (384,)", "0.021, −0.113, 0.087, …"),
    { ...leaf("image", "bytes", "89 50 4e 47 0d 0a …"), n: 12_400 },
    { ...leaf("log", "list", "[…]"), n: 500, c: null, more: true },
    leaf("note", "str", `A long text. ${"It goes on and on, as notes of models do. ".repeat(12)}`),
  ];
}

function task(id: string, name: string, state: TaskInfo["state"], more: Partial<TaskInfo> = {}): TaskInfo {
  return {
    id,
    name,
    path: `~__pregel_pull, ${name}`,
    triggers: [`branch:to:${name}`],
    why: `ran because plan's edge leads here`,
    versions: `branch:to:${name} is at 5, ${name} has seen 3`,
    state,
    result: [],
    error: null,
    traceback: null,
    interrupts: [],
    ...more,
  };
}

export function checkpointOf(rows: readonly RowTuple[], id: string): Checkpoint {
  const at = rows.findIndex((one) => one[0] === id);
  const found = rows[at] as RowTuple;
  const byId = new Map(rows.map((one) => [one[0], one]));
  const line: RowTuple[] = [];
  for (let one: RowTuple | undefined = found; one && line.length < 40; one = byId.get(one[1] ?? "")) line.unshift(one);
  const names = ["messages", "budget", "results", "answer", "branch:to:plan", "branch:to:summarize"];
  return {
    id,
    title: `After ${found[5][0] ?? found[3]} (step ${found[2]}) · Next: ${found[8].join(", ")}`,
    state: stateOf(),
    next: found[8],
    diff: {
      a: found[1],
      b: id,
      summary: "1 message added, budget changed",
      parts: [
        { op: "add", path: "messages[2]", after: "tool: Budget is 2 calls. Use exa only." },
        { op: "change", path: "budget", before: "you have 3 calls left", after: "you have 2 calls left" },
        { op: "del", path: "scratch", before: "'draft'" },
        { op: "same", path: "messages[0:2]", n: 2 },
      ],
    },
    channels: {
      steps: line.map((one) => ({ id: one[0], step: one[2] })),
      rows: names.map((name, n) => ({
        name,
        routing: name.startsWith("branch"),
        cells: line.map((_, j) => {
          if (j < n - 1) return null;
          const kind = n > 3 && j > n ? "empty" : (j + n) % 3 === 0 || j === n - 1 ? "written" : "shared";
          return { v: String(j + 1), full: `0000000${j + 1}.0.4138`, kind, bytes: 96 * (j + 1), tag: "msgpack" };
        }),
      })),
      seen: { plan: { messages: "3" } },
    },
    writes: {
      made: found[5].slice(0, 3).map((name, n) =>
        task(`43865935-${n}`, name, "done", {
          result: [leaf("results", "list", "['The time period when the sun…']")],
        }),
      ),
      next:
        id === "u3"
          ? [
              task("7263c738-1", "approve", "interrupt", {
                interrupts: [{ id: "i1", value: leaf("", "str", "Spend the second call?"), answered: false }],
              }),
              task("7263c739-1", "confirm", "interrupt", {
                interrupts: [{ id: "i2", value: leaf("", "str", "Really?"), answered: false }],
              }),
            ]
          : found[8].map((name, n) =>
              id === "c3"
                ? task(`dc22067${n}`, name, "error", {
                    error: "ValueError: no results to summarize",
                    traceback:
                      "Traceback (most recent call last):\n  File search.py, line 41, in summarize\nValueError: no results to summarize",
                  })
                : task(`dc22067${n}`, name, "pending"),
            ),
      why_not: [{ node: "approve", why: "no edge leads here from plan; router `route` chose exa_search" }],
    },
    raw: {
      config: { configurable: { thread_id: "support-7", checkpoint_ns: "", checkpoint_id: id } },
      metadata: { source: found[3], step: found[2], parents: {} },
      python: `graph.get_state({"configurable": {"thread_id": "support-7", "checkpoint_id": "${id}"}})`,
    },
  };
}

const yes = { ok: true, why: null };

/** Answers like the kernel would, from rows in memory; `delay` plays the round trip. */
export class FakeKernel implements Model {
  readonly sent: Body[] = [];
  delay = 0;
  /** Kinds that are never answered. */
  deaf = new Set<string>();
  private readonly handlers = new Map<string, Set<Handler>>();
  private forks = 0;

  constructor(
    public rows: RowTuple[],
    public unfinished: Unfinished[] = [],
    readonly traits: Body = { height: 560, theme: "auto" },
  ) {}

  get(name: string): unknown {
    return this.traits[name];
  }

  on(event: string, fn: Handler): void {
    const set = this.handlers.get(event) ?? new Set();
    this.handlers.set(event, set.add(fn));
  }

  off(event: string, fn?: Handler): void {
    if (fn) this.handlers.get(event)?.delete(fn);
  }

  send(content: unknown): void {
    const message = content as Body;
    this.sent.push(message);
    if (this.deaf.has(String(message.kind))) return;
    const answer = () => this.emit({ re: message.id, ...this.answer(message) });
    if (this.delay > 0) setTimeout(answer, this.delay);
    else queueMicrotask(answer);
  }

  emit(message: object): void {
    for (const fn of this.handlers.get("msg:custom") ?? []) (fn as (m: object) => void)(message);
  }

  addRow(one: RowTuple): void {
    this.rows.push(one);
    this.emit({ event: "rows", reset: false, head: one[0], rows: [one], unfinished: this.unfinished });
  }

  hello(): Hello {
    return {
      session: "s1",
      title: "graph",
      thread: "support-7",
      ns: "",
      threads: [
        { id: "support-7", checkpoints: this.rows.length, last_step: 5, last_time: null, status: "done" },
        { id: "support-8", checkpoints: 3, last_step: 1, last_time: null, status: "waits" },
      ],
      namespaces: [""],
      can: { fork: yes, replay: yes, resume: yes, run: yes, stop: { ok: false, why: "Nothing runs on this thread." } },
      nodes: ["call_model", "plan", "worker", "approve", "exa_search", "tavily_search", "summarize"],
      channels: [
        { name: "messages", kind: "BinaryOperatorAggregate", reducer: "add_messages", routing: false },
        { name: "budget", kind: "LastValue", reducer: null, routing: false },
        { name: "results", kind: "BinaryOperatorAggregate", reducer: "operator.add", routing: false },
        { name: "answer", kind: "LastValue", reducer: null, routing: false },
      ],
      height: 560,
      theme: "auto",
      rows: { reset: true, head: this.rows.at(-1)?.[0] ?? null, rows: this.rows, unfinished: this.unfinished },
      selected: this.rows.some((one) => one[0] === "f3") ? "f3" : null,
    };
  }

  private answer(message: Body): object {
    const ok = (result: object) => ({ ok: true, result });
    switch (message.kind) {
      case "hello":
      case "thread":
        return ok(this.hello());
      case "checkpoint":
        return ok(checkpointOf(this.rows, String(message.checkpoint)));
      case "diff":
        return ok({ ...checkpointOf(this.rows, String(message.b)).diff, a: message.a, b: message.b });
      case "value": {
        const from = Number(message.offset ?? 0);
        const entries = Array.from({ length: 50 }, (_, n) => leaf(String(from + n), "str", `line ${from + n}`));
        return ok({ entries, total: 500 });
      }
      case "preview":
        return ok({
          values: stateOf().slice(0, 2),
          next: ["exa_search", "tavily_search"],
          again: ["exa_search", "tavily_search", "summarize"],
          notes: ["1 interrupt will ask again: approve"],
          dead_end: false,
        });
      case "replay_plan":
        return ok({ again: ["exa_search", "tavily_search", "summarize"] });
      case "fork": {
        const id = `new${++this.forks}`;
        const parent = this.rows.find((one) => one[0] === message.checkpoint) as RowTuple;
        this.addRow(
          row(id, parent[0], parent[2] + 1, [], {
            source: "fork",
            changed: Object.keys(message.values as object),
            next: ["exa_search"],
            at: 120_000,
          }),
        );
        return ok({ checkpoint: id });
      }
      case "export":
        return ok({ path: "run.html" });
      case "replay":
      case "resume":
      case "run":
        return ok({ started: true });
      case "select":
        return ok({});
      default:
        return { ok: false, error: { type: "ValueError", message: `unknown kind ${String(message.kind)}` } };
    }
  }
}
