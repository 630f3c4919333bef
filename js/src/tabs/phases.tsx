import { useState } from "preact/hooks";
import { count, safe } from "../format";
import type { TaskInfo } from "../types";
import { Choice, Note } from "../ui";
import { VersionTable } from "../versions";
import { Failed } from "./failed";
import type { Answered } from "./kept";
import type { Inside } from "./marks";
import type { TabProps } from "./props";

export interface PhasesAnswer {
  base: string | null;
  base_step: number | null;
  source: string;
  plan: {
    id: string;
    node: string;
    sent: [number, number] | null;
    triggers: { channel: string; at: string; seen: string; fired: boolean }[];
  }[];
  barriers: { node: string; has: string[]; waits: string[] }[];
  idle: string[];
  run: {
    id: string;
    node: string;
    state: TaskInfo["state"];
    writes: [channel: string, text: string][];
    more: number;
    n: number;
  }[];
  update: Update[];
  tasks: number;
  notes: string[];
  /** How the nodes of graphs inside stand; an older exported page does not know. */
  inside?: Inside;
}

export interface Update {
  channel: string;
  routing: boolean;
  how: string;
  reducer: string | null;
  old: string | null;
  new: string | null;
  writes: [node: string, text: string, n: number][];
  more: number;
  from: string;
  to: string;
  /** Names that a barrier waits for, who had come, and who has now. */
  ticks: [all: string[], before: string[], after: string[]] | null;
}

export type Phase = "plan" | "run" | "update";
const PHASES = [
  { value: "plan", text: "1 plan" },
  { value: "run", text: "2 run" },
  { value: "update", text: "3 update" },
] as const;
/** The step that made the selected checkpoint, phase by phase. */
export function Phases(props: TabProps & { answered: Answered<PhasesAnswer> }) {
  const { found, error, retry } = props.answered;
  const [phase, setPhase] = useState<Phase>("plan");
  if (error) return <Failed error={error} onRetry={retry} />;
  if (!found) return null;
  const move = (by: number) => {
    const at = PHASES.findIndex((one) => one.value === phase) + by;
    const next = PHASES[Math.max(0, Math.min(PHASES.length - 1, at))];
    if (next) setPhase(next.value);
  };
  return (
    <section class="ckv-phases" aria-label="How this step was made">
      <div class="ckv-phasehead">
        <h4>How step {props.step ?? "?"} was made</h4>
        {found.source !== "fork" && (
          <>
            <Choice label="Phase" name={`${props.view}-phase`} value={phase} options={PHASES} onChange={setPhase} />
            <span class="ckv-phasewalk">
              <Step label="Phase before" text="‹" off={phase === "plan"} onPress={() => move(-1)} />
              <Step label="Phase after" text="›" off={phase === "update"} onPress={() => move(1)} />
            </span>
          </>
        )}
      </div>
      {found.notes.map((note) => (
        <Note key={note}>{safe(note)}</Note>
      ))}
      {found.source !== "fork" && (
        <div class={`ckv-phase ckv-ph-${phase}`}>
          {phase === "plan" && <Plan found={found} />}
          {phase === "run" && <Run found={found} />}
          {phase === "update" && <Updates found={found} />}
        </div>
      )}
    </section>
  );
}

function Step(props: { label: string; text: string; off: boolean; onPress: () => void }) {
  return (
    <button
      type="button"
      class="ckv-btn ckv-k-quiet ckv-bare"
      aria-label={props.label}
      title={props.label}
      aria-disabled={props.off ? "true" : undefined}
      onClick={() => !props.off && props.onPress()}
    >
      {props.text}
    </button>
  );
}

const BY_HAND: Record<string, string> = {
  input: "An input: no node was planned.",
  update: "An edit: no node was planned.",
};

function Plan({ found }: { found: PhasesAnswer }) {
  const byHand = BY_HAND[found.source];
  if (byHand) return <p class="ckv-empty">{byHand}</p>;
  const rows = found.plan.flatMap((task) =>
    task.sent ? [] : task.triggers.filter((one) => one.fired).map((one) => ({ node: task.node, ...one })),
  );
  const sent = countSent(found);
  return (
    <>
      <p class="ckv-lead">
        From step {found.base_step ?? "?"}: a node runs when a channel that starts it is newer than what it has seen.
      </p>
      {rows.length > 0 && (
        <VersionTable
          label="Triggers that fired"
          titles={["is at", "has seen"]}
          rows={rows.map((row) => ({
            node: nodeName(row.node),
            channel: row.channel,
            cells: [
              [row.at, true],
              [row.seen === "none" ? "–" : row.seen, false],
            ],
          }))}
        />
      )}
      {sent.map(([node, n]) => (
        <p key={node}>
          <b class="ckv-mono">{safe(node)}</b> was sent {n === 1 ? "once" : `${n} times`}, each with an argument of its
          own.
        </p>
      ))}
      {found.plan.length === 0 && <p class="ckv-empty">Which tasks were planned is not known.</p>}
      {found.barriers.map((one) => (
        <p key={one.node} class="ckv-barrier">
          <b class="ckv-mono">{safe(one.node)}</b>
          <Ticks all={[...one.has, ...one.waits]} come={one.has} />
          <span class="ckv-muted">waits</span>
        </p>
      ))}
      {found.idle.length > 0 && (
        <p class="ckv-muted">
          Nothing new for {found.idle.slice(0, 8).map(safe).join(", ")}
          {found.idle.length > 8 ? ` and ${found.idle.length - 8} more` : ""}.
        </p>
      )}
    </>
  );
}

function countSent(found: PhasesAnswer): [string, number][] {
  const sent = new Map<string, number>();
  for (const task of found.plan) if (task.sent) sent.set(task.node, (sent.get(task.node) ?? 0) + 1);
  return [...sent];
}

const nodeName = (name: string): string => (name === "__start__" ? "start" : safe(name));
const isRouting = (channel: string): boolean => /^(branch:|join:|__)/.test(channel) && channel !== "__root__";

function Run({ found }: { found: PhasesAnswer }) {
  const shown = found.run.reduce((sum, task) => sum + task.n, 0);
  return (
    <>
      <p class="ckv-lead">
        {found.tasks === 1 ? "One task" : count(found.tasks, "task")} worked on the same old state. What they write is
        queued until all are done.
      </p>
      {found.run.map((task) => {
        const own = task.writes.filter(([channel]) => !isRouting(channel));
        const routes = task.writes.filter(([channel]) => isRouting(channel));
        return (
          <div key={task.id || task.node} class="ckv-ran">
            <b class="ckv-mono" dir="auto">
              {nodeName(task.node)}
              {task.n > 1 && <i> ×{task.n}</i>}
            </b>
            <dl>
              {own.map(([channel, text], n) => (
                <div key={n}>
                  <dt dir="auto">{safe(channel)}</dt>
                  <dd dir="auto" title={safe(text)}>
                    {safe(text)}
                  </dd>
                </div>
              ))}
              {own.length === 0 && routes.length === 0 && <span class="ckv-muted">wrote nothing</span>}
              {routes.length > 0 && <span class="ckv-muted">routing: {routes.map(routeText).join(", ")}</span>}
              {task.more > 0 && <span class="ckv-muted">and {count(task.more, "write")} more</span>}
            </dl>
          </div>
        );
      })}
      {found.tasks > shown && found.run.length > 0 && (
        <p class="ckv-muted">and {count(found.tasks - shown, "task")} more</p>
      )}
    </>
  );
}

/** What a routing write does, in words. */
export function routeText([channel, text]: [string, string]): string {
  if (channel.startsWith("branch:to:")) return `→ ${safe(channel.slice("branch:to:".length))}`;
  if (channel.startsWith("join:")) return `ticks the barrier of ${safe(channel.split(":").slice(2).join(":"))}`;
  if (channel === "__pregel_tasks") return safe(text);
  return safe(channel);
}

function Updates({ found }: { found: PhasesAnswer }) {
  const [routing, setRouting] = useState(false);
  const own = found.update.filter((one) => !one.routing);
  const engine = found.update.filter((one) => one.routing);
  return (
    <>
      {own.length === 0 && <p class="ckv-empty">No channel of the state changed.</p>}
      {own.map((one) => (
        <Fold key={one.channel} one={one} />
      ))}
      {engine.length > 0 && (
        <button type="button" class="ckv-link" aria-expanded={routing} onClick={() => setRouting(!routing)}>
          {routing ? "hide routing" : `routing: ${count(engine.length, "channel")} of the engine`}
        </button>
      )}
      {routing && engine.map((one) => <Fold key={one.channel} one={one} />)}
    </>
  );
}

/** `old ⊕ w1 ⊕ w2 → new`. */
function Fold({ one }: { one: Update }) {
  return (
    <div
      class={`ckv-fold${one.routing ? " ckv-routing" : ""}`}
      role="group"
      aria-label={`Update of ${safe(one.channel)}`}
    >
      <div class="ckv-foldhead">
        <b class="ckv-mono" dir="auto">
          {safe(one.channel)}
        </b>
        <span class={one.reducer && one.reducer !== "<lambda>" ? "ckv-mono" : "ckv-muted"}>{safe(one.how)}</span>
        <span class="ckv-muted ckv-versions">
          {one.from === "none" ? `new, version ${one.to}` : `version ${one.from} → ${one.to}`}
        </span>
      </div>
      {one.ticks ? (
        <p class="ckv-barrier">
          <Ticks all={one.ticks[0]} come={one.ticks[1]} />
          <i>→</i>
          {one.ticks[1].length === one.ticks[0].length && one.ticks[2].length === 0 ? (
            <span class="ckv-muted">all had come: read and set back</span>
          ) : (
            <Ticks all={one.ticks[0]} come={one.ticks[2]} />
          )}
        </p>
      ) : (
        <ol class="ckv-terms">
          <Term sign="" who="old" text={one.old} />
          {one.writes.map(([node, text, times], n) => (
            <Term key={n} sign={one.reducer ? "⊕" : "←"} who={node} times={times} text={text} />
          ))}
          {one.more > 0 && (
            <li>
              <i>⊕</i> <span class="ckv-muted">{count(one.more, "write")} more</span>
            </li>
          )}
          <Term
            sign="→"
            who={one.writes.length === 0 && one.new === null ? "read, and emptied" : "new"}
            text={one.new}
          />
        </ol>
      )}
    </div>
  );
}

function Term(props: { sign: string; who: string; times?: number; text: string | null }) {
  return (
    <li class={props.sign === "→" ? "ckv-new" : ""}>
      <i>{props.sign}</i>
      <span class="ckv-who2" dir="auto">
        {nodeName(props.who)}
        {(props.times ?? 1) > 1 && ` ×${props.times}`}
      </span>
      <code dir="auto" title={props.text === null ? undefined : safe(props.text)}>
        {props.text === null ? "–" : safe(props.text)}
      </code>
    </li>
  );
}

/** Who has come to a barrier, and who has not: a filled or an empty box before each name. */
function Ticks({ all, come }: { all: string[]; come: string[] }) {
  const has = all.filter((name) => come.includes(name));
  const waits = all.filter((name) => !come.includes(name));
  const words = [
    has.length ? `has ${has.join(", ")}` : "has none",
    waits.length ? `waits for ${waits.join(", ")}` : "waits for none",
  ].join("; ");
  return (
    <span class="ckv-ticks" role="img" aria-label={safe(words)}>
      {all.map((name) => (
        <span key={name} class={come.includes(name) ? "ckv-come" : ""}>
          {safe(name)}
        </span>
      ))}
    </span>
  );
}
