/** The table of the largest changes: its order, and its CSV. */
import type { ChangeSort } from "../../../url/place.ts";
import { csvCell, csvName, jsonText } from "../case/case-formats.ts";
import type { ChangeRow } from "./change-collector.ts";
import type { Changes } from "./changes.ts";

type Order = (a: ChangeRow, b: ChangeRow) => number;

const ORDERS: Record<ChangeSort, Order> = {
  change: (a, b) => Math.abs(a.delta) - Math.abs(b.delta),
  signed: (a, b) => a.delta - b.delta,
  decision: (a, b) =>
    (a.episode < b.episode ? -1 : a.episode > b.episode ? 1 : 0) ||
    a.decision - b.decision ||
    a.position - b.position,
  token: (a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0),
  vanilla: (a, b) => a.vanilla - b.vanilla,
  graph: (a, b) => a.graph - b.graph,
};

/** Stable: equal ones stay as they were. */
export function sortChanges(rows: readonly ChangeRow[], sort: ChangeSort, descending: boolean): ChangeRow[] {
  const order = ORDERS[sort];
  return [...rows].sort(descending ? (a, b) => order(b, a) : order);
}

/** RFC 4180 with a heading line; natural logarithms in full, tokens as JSON strings. */
export function changesCsv(
  { environment, task, evidence, teacher }: Changes,
  rows: readonly ChangeRow[],
): string {
  const heading = [
    "environment",
    "task",
    "episode",
    "decision",
    "position",
    "id",
    "token_json",
    "logp_vanilla",
    "logp_graph",
    "delta_logp",
    "argmax_flips",
    "evidence",
    "teacher",
    "computed",
  ];
  const computed = `${teacher.dtype}, ${teacher.device === "webgpu" ? "WebGPU" : "CPU reference"}`;
  const lines = rows.map(({ episode, decision, position, id, text, vanilla, graph, delta, flips }) => [
    csvName(environment),
    csvName(task),
    csvName(episode),
    String(decision),
    String(position),
    String(id),
    jsonText(text),
    String(vanilla),
    String(graph),
    String(delta),
    flips === null ? "" : String(flips),
    csvName(evidence),
    csvName(teacher.model),
    csvName(computed),
  ]);
  return [heading, ...lines].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}
