import { safe } from "./format";

/** A channel's version and what a node has seen of it; `newer` marks the one that counts. */
export interface VersionRow {
  node: string;
  channel: string;
  cells: [text: string, newer: boolean][];
}

/** Which versions nodes have seen: the table under why a node ran, or did not. */
export function VersionTable(props: { label: string; titles: readonly string[]; rows: readonly VersionRow[] }) {
  return (
    <table class="ckv-version-table" aria-label={props.label}>
      <thead>
        <tr>
          {["node", "channel", ...props.titles].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map(({ node, channel, cells }) => (
          <tr key={`${node} ${channel}`}>
            <th scope="row" dir="auto">
              {safe(node)}
            </th>
            <td dir="auto">{safe(channel)}</td>
            {cells.map(([text, newer], at) => (
              <td key={props.titles[at]} class={newer ? "ckv-newer" : ""}>
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
