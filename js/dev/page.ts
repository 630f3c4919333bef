/** A page to look at: ?rows=story|3|5000|100000&theme=dark&delay=50 */
import widget from "../src/index";
import * as parts from "../src/more/entry";
import { provideParts } from "../src/more/load";
import { chain, FakeKernel, row, story } from "./fake";

provideParts(parts);
const query = new URLSearchParams(location.hash.slice(1));
const what = query.get("rows") ?? "story";
const theme = query.get("theme") ?? "auto";
const { rows, unfinished } = pick();
const kernel = new FakeKernel(rows, unfinished, { height: Number(query.get("height") ?? 480), theme });
kernel.delay = Number(query.get("delay") ?? 0);
for (const kind of (query.get("deaf") ?? "").split(",")) kernel.deaf.add(kind);
Object.assign(window, { kernel, row });
widget().render({ model: kernel, el: document.getElementById("here") as HTMLElement });

function pick() {
  if (what === "story") return story();
  if (what === "0") return { rows: [], unfinished: [] };
  if (what === "3") return { rows: chain(3), unfinished: [] };
  return { rows: chain(Number(what), Number(what) > 50_000 ? 997 : Number(what) > 1000 ? 61 : 7), unfinished: [] };
}
