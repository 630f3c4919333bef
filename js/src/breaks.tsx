import { useState } from "preact/hooks";
import { safe } from "./format";
import { Frame, type SheetProps } from "./sheets";
import { asKernelError } from "./store";
import type { KernelError } from "./transport";
import { Button, ErrorBox, Note } from "./ui";

const SIDES = ["before", "after"] as const;
type Side = (typeof SIDES)[number];

/** Where runs that are started here end: a row a node, also of graphs inside. */
export function BreakpointsSheet({ store, onClose }: SheetProps) {
  const [error, setError] = useState<KernelError | null>(null);
  const hello = store.hello.value;
  const points = hello?.breakpoints ?? { before: [], after: [] };
  const places = hello?.places ?? [];
  const set = async (next: Record<Side, string[]>) => {
    setError(null);
    try {
      await store.ask("breakpoints", next);
    } catch (reason) {
      setError(asKernelError(reason));
    }
  };
  const toggle = (side: Side, node: string, on: boolean) =>
    void set({ ...points, [side]: on ? [...points[side], node] : points[side].filter((one) => one !== node) });
  const any = points.before.length + points.after.length > 0;
  return (
    <Frame
      name="Breakpoints"
      title="Breakpoints"
      onClose={onClose}
      buttons={
        <>
          <Button
            label="Clear all"
            kind="quiet"
            why={any ? null : "None is set."}
            onPress={() => void set({ before: [], after: [] })}
          />
          <Button label="Close" kind="main" onPress={onClose} />
        </>
      }
    >
      <p>A run that is started here ends at these places. Resume goes on.</p>
      {places.length === 0 && <p class="ckv-empty">There is no graph here to run.</p>}
      {places.length > 0 && (
        <table class="ckv-breaks">
          <thead>
            <tr>
              <th scope="col">node</th>
              {SIDES.map((side) => (
                <th key={side} scope="col">
                  {side}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {places.map((node) => (
              <tr key={node}>
                <th scope="row" style={{ paddingInlineStart: `${node.split(":").length * 14 - 6}px` }}>
                  <code dir="auto">{safe(node.split(":").at(-1) ?? node)}</code>
                </th>
                {SIDES.map((side) => (
                  <td key={side}>
                    <label class="ckv-break">
                      <input
                        type="checkbox"
                        aria-label={`Break ${side} ${node}`}
                        checked={points[side].includes(node)}
                        onChange={(event) => toggle(side, node, event.currentTarget.checked)}
                      />
                    </label>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {error && <ErrorBox error={error} />}
      <Note>In Python: explorer.set_breakpoints(before=[…], after=[…])</Note>
    </Frame>
  );
}
