// The tabs that are loaded when they are first opened: they keep the page's own bundle small.
import { render } from "preact";
import { GraphPanel } from "./graph";
import graph from "./graph.css";
import { MemoryPanel } from "./memory";
import memory from "./memory.css";
import phases from "./phases.css";
import type { TabProps } from "./props";
import { StoragePanel } from "./storage";
import storage from "./storage.css";

const PANELS = { Graph: GraphPanel, Storage: StoragePanel, Memory: MemoryPanel };

/** Draws a tab in an element of the panel; null takes it away. */
export function show(host: HTMLElement, props: TabProps | null): void {
  render(props && <Drawn {...props} />, host);
}

function Drawn(props: TabProps) {
  const Panel = PANELS[props.tab];
  return (
    <>
      <style>{graph + phases + storage + memory}</style>
      <Panel {...props} />
    </>
  );
}
