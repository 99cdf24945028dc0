import { describe, expect, it } from "vitest";
import type { Execution, TaskModel } from "../../model.ts";
import { executionPath, geometry, pathThrough, ringRadius } from "./graph-geometry.ts";

const layout = { column: [0, 1, 2], row: [0, 0, 0], columns: 3, rows: 1, lead: 0 };
const state = { letter: "", mode: "normal", options: [], visits: 1, executions: 1, cost: null, step: 0 };
const task = { states: [state, state, state] } as unknown as TaskModel;
const cell = (at: number | null, located = true) => ({
  state: at,
  located,
  action: null,
  status: "executed" as const,
  gapBefore: false,
});

describe("the state graph's geometry", () => {
  const place = geometry(task, layout, { width: 300, height: 200 });
  it("makes the area of a node, not its radius, proportional to executions", () => {
    expect(place.radius(16)).toBeCloseTo(4 * place.radius(1));
  });
  it("has room at its sides for the rings around the student’s state", () => {
    const many = {
      states: [30, 1, 30].map((executions) => ({ ...state, executions })),
    } as unknown as TaskModel;
    const { nodes, radius, width } = geometry(many, layout, { width: 300, height: 200 });
    expect(nodes[0]!.x).toBeGreaterThanOrEqual(ringRadius(radius(30), 2));
    expect(nodes[2]!.x).toBeLessThanOrEqual(width - ringRadius(radius(30), 2));
  });
  it("grows beyond the room rather than squeezing columns together", () => {
    expect(geometry(task, { ...layout, columns: 200 }, { width: 300, height: 200 }).width).toBeGreaterThan(
      3000,
    );
    expect(place.width).toBe(300);
  });
  it("puts unrecorded states into the lane and passes over ⊥", () => {
    const execution = { cells: [cell(0), cell(null, false), cell(null), cell(2)] } as unknown as Execution;
    const points = executionPath(execution, layout, "step", place);
    expect(points.map(({ position, recorded }) => [position, recorded])).toEqual([
      [0, true],
      [2, false],
      [3, true],
    ]);
    expect(points[1]!.y).toBe(place.lane);
    expect(pathThrough(points).match(/M/g)).toHaveLength(2);
    expect(pathThrough([points[0]!, points[0]!])).toBe("");
  });
});
