// Builds the one-file bundle that the Python package ships, and holds it to its size budget.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "ckpt_viz", "explorer", "static");
const BUDGET = 60 * 1024;

mkdirSync(out, { recursive: true });
const common = { bundle: true, minify: true, logLevel: "warning", legalComments: "none" };
await build({
  ...common,
  entryPoints: [join(here, "src", "index.tsx")],
  outfile: join(out, "widget.js"),
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
});
// Tabs that not everybody opens, and Graphviz, come when they are first needed: as modules of their own.
await build({
  ...common,
  entryPoints: [join(here, "src", "tabs", "entry.tsx")],
  outfile: join(out, "tabs.js"),
  loader: { ".css": "text" },
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
});
// What an exported page answers with in the kernel's place.
await build({
  ...common,
  entryPoints: [join(here, "src", "offline", "entry.ts")],
  outfile: join(out, "offline.js"),
  format: "esm",
  target: "es2022",
});
await build({
  ...common,
  entryPoints: [join(here, "src", "tabs", "viz.ts")],
  outfile: join(out, "viz.js"),
  charset: "utf8",
  format: "esm",
  target: "es2022",
});
// What the first look does not need, as a module of its own. What the main bundle has is asked of it by `require`.
const lent = [...readFileSync(join(here, "src", "more", "shared.ts"), "utf8").matchAll(/^import .* from "(.*)";$/gm)];
const names = lent.map((found) => found[1].replace("../", "./"));
const more = await build({
  ...common,
  entryPoints: [join(here, "src", "more", "entry.ts")],
  format: "cjs",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  write: false,
  plugins: [
    {
      name: "lent",
      setup(made) {
        made.onResolve({ filter: /./ }, (asked) => {
          const name = asked.path.replace(/^\.\.?\//, "./");
          return names.includes(name) && asked.kind !== "entry-point" ? { path: name, external: true } : undefined;
        });
      },
    },
  ],
});
writeFileSync(
  join(out, "more.js"),
  `export default (require)=>{const module={exports:{}};${more.outputFiles[0].text};return module.exports}`,
);
await build({
  ...common,
  entryPoints: [join(here, "src", "widget.css")],
  outfile: join(out, "widget.css"),
});

let total = 0;
for (const name of ["widget.js", "widget.css"]) {
  const size = gzipSync(readFileSync(join(out, name)), { level: 9 }).length;
  total += size;
  console.log(`${name}: ${(size / 1024).toFixed(1)} kB gzipped`);
}
if (total > BUDGET) {
  console.error(`the bundle is ${total} bytes gzipped, over its budget of ${BUDGET}`);
  process.exit(1);
}
