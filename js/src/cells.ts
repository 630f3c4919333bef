/** The elements of the tree's rows, and the words in them. */
import { duration, middle, nodeText, safe } from "./format";
import type { Branch, Row, Store } from "./store";

/** What ran to make a row, in words. */
export function ranText(row: Row): string {
  if (row.unfinished) return row.unfinished.name;
  if (row.event) return row.event;
  const nodes = row.nodes.map((node) => (node === "__start__" ? "start" : node));
  if (row.source === "input") return "input";
  if (row.source === "fork") return "fork by you";
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

export function topOf(el: HTMLElement): number {
  return el.isConnected ? Number(el.dataset.top) : Number.POSITIVE_INFINITY;
}

/** Changes only what differs: a text node that stays costs less than a new one. */
export function setText(el: HTMLElement, text: string, title = ""): void {
  const node = el.firstChild as Text | null;
  if (!node) {
    if (text) el.textContent = text;
  } else if (node.data !== text) {
    node.data = text;
  }
  if (el.title !== title) el.title = title;
}

export function setOrDrop(el: HTMLElement, name: string, value: string | null): void {
  if (value === null) el.removeAttribute(name);
  else if (el.getAttribute(name) !== value) el.setAttribute(name, value);
}

const COLUMNS = [
  ["Branch", "ckv-c-lane"],
  ["step", "ckv-c-step"],
  ["ran", "ckv-c-nodes"],
  ["changed", "ckv-c-changed"],
  ["status", "ckv-c-status"],
  ["time", "ckv-c-time"],
] as const;

export function headRow(): HTMLElement {
  const row = make("div", "ckv-row ckv-headrow");
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", "1");
  for (const [name, className] of COLUMNS) {
    const cell = make("span", className);
    cell.setAttribute("role", "columnheader");
    cell.textContent = name;
    row.append(cell);
  }
  return row;
}

export function newRow(): HTMLElement {
  const row = make("div", "ckv-row ckv-datarow");
  row.setAttribute("role", "row");
  row.setAttribute("aria-level", "1");
  for (const [name, className] of COLUMNS) {
    const cell = make("span", className);
    cell.setAttribute("role", name === "ran" ? "rowheader" : "gridcell");
    if (name === "ran") cell.dir = "auto";
    row.append(cell);
  }
  return row;
}

/** Writes what is known of a checkpoint into the cells of a row. */
export class RowWriter {
  /** The checkpoint that a diff starts from. */
  mark: string | null = null;
  private tips = new Map<number, string>();
  private branchNames: Branch[] = [];
  private branchOf = new Map<number, number>();
  private openParents = new Set<string>();

  constructor(private readonly store: Store) {}

  /** Rows or lanes changed. */
  learn(): void {
    this.branchNames = this.store.branches();
    this.tips.clear();
    this.branchOf.clear();
    this.branchNames.forEach((branch, n) => {
      this.branchOf.set(branch.chain, n + 1);
      if (this.branchNames.length > 1) this.tips.set(branch.tip, branch.name);
    });
    this.openParents = new Set(this.store.rows.filter((row) => row.unfinished).map((row) => row.parent ?? ""));
  }

  fill(row: number, el: HTMLElement, data: Row, top: number, height: number): void {
    el.dataset.row = String(row);
    el.dataset.key = data.id;
    el.dataset.top = String(top);
    el.style.transform = `translateY(${top}px)`;
    if (el.style.height !== `${height}px`) el.style.height = `${height}px`;
    setOrDrop(el, "data-checkpoint-id", data.unfinished ? null : data.id);
    setOrDrop(el, "data-parent-id", data.parent);
    el.setAttribute("data-fork-depth", String(this.store.lanes.depth(row)));
    el.setAttribute("aria-rowindex", String(this.store.rows.length - row + 1));
    const [lane, step, nodes, changed, status, time] = el.children as unknown as HTMLElement[];
    setText(lane as HTMLElement, this.laneWords(row, data));
    setText(step as HTMLElement, data.step === null ? "" : String(data.step));
    const ran = safe(ranText(data));
    setText(nodes as HTMLElement, middle(ran, 60), ran);
    const names = data.changed.map((name) => (name === "__start__" ? "input" : safe(name))).join(" ");
    setText(changed as HTMLElement, middle(names, 40), names ? `changed: ${names}` : "");
    this.fillStatus(status as HTMLElement, row, data);
    setText(time as HTMLElement, this.spent(row, data));
    el.classList.toggle("ckv-open", data.unfinished !== undefined);
  }

  private laneWords(row: number, data: Row): string {
    const { lanes } = this.store;
    if (data.unfinished) return "not finished, ";
    if (lanes.orphan[row]) return "parent missing, ";
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
    if (data.id === this.mark) badge("A", "mark", "diff starts here");
    const tip = this.tips.get(row);
    if (tip) {
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
      else if (open.status === "interrupt") badge("waits for an answer", "wait", text);
      else badge("running", "run", text);
    } else if (!this.openParents.has(data.id)) {
      if (data.status === "error") badge("failed", "err");
      else if (data.status === "interrupt") badge("waits", "wait");
    }
  }

  private spent(row: number, data: Row): string {
    const parent = this.store.rows[this.store.lanes.parentRow[row] ?? -1];
    if (!parent || data.unfinished || data.source !== "loop" || !data.time || !parent.time) return "";
    return duration(data.time - parent.time);
  }
}
