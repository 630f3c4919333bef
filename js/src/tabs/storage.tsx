import { useEffect, useState } from "preact/hooks";
import { bytes, count, safe } from "../format";
import type { Checkpoint } from "../types";
import { Button, Note } from "../ui";
import { Failed } from "./failed";
import { type Failure, failureOf, type TabProps } from "./props";

type Place = [id: string | null, step: number | null];
type Version = [
  number: string,
  full: string,
  bytes: number | null,
  tag: string | null,
  usedBy: number,
  first: Place,
  last: Place,
];

export interface StorageAnswer {
  place: string;
  known: "report" | "blobs" | "versions";
  how: string;
  partly: boolean;
  all: number | null;
  thread: number | null;
  checkpoints: number | null;
  writes: number | null;
  shared: number | null;
  unique: number | null;
  channels: ChannelBytes[];
  freed: { checkpoints: number; writes: number | null; values: number; bytes: number | null } | null;
  prune: { ok: boolean; why: string };
}

export interface ChannelBytes {
  name: string;
  routing: boolean;
  bytes: number | null;
  shared: number | null;
  count: number;
  versions: Version[];
}

/** The newest answer of each history, shown while the next one is asked for. */
const newest = new WeakMap<object, { key: string; found: StorageAnswer }>();

export function StoragePanel(props: TabProps) {
  const { history, at, head } = props;
  const key = `${at ?? ""} ${head ?? ""}`;
  const [state, setState] = useState(newest.get(history) ?? null);
  const [error, setError] = useState<Failure | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setError(null);
    if (newest.get(history)?.key === key && tries === 0) return;
    let alive = true;
    props.ask<StorageAnswer>("storage", at === undefined ? {} : { at }).then(
      (found) => {
        newest.set(history, { key, found });
        if (alive) setState({ key, found });
      },
      (reason) => alive && setError(failureOf(reason)),
    );
    return () => {
      alive = false;
    };
  }, [key, tries]);
  const found = state?.found;
  return (
    <div class="ckv-storage">
      {error && <Failed error={error} onRetry={() => setTries(tries + 1)} />}
      {!found && !error && <p class="ckv-empty">Measuring…</p>}
      {found && <Whole found={found} />}
      {found && <Channels {...props} found={found} />}
      {found && <Prune found={found} />}
      {found && (
        <div class="ckv-row-start">
          <Button label="Measure again" kind="quiet" onPress={() => setTries(tries + 1)} />
        </div>
      )}
    </div>
  );
}

const PARTS = [
  ["unique", "values of one checkpoint"],
  ["shared", "values that several share"],
  ["checkpoints", "checkpoints' own rows"],
  ["writes", "kept writes"],
] as const;

/** The thread's bytes as one bar, and its parts in words. */
function Whole({ found }: { found: StorageAnswer }) {
  const parts = PARTS.map(([name, text]) => ({ name, text, size: found[name] })).filter((part) => part.size !== null);
  const total = found.thread ?? parts.reduce((sum, part) => sum + (part.size ?? 0), 0);
  return (
    <section class="ckv-whole" aria-label="What the thread takes">
      <p class="ckv-total">
        <b>{parts.length ? bytes(total) : "Bytes are not known"}</b>
        <span class="ckv-muted">
          {parts.length ? "this thread" : ""} in {safe(found.place)}
          {found.all !== null && found.all !== total ? `, ${bytes(found.all)} with all other threads` : ""}
        </span>
      </p>
      {total > 0 && (
        <>
          <div class="ckv-stack" aria-hidden="true">
            {parts
              .filter((part) => part.size)
              .map((part) => (
                <i key={part.name} class={`ckv-s-${part.name}`} style={{ flexGrow: part.size ?? 0 }} />
              ))}
          </div>
          <ul class="ckv-parts2">
            {parts.map((part) => (
              <li key={part.name}>
                <i class={`ckv-s-${part.name}`} aria-hidden="true" />
                {part.text} <b>{bytes(part.size ?? 0)}</b>
              </li>
            ))}
          </ul>
        </>
      )}
      <p class="ckv-muted">
        {safe(found.how)}
        {found.partly ? " Older checkpoints have not been read yet: they are not counted below." : ""}
      </p>
    </section>
  );
}

/** The version of each channel at the selected checkpoint, as the saver writes it. */
export function versionsHere(answer: Checkpoint): Map<string, string> {
  const here = new Map<string, string>();
  const matrix = answer.channels;
  const column = matrix?.steps.findIndex((step) => step.id === answer.id.split("\u0001")[0]) ?? -1;
  for (const row of matrix?.rows ?? []) {
    const full = row.cells[column]?.full;
    if (full) here.set(row.name, full);
  }
  return here;
}

function Channels(props: TabProps & { found: StorageAnswer }) {
  const { found, answer } = props;
  const [routing, setRouting] = useState(false);
  const here = versionsHere(answer);
  const engine = found.channels.filter((one) => one.routing);
  const shown = [...found.channels.filter((one) => !one.routing), ...(routing ? engine : [])];
  const most = Math.max(1, ...found.channels.map((one) => one.bytes ?? 0));
  return (
    <section class="ckv-usage" aria-label="Bytes by channel">
      <table>
        <thead>
          <tr>
            {["channel", "versions", "bytes", "shared"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            <th scope="col">
              <span class="ckv-sr">share of the largest</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((one) => (
            <ChannelRows key={one.name} {...props} one={one} most={most} here={here.get(one.name)} />
          ))}
        </tbody>
      </table>
      {engine.length > 0 && (
        <button type="button" class="ckv-link" aria-expanded={routing} onClick={() => setRouting(!routing)}>
          {routing ? "hide routing" : `routing: ${count(engine.length, "channel")} of the engine${sumOf(engine)}`}
        </button>
      )}
    </section>
  );
}

function sumOf(list: ChannelBytes[]): string {
  const known = list.filter((one) => one.bytes !== null);
  return known.length ? `, ${bytes(known.reduce((sum, one) => sum + (one.bytes ?? 0), 0))}` : "";
}

function ChannelRows(
  props: TabProps & { found: StorageAnswer; one: ChannelBytes; most: number; here: string | undefined },
) {
  const { one, here } = props;
  const [open, setOpen] = useState(false);
  return (
    <>
      <tr class={one.routing ? "ckv-routing" : ""}>
        <th scope="row" dir="auto">
          <div>
            <button
              type="button"
              class="ckv-twist"
              aria-label={`Versions of ${safe(one.name)}`}
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            />
            <span title={safe(one.name)}>{safe(one.name)}</span>
          </div>
        </th>
        <td>{one.count}</td>
        <td>{one.bytes === null ? "–" : bytes(one.bytes)}</td>
        <td>{one.shared === null ? "–" : bytes(one.shared)}</td>
        <td class="ckv-barcell">
          {one.bytes !== null && (
            <span class="ckv-usebar" aria-hidden="true">
              <i class="ckv-s-unique" style={{ width: `${((one.bytes - (one.shared ?? 0)) / props.most) * 100}%` }} />
              <i class="ckv-s-shared" style={{ width: `${((one.shared ?? 0) / props.most) * 100}%` }} />
            </span>
          )}
        </td>
      </tr>
      {open &&
        one.versions.map((version) => (
          <VersionRow key={version[1]} {...props} version={version} on={version[1] === here} />
        ))}
      {open && one.count > one.versions.length && (
        <tr class="ckv-version">
          <td colSpan={5}>and {count(one.count - one.versions.length, "older version")}</td>
        </tr>
      )}
    </>
  );
}

/** A version: its bytes, and the checkpoints that share it. */
function VersionRow(props: TabProps & { version: Version; on: boolean }) {
  const [number, full, size, tag, usedBy, first, last] = props.version;
  return (
    <tr class={`ckv-version${props.on ? " ckv-here" : ""}`}>
      <th scope="row" title={full}>
        version {number}
        {tag ? <span class="ckv-muted"> {safe(tag)}</span> : null}
        {props.on && <span class="ckv-badge ckv-b-head">here</span>}
      </th>
      <td />
      <td>{size === null ? "–" : bytes(size)}</td>
      <td colSpan={2}>
        {usedBy === 1 ? "only " : `${usedBy} checkpoints, `}
        <Jump {...props} place={first} />
        {usedBy > 1 && <> to </>}
        {usedBy > 1 && <Jump {...props} place={last} />}
      </td>
    </tr>
  );
}

function Jump(props: TabProps & { place: Place }) {
  const [id, step] = props.place;
  if (id === null) return null;
  const key = props.at === undefined ? id : `${id}\u0001${props.at}`;
  return (
    <button type="button" class="ckv-link" onClick={() => props.pick(key)}>
      step {step ?? "?"}
    </button>
  );
}

/** What would go if only the newest checkpoints were kept. Nothing is removed. */
function Prune({ found }: { found: StorageAnswer }) {
  const { freed, prune } = found;
  if (!freed) return <Note>{safe(prune.why)}</Note>;
  const parts = [
    count(freed.checkpoints, "checkpoint"),
    freed.writes === null ? null : count(freed.writes, "kept write"),
    count(freed.values, "value"),
  ].filter(Boolean);
  return (
    <section class="ckv-why ckv-prune" aria-label="What a prune would free">
      <b>A prune</b>
      {freed.checkpoints === 0 ? (
        "would remove nothing: only the newest checkpoint is there, or what is labelled."
      ) : (
        <>
          to the newest checkpoint would remove {parts.join(", ")}
          {freed.bytes === null ? "" : `: ${bytes(freed.bytes)} of values`}. What is labelled stays.
        </>
      )}
      <p>{prune.ok ? "A dry run of the saver: nothing was removed." : safe(prune.why)}</p>
    </section>
  );
}
