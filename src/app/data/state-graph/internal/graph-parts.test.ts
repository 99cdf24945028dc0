import { describe, expect, it } from "vitest";
import type { TaskModel } from "../../model.ts";
import { HIGHLIGHTS } from "../highlights.ts";
import { describeEdge, edgeKind, edgeTotals } from "./edge-kinds.ts";
import { neighbour } from "./neighbour.ts";

const layout = { column: [0, 1, 1, 2], row: [0, 0, 1, 0], columns: 3, rows: 2, lead: 0 };
const edge = (from: number, to: number, executions = 1, cycle = false) => ({
  from,
  to,
  transitions: executions + 1,
  executions,
  cycle,
});
const edges = [edge(0, 1), edge(0, 2, 3), edge(2, 3), edge(3, 0, 1, true), edge(2, 1), edge(1, 1, 2, true)];
const state = (letter: string) => ({ letter }) as TaskModel["states"][number];
const task = {
  states: [state("A"), state("B"), state(""), state("C")],
  edges,
  layouts: { step: layout, cost: layout },
} as unknown as TaskModel;
const nodes = layout.column.map((column, i) => ({ x: 100 * column, y: 100 * layout.row[i]! }));

describe("edges", () => {
  it("are called what they are", () => {
    expect(edges.map((each) => edgeKind(each, layout))).toEqual([
      "forward",
      "forward",
      "forward",
      "back",
      "level",
      "loop",
    ]);
    expect(describeEdge(edges[3]!, task, "step")).toBe(
      "C → A, back edge: to a state first visited earlier, on a cycle: 2 transitions by 1 execution",
    );
    expect(describeEdge(edges[5]!, task, "cost")).toBe(
      "B → B, self-loop: the state stays the same: 3 transitions by 2 executions",
    );
    expect(edgeTotals(task, "step")).toBe("6 edges, 1 self-loop, 1 back edge, 1 on cycles");
  });
});

describe("arrow keys", () => {
  it("follow the edge of most executions, and back", () => {
    expect(neighbour(0, "ArrowRight", nodes, edges)).toBe(2);
    expect(neighbour(2, "ArrowLeft", nodes, edges)).toBe(0);
    expect(neighbour(2, "ArrowUp", nodes, edges)).toBe(1);
    expect(neighbour(1, "ArrowDown", nodes, edges)).toBe(2);
  });
  it("go to the nearest state where no edge leads, and stay at the border", () => {
    expect(neighbour(1, "ArrowRight", nodes, edges)).toBe(3);
    expect(neighbour(3, "ArrowRight", nodes, edges)).toBe(3);
    expect(neighbour(0, "ArrowUp", nodes, edges)).toBe(0);
  });
});

it("six highlighted executions differ in hue and in dash", () => {
  expect(HIGHLIGHTS).toHaveLength(6);
  expect(new Set(HIGHLIGHTS.map(({ dash }) => dash)).size).toBe(6);
  expect(new Set(HIGHLIGHTS.map(({ hue }) => hue)).size).toBe(6);
});
