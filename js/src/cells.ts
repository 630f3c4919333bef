/** The elements of the tree's rows, and the words in them. */
import { clock, count, duration, middle, nodeText, safe } from "./format";
import type { Branch, Row, Store } from "./store";

/** What ran to make a row, in words. */
export function ranText(row: Row): string {
  if (row.unfinished) return row.unfinished.of ? `${row.unfinished.name} ×${row.unfinished.of}` : row.unfinished.name;
  if (row.event) return row.event;
  const { nodes } = row;
  if (row.source === "input") return "input";
  if (row.source === "fork") return row.copyOf ? "copy by you" : "fork by you";
  if (row.source === "update") return nodes.length ? `update as ${nodeText(nodes)}` : "update by you";
  if (nodes.length) return nodeText(nodes);
  return (row.step ?? 0) <= 0 ? "start" : "—";
}

/** `ValueError: no` and `ValueError('no')` → `ValueError`. */
export function errorName(text: string): string {
  return middle(/^[\w.]+/.exec(text)?.[0].split(".").at(-1) || "failed", 24);
}

export function make(tag: string, className: string): HTMLElement {
  const el = document.createElement(tag);
  el.className = className;
  return el;
}

/** An element of a row, with what it shows now: properties, because attributes would cost a style pass each. */
export interface RowElement extends HTMLElement {
  at: number;
  key: string;
  /** Where it stands in the list, and in the window that moves with it. */
  top: number;
  shift: number;
}

/** The row that an element stands in. */
export function rowOf(target: EventTarget | null): RowElement | null {
  return (target as Element | null)?.closest<RowElement>(".ckv-datarow") ?? null;
}

/** Changes only what differs: a text node that stays costs less than a new one. */
export function setText(el: HTMLElement, text: string): void {
  const node = el.firstChild as Text | null;
  if (!node) {
    if (text) el.textContent = text;
  } else if (node.data !== text) {
    node.data = text;
  }
}

export function setOrDrop(el: HTMLElement, name: string, value: string | null): void {
  if (value === null) el.removeAttribute(name);
  else if (el.getAttribute(name) !== value) el.setAttribute(name, value);
}

/** So many characters of a long name's end are always shown: both ends of a name tell something. */
const TAIL = 9;

const COLUMNS = [
  ["Branch", "ckv-c-lane"],
  ["step", "ckv-c-step"],
  ["ran", "ckv-c-nodes"],
  ["changed", "ckv-c-changed"],
  ["status", "ckv-c-status"],
  ["time", "ckv-c-time"],
] as const;

export function headRow(onFold: () => void): HTMLElement {
  const row = make("div", "ckv-row ckv-headrow");
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", "1");
  for (const [name, className] of COLUMNS) {
    const cell = make("span", className);
    cell.setAttribute("role", "columnheader");
    cell.textContent = name;
    row.append(cell);
  }
  const fold = make("button", "ckv-foldall") as HTMLButtonElement;
  fold.type = "button";
  fold.hidden = true;
  fold.title = "Fold finished branches, or show them whole";
  fold.setAttribute("aria-label", "Fold finished branches");
  fold.addEventListener("click", onFold);
  row.firstElementChild?.append(fold);
  return row;
}

/** A column that somebody pinned: a path, and its value at a checkpoint (null: none). */
export interface Column {
  name: string;
  at(id: string): string | null;
}

/** The headers of pinned columns. */
export function watchHeads(row: HTMLElement, columns: readonly Column[]): void {
  for (const old of row.querySelectorAll(".ckv-c-watch")) old.remove();
  for (const column of columns) {
    const cell = make("span", "ckv-c-watch");
    cell.setAttribute("role", "columnheader");
    cell.title = safe(column.name);
    cell.textContent = middle(safe(column.name), 18);
    row.append(cell);
  }
}

export function newRow(pinned = 0): RowElement {
  const row = make("div", "ckv-row ckv-datarow") as RowElement;
  row.setAttribute("role", "row");
  row.setAttribute("aria-level", "1");
  for (const [name, className] of COLUMNS) {
    const cell = make("span", className);
    cell.setAttribute("role", name === "ran" ? "rowheader" : "gridcell");
    row.append(cell);
  }
  for (let n = 0; n < pinned; n++) {
    const cell = make("span", "ckv-c-watch");
    cell.setAttribute("role", "gridcell");
    cell.dir = "auto";
    row.append(cell);
  }
  return row;
}

/** Right-to-left letters: a name with such reads in its own direction. */
const RTL = /[\u0590-\u08ff\ufb1d-\ufdfd\ufe70-\ufefc]/;

/** A name with a mark to open it by, or one whose end stays when it is cut. Most names are plain text, which costs less. */
function setName(cell: HTMLElement, ran: string, cut: number, opens: boolean): void {
  if (!opens && cut === ran.length && !RTL.test(ran)) {
    if (cell.firstElementChild) cell.textContent = ran;
    else setText(cell, ran);
    return;
  }
  if (!cell.firstElementChild) {
    const name = make("span", "ckv-name");
    name.dir = "auto";
    name.append(make("span", "ckv-head"), make("span", "ckv-tail"));
    cell.replaceChildren(make("span", "ckv-twisty"), name);
  }
  const [head, tail] = (cell.lastElementChild as HTMLElement).children as unknown as [HTMLElement, HTMLElement];
  setText(head, ran.slice(0, cut));
  setText(tail, ran.slice(cut));
}

/** Writes what is known of a checkpoint into the cells of a row. */
export class RowWriter {
  /** The checkpoints that are compared, A and B. */
  marks: [string | null, string | null] = [null, null];
  columns: readonly Column[] = [];
  private tips = new Map<string, string>();
  private branchNames: Branch[] = [];
  private branchOf = new Map<number, number>();
  private openParents: ReadonlySet<string> = new Set();

  constructor(private readonly store: Store) {}

  /** Rows or lanes changed. */
  learn(): void {
    this.branchNames = this.store.branches();
    this.tips.clear();
    this.branchOf.clear();
    this.branchNames.forEach((branch, n) => {
      this.branchOf.set(branch.chain, n + 1);
      if (this.branchNames.length > 1) this.tips.set(this.store.rows[branch.tip]?.id ?? "", branch.name);
    });
    this.openParents = this.store.forest.openParents;
  }

  fill(row: number, el: RowElement, data: Row): void {
    el.at = row;
    el.key = data.id;
    setOrDrop(el, "data-checkpoint-id", data.unfinished ? null : data.id);
    setOrDrop(el, "data-parent-id", data.parent);
    setOrDrop(el, "data-fork-depth", String(this.store.lanes.depth(row)));
    el.setAttribute("aria-rowindex", String(this.store.rows.length - row + 1));
    const [lane, step, nodes, changed, status, time] = el.children as unknown as HTMLElement[];
    setText(lane as HTMLElement, this.laneWords(row, data));
    setText(step as HTMLElement, data.step === null ? "" : String(data.step));
    this.fillNodes(el, nodes as HTMLElement, data);
    const names = data.changed.map((name) => (name === "__start__" ? "input" : safe(name))).join(" ");
    const counts = data.unfinished?.counts;
    setText(changed as HTMLElement, counts ?? middle(names, 40));
    this.fillStatus(status as HTMLElement, row, data);
    setText(time as HTMLElement, this.spent(row, data));
    this.columns.forEach((column, n) => {
      setText(el.children[COLUMNS.length + n] as HTMLElement, middle(safe(column.at(data.id) ?? ""), 24));
    });
    el.classList.toggle("ckv-open", data.unfinished !== undefined);
    el.classList.toggle("ckv-counted", counts !== undefined);
  }

  private fillNodes(el: HTMLElement, cell: HTMLElement, data: Row): void {
    const { forest } = this.store;
    const fold = forest.tips.get(data.id);
    const folded = forest.isFolded(data.id);
    const open = forest.isOpen(data.id);
    const words = fold ? `${this.tips.get(data.id) ?? "branch"}, ${count(fold.steps, "step")}` : ranText(data);
    const ran = safe(words);
    const cut = ran.length > TAIL * 2 ? ran.length - TAIL : ran.length;
    const shown = folded === true ? false : open !== null ? open : folded === false ? true : null;
    setName(cell, ran, cut, shown !== null);
    el.classList.toggle("ckv-long", cut < ran.length);
    setOrDrop(cell, "aria-label", cut < ran.length ? ran : null); // its two halves would be read as two words
    setOrDrop(el, "aria-expanded", shown === null ? null : String(shown));
    setOrDrop(el, "aria-level", String((data.level ?? 0) + 1));
    const inset = data.level ? `${data.level * 14}px` : "";
    if (cell.style.paddingInlineStart !== inset) cell.style.paddingInlineStart = inset;
    el.classList.toggle("ckv-nested", data.level !== undefined);
  }

  private laneWords(row: number, data: Row): string {
    const { lanes } = this.store;
    const open = data.unfinished ? "not finished, " : "";
    if (data.level) return `${open}inside ${data.ns?.split("|").at(-1)?.split(":")[0]}, `;
    if (open) return open;
    if (lanes.orphan[row]) return this.store.more.peek() ? "parent not read yet, " : "parent missing, ";
    const chain = lanes.chainOf[row] ?? 0;
    const all = this.branchNames.length;
    if (all < 2) return "";
    const number = this.branchOf.get(chain) ?? 1;
    const from = this.branchNames[number - 1]?.forkedFrom;
    return `branch ${number} of ${all}${from === null || from === undefined ? "" : `, forked from step ${from}`}, `;
  }

  private fillStatus(cell: HTMLElement, row: number, data: Row): void {
    if (cell.firstChild) cell.textContent = "";
    const badge = (text: string, kind: string, title = "") => {
      const el = make("span", `ckv-badge ckv-b-${kind}`);
      el.textContent = text;
      el.title = title;
      cell.append(el);
    };
    if (data.id === this.marks[0]) badge("A", "mark", "compared from here");
    if (data.id === this.marks[1]) badge("B", "mark", "compared to here");
    if (this.store.lanes.orphan[row] && !this.store.more.peek()) {
      badge(
        "parent missing",
        "gone",
        "The checkpoint that this one was made from is not there: it may have been pruned.",
      );
    }
    if (data.copyOf) badge(`copy of ${this.stepOf(data.copyOf)}`, "copy", "a copy: the same state, beside its base");
    const note = this.store.notes.peek().get(data.id);
    if (note) badge(middle(safe(note), 28), "note", safe(note));
    const tip = this.tips.get(data.id);
    if (tip && !this.store.forest.tips.has(data.id)) {
      const el = make("span", "ckv-tip");
      el.textContent = tip;
      cell.append(el);
    }
    if (data.id === this.store.head) badge("head", "head");
    if (data.turn != null) badge(`turn ${data.turn}`, "turn");
    if (data.version != null) badge(`v${safe(data.version)}`, "version", `made by version ${safe(data.version)}`);
    const open = data.unfinished;
    if (open) {
      const text = safe(open.text || open.status);
      if (open.status === "error") badge(errorName(text), "err", text);
      else if (open.status === "interrupt")
        badge(open.waits && open.waits > 1 ? `waits for ${open.waits} answers` : "waits for an answer", "wait", text);
      else badge("running", "run", text);
    } else if (!this.openParents.has(data.id)) {
      if (data.status === "unreadable") badge("unreadable", "err");
      else if (data.status === "error") badge("failed", "err");
      else if (data.status === "interrupt") badge("waits", "wait");
    }
  }

  private stepOf(id: string): string {
    const row = this.store.row(id);
    return row?.step === null || row?.step === undefined ? id.slice(0, 8) : `step ${row.step}`;
  }

  private spent(row: number, data: Row): string {
    if (typeof data.took === "number") return duration(data.took);
    const parent = this.store.rows[this.store.lanes.parentRow[row] ?? -1];
    if (!parent || data.unfinished || data.apart || data.source !== "loop" || !data.time || !parent.time) return "";
    const since = duration(data.time - parent.time);
    return /^\d/.test(since) ? `≈${since}` : since; // the distance to its parent, which is more than its nodes took
  }
}

/** The time of a row in full: when it was saved, and how long tasks ran for it where that is known. */
export function timeText(row: Row): string {
  if (!row.time) return "";
  return typeof row.took === "number" ? `${clock(row.time)} · its tasks ran ${duration(row.took)}` : clock(row.time);
}
