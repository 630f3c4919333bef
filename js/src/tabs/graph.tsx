import type { Viz } from "@viz-js/viz";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, safe } from "../format";
import { loadModule } from "../load";
import type { TaskInfo } from "../types";
import { Button, Note } from "../ui";
import { Failed } from "./failed";
import { useAnswer } from "./kept";
import { type Layout, layoutOf, type Way } from "./layout";
import { type GraphAnswer, MARK_WORDS, type Mark, markOf, marksOf, markWords, owner } from "./marks";
import { Phases, type PhasesAnswer } from "./phases";
import { fitScale, Glyph, Picture } from "./picture";
import { type Failure, failureOf, type TabProps } from "./props";

interface Drawing {
  graph: GraphAnswer;
  layouts: Record<Way, Layout> | null;
}

/** One drawing for each graph that a history has: the shape does not change with the checkpoint. */
const drawings = new WeakMap<object, Map<string, Promise<Drawing>>>();

function drawingOf(props: TabProps): Promise<Drawing> {
  const known = drawings.get(props.hello) ?? new Map<string, Promise<Drawing>>();
  drawings.set(props.hello, known);
  const key = props.at ?? "";
  const made = known.get(key) ?? draw(props);
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}

async function draw({ ask, at }: TabProps): Promise<Drawing> {
  const [graph, viz] = await Promise.all([
    ask<GraphAnswer>("graph", at === undefined ? {} : { at }),
    loadModule<{ instance(): Promise<Viz> }>(ask, "viz").then(
      (module) => module.instance(),
      (reason: unknown) => failureOf(reason), // matters only where there is something to draw
    ),
  ]);
  if (!graph.dot) return { graph, layouts: null };
  if (!("render" in viz)) throw viz;
  return { graph, layouts: { TB: layoutOf(viz, graph.dot, "TB"), LR: layoutOf(viz, graph.dot, "LR") } };
}

export function GraphPanel(props: TabProps) {
  const { answer, hello, at } = props;
  const host = useRef<HTMLDivElement>(null);
  const { width, high } = useRoom(host);
  const [drawing, setDrawing] = useState<Drawing | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const [picked, setPicked] = useState<string | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let alive = true;
    setError(null);
    drawingOf(props).then(
      (got) => alive && setDrawing(got),
      (reason) => alive && setError(failureOf(reason)),
    );
    return () => {
      alive = false;
    };
  }, [hello, at, tries]);
  const step = useAnswer<PhasesAnswer>(props, "phases");
  const marks = useMemo(() => marksOf(answer, step.current?.inside), [answer, step.current]);
  const layout = drawing?.layouts && width > 0 ? bestOf(drawing.layouts, width, high) : null;
  const node = picked && drawing ? drawing.graph.nodes[picked] : undefined;
  return (
    <div class="ckv-graphtab" ref={host}>
      {error && <Failed error={error} onRetry={() => setTries(tries + 1)} />}
      {!drawing && !error && <p class="ckv-empty">Drawing the graph…</p>}
      {drawing?.graph.why && <Note>{drawing.graph.why}</Note>}
      {drawing && layout && (
        <Picture
          graph={drawing.graph}
          layout={layout}
          marks={marks}
          width={width - 2}
          high={high}
          picked={picked}
          onPick={setPicked}
        >
          <Legend graph={drawing.graph} marks={marks} />
        </Picture>
      )}
      {drawing && node && (
        <NodeCard
          {...props}
          name={node.name}
          inside={node.inside}
          owner={owner(drawing.graph, picked as string)}
          mark={markOf(marks, node)}
        />
      )}
      {drawing?.graph.note && <Note>{safe(drawing.graph.note)}</Note>}
      <Phases {...props} answered={step} />
    </div>
  );
}

/** The way of reading in which the graph is shown larger. */
function bestOf(layouts: Record<Way, Layout>, width: number, high: number): Layout {
  return fitScale(layouts.LR, width, high) > fitScale(layouts.TB, width, high) ? layouts.LR : layouts.TB;
}

interface Room {
  width: number;
  high: number;
}

const LOWEST = 220;
const HIGHEST = 460;
/** What stands below the picture: a legend of two lines. */
const BELOW = 74;

/** The panel's width, and how much of its height the picture may take. A hidden output has no size: it is kept. */
function useRoom(host: { current: HTMLElement | null }): Room {
  const [room, setRoom] = useState<Room>({ width: 0, high: LOWEST });
  useEffect(() => {
    const element = host.current;
    const panel = element?.closest<HTMLElement>(".ckv-panel");
    if (!element || !panel) return;
    const read = () => {
      const width = element.clientWidth;
      const high = Math.round(Math.max(LOWEST, Math.min(HIGHEST, panel.clientHeight - BELOW)));
      if (width > 0) setRoom((old) => (old.width === width && old.high === high ? old : { width, high }));
    };
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    observer.observe(panel);
    return () => observer.disconnect();
  }, []);
  return room;
}

function Legend({ graph, marks }: { graph: GraphAnswer; marks: Map<string, Mark> }) {
  const states = new Set(Object.values(graph.nodes).map((node) => markOf(marks, node).state));
  const kinds = new Set(Object.values(graph.edges).map((edge) => edge.kind));
  return (
    <div class="ckv-legend ckv-graphlegend">
      {(["ran", "next", "kept", "failed", "waits"] as const)
        .filter((state) => states.has(state))
        .map((state) => (
          <span key={state}>
            <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">
              <Glyph state={state} x={0} y={0} />
            </svg>
            {MARK_WORDS[state]}
          </span>
        ))}
      {kinds.has("branch") && (
        <span>
          <svg width="20" height="8" viewBox="0 0 20 8" aria-hidden="true" class="ckv-edge ckv-e-branch">
            <path class="ckv-edgeline" d="M0 4H20" />
          </svg>
          decided while running
        </span>
      )}
      {kinds.has("barrier") && (
        <span>
          <svg width="20" height="10" viewBox="0 0 20 10" aria-hidden="true" class="ckv-edge">
            <path class="ckv-edgeline" d="M0 5H20" />
            <path class="ckv-edgebar" d="M14 1V9" />
          </svg>
          waits for all
        </span>
      )}
    </div>
  );
}

function NodeCard(props: TabProps & { name: string; inside: string; owner: string; mark: Mark }) {
  const { answer, name, inside, mark } = props;
  const whyNot = inside ? undefined : answer.writes.why_not?.find((one) => one.node === name);
  const last = inside ? null : props.lastRun(name);
  return (
    <section class="ckv-nodecard" aria-label={`Node ${safe(name)}`}>
      <h4 dir="auto">
        <b>{safe(name)}</b>
        {inside && <span> in {safe(inside.replaceAll(":", " › "))}</span>}
      </h4>
      <Told title="Ran" tasks={mark.made} />
      <Told title="Runs next" tasks={mark.next} />
      {whyNot && (
        <p>
          <em>Not next</em> {safe(whyNot.why)}
        </p>
      )}
      {versionsOf(mark, whyNot).map((text) => (
        <p key={text} class="ckv-muted">
          {safe(text)}
        </p>
      ))}
      {inside && markWords(mark) && <p>{markWords(mark)}</p>}
      {inside && <Inner {...props} />}
      <div class="ckv-row-start">
        {mark.made.length + mark.next.length > 0 && (
          <Button label="Its tasks in Writes" kind="quiet" onPress={() => props.goTo("Writes")} />
        )}
        {last && last.id !== answer.id && (
          <Button label={`Last ran at step ${last.step ?? "?"}`} kind="quiet" onPress={() => props.pick(last.id)} />
        )}
      </div>
    </section>
  );
}

/** For those who learn: the versions under the sentence. */
function versionsOf(mark: Mark, whyNot: { versions?: string } | undefined): string[] {
  const told = [...mark.made, ...mark.next].map((task) => task.versions).concat(whyNot?.versions ?? "");
  return [...new Set(told.filter(Boolean))].slice(0, 2);
}

const SHOWN = 4;

function Told({ title, tasks }: { title: string; tasks: TaskInfo[] }) {
  return (
    <>
      {tasks.slice(0, SHOWN).map((task) => (
        <p key={task.id}>
          <em>{title}</em> {safe(title === "Ran" ? task.why : task.why.replace(/^ran because/, "because"))}
          {task.error && <span class="ckv-taskerr"> {safe(task.error)}</span>}
        </p>
      ))}
      {tasks.length > SHOWN && <p>and {count(tasks.length - SHOWN, "task")} more</p>}
    </>
  );
}

/** A node inside a subgraph has checkpoints of its own, in the namespace of the node that runs it. */
function Inner(props: TabProps & { owner: string }) {
  const { answer, hello, at, owner } = props;
  const tasks = [...answer.writes.next, ...answer.writes.made].filter((task) => task.name === owner);
  const here = at ?? hello.ns;
  const prefix = here ? `${here}|` : "";
  const spaces = tasks.map((task) => `${prefix}${owner}:${task.id}`).concat(`${prefix}${owner}`);
  const space = spaces.find((one) => hello.namespaces.includes(one));
  return (
    <>
      <p>Inside the subgraph that {safe(owner)} runs: its steps are in a namespace of their own.</p>
      {space && <Button label={`Open the steps of ${safe(owner)}`} onPress={() => props.openNamespace(space)} />}
    </>
  );
}
