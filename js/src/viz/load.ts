import type { Viz } from "@viz-js/viz";

type Ask = <T>(kind: string, body: Record<string, unknown>) => Promise<T>;
type VizModule = { instance(): Promise<Viz> };

let loading: Promise<Viz> | null = null;

/** Graphviz, loaded once in a page. It comes over the kernel's wire, so nothing is fetched from a network. */
export function loadViz(ask: Ask): Promise<Viz> {
  loading ??= fetchViz(ask).catch((reason: unknown) => {
    loading = null; // so that Retry tries again
    throw reason;
  });
  return loading;
}

async function fetchViz(ask: Ask): Promise<Viz> {
  const { gzip } = await ask<{ gzip: string }>("asset", { name: "viz" });
  const text = await gunzip(Uint8Array.from(atob(gzip), (c) => c.charCodeAt(0)));
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    const found = (await import(url)) as VizModule;
    return await found.instance();
  } finally {
    URL.revokeObjectURL(url);
  }
}

function gunzip(packed: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
