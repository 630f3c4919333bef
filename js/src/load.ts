/** Modules of the page that come when they are first needed, over the kernel's wire: nothing is fetched elsewhere. */
export type Ask = <T>(kind: string, body?: Record<string, unknown>) => Promise<T>;

const loading = new Map<string, Promise<unknown>>();

/** The exports of a module, loaded once; after a failure the next call tries again. */
export function loadModule<T>(ask: Ask, name: string): Promise<T> {
  const known = loading.get(name) as Promise<T> | undefined;
  if (known) return known;
  const made = fetchModule<T>(ask, name);
  loading.set(name, made);
  made.catch(() => loading.delete(name));
  return made;
}

async function fetchModule<T>(ask: Ask, name: string): Promise<T> {
  const { gzip } = await ask<{ gzip: string }>("asset", { name });
  const text = await gunzip(Uint8Array.from(atob(gzip), (c) => c.charCodeAt(0)));
  const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return (await import(url)) as T;
  } finally {
    URL.revokeObjectURL(url);
  }
}

function gunzip(packed: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
