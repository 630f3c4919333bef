import { useState } from "preact/hooks";
import { bytes, count, safe } from "./format";
import type { Cell, ChannelMatrix, Checkpoint } from "./types";
import { VersionTable } from "./versions";

const MAX_COLUMNS = 60;
const MAX_NUMBERED = 16;
const MAX_SEEN = 24;

export function ChannelsPanel(props: { answer: Checkpoint; onPick: (id: string) => void }) {
  const { answer } = props;
  const [hover, setHover] = useState<{ name: string; cell: Cell } | null>(null);
  const [routing, setRouting] = useState(false);
  const matrix = answer.channels;
  if (!matrix || matrix.rows.length === 0) return <p class="ckv-empty">No channel has a version here yet.</p>;
  const selected = matrix.steps.findIndex((step) => step.id === answer.id);
  const first = Math.max(0, Math.min(selected - MAX_COLUMNS / 2, matrix.steps.length - MAX_COLUMNS));
  const columns = matrix.steps.slice(first, first + MAX_COLUMNS);
  const folded = matrix.rows.filter((row) => row.routing);
  const shown = [...matrix.rows.filter((row) => !row.routing), ...(routing ? folded : [])];
  return (
    <div class="ckv-channels">
      <div class="ckv-matrix" role="group" aria-label="Versions by step" onMouseLeave={() => setHover(null)}>
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="ckv-sr">channel</span>
              </th>
              {columns.map((step, n) => (
                <th key={step.id} scope="col" class={first + n === selected ? "ckv-col" : ""}>
                  <button type="button" aria-label={`Step ${step.step}`} onClick={() => props.onPick(step.id)}>
                    {step.step}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.name} class={row.routing ? "ckv-routing" : ""}>
                <th scope="row" title={row.name} dir="auto">
                  {safe(row.name)}
                </th>
                {columns.map((step, n) => (
                  <MatrixCell
                    key={step.id}
                    cell={row.cells[first + n] ?? null}
                    on={first + n === selected}
                    wide={columns.length <= MAX_NUMBERED}
                    onHover={(cell) => setHover({ name: row.name, cell })}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {folded.length > 0 && (
        <button type="button" class="ckv-link" aria-expanded={routing} onClick={() => setRouting(!routing)}>
          {routing
            ? "hide routing"
            : `routing: ${count(folded.length, "channel")} of the engine${matrix.left_out ? `, the latest of ${folded.length + matrix.left_out}` : ""}`}
        </button>
      )}
      <div class="ckv-legend">
        <span class="ckv-sw ckv-sw-written" /> written here <span class="ckv-sw ckv-sw-shared" /> same blob
        <span class="ckv-sw ckv-sw-empty" /> emptied
      </div>
      <CellLine hover={hover} matrix={matrix} selected={selected} />
      <SeenTable matrix={matrix} selected={selected} />
    </div>
  );
}

function MatrixCell(props: { cell: Cell | null; on: boolean; wide: boolean; onHover: (cell: Cell) => void }) {
  const { cell, on, wide } = props;
  const words = cell ? `${KINDS[cell.kind]}, version ${cell.v}` : "";
  return (
    <td
      class={on ? "ckv-col" : ""}
      title={cell ? `${cellText(cell)}\n${cell.full}` : undefined}
      onMouseEnter={() => cell && props.onHover(cell)}
    >
      {cell && (
        <span class={`ckv-cell ckv-cell-${cell.kind}`}>
          <span class="ckv-sr">{words}</span>
          {wide && cell.kind !== "shared" && <i aria-hidden="true">{cell.v}</i>}
        </span>
      )}
    </td>
  );
}

const KINDS = { written: "written here", shared: "same blob as before", empty: "emptied" } as const;

function cellText(cell: Cell): string {
  const size = cell.bytes === null || cell.bytes === undefined ? "" : ` · ${bytes(cell.bytes)}`;
  return `version ${cell.v} · ${KINDS[cell.kind]}${cell.tag ? ` · ${cell.tag}` : ""}${size}`;
}

function CellLine(props: { hover: { name: string; cell: Cell } | null; matrix: ChannelMatrix; selected: number }) {
  const { hover, matrix, selected } = props;
  const row = matrix.rows.find((one) => !one.routing && one.cells[selected]?.kind === "written") ?? matrix.rows[0];
  const name = hover?.name ?? row?.name;
  const cell = hover?.cell ?? row?.cells[selected];
  if (!cell) return null;
  return (
    <div class="ckv-why">
      <b class="ckv-mono">{safe(name ?? "")}</b> <span title={cell.full}>{cellText(cell)}</span>
    </div>
  );
}

/** What each node has seen of the channels that start it, against the version that is there: newer starts it. */
function SeenTable({ matrix, selected }: { matrix: ChannelMatrix; selected: number }) {
  const now = new Map(matrix.rows.map((row) => [row.name, row.cells[selected]]));
  const rows = Object.entries(matrix.seen).flatMap(([node, seen]) =>
    Object.entries(seen).map(([channel, version]) => ({ node, channel, version, cell: now.get(channel) })),
  );
  return (
    <details class="ckv-seen" open={rows.length <= MAX_SEEN}>
      <summary>
        versions_seen{" "}
        <span class="ckv-muted">a node starts when a channel that starts it is newer than it has seen</span>
      </summary>
      {rows.length === 0 && <p class="ckv-empty">No node has run yet.</p>}
      {rows.length > 0 && (
        <VersionTable
          label="Versions seen"
          titles={["has seen", "is at"]}
          rows={rows.map(({ node, channel, version, cell }) => {
            const past = cell && cell.v !== version;
            const mark = past ? (cell.kind === "empty" ? " emptied" : " newer") : "";
            const is: [string, boolean] = [cell ? `${cell.v}${mark}` : "–", mark === " newer"];
            return { node, channel, cells: [[String(version), false], is] };
          })}
        />
      )}
    </details>
  );
}
