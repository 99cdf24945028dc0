import { expect, it } from "vitest";
import type { TaskModel } from "../../model.ts";
import { geometry } from "./graph-geometry.ts";
import { graphLabels } from "./graph-labels.ts";

const LOOP = { from: 1, to: 1, transitions: 13, executions: 12 };

/**
 * The labels of B, which has a self-loop, between two large states so far to its sides and so far above it.
 * @param path the states that the student passed, by number
 */
function labelsOf(
  aside: number,
  above: number,
  path: readonly number[] = [],
  here: number | null = null,
  width = 400,
) {
  const states = [30, 1, 30].map((executions, i) => ({ letter: "ABC"[i]!, executions }));
  const task = { states, edges: [LOOP] } as unknown as TaskModel;
  const layout = { column: [0, 1, 2], row: [0, 0, 0], columns: 3, rows: 1, lead: 0 };
  const nodes = [-1, 0, 1].map((side) => ({ x: 200 + side * aside, y: side === 0 ? 100 : 100 - above }));
  const labels = graphLabels(
    task,
    { ...geometry(task, layout, { width: 400, height: 200 }), nodes, width },
    path.map((state, position) => ({ ...nodes[state]!, position, recorded: true })),
    here,
  );
  // The letters of the large ones are in their circles.
  expect([...labels.keys()]).toEqual([1]);
  return labels
    .get(1)!
    .map(({ text, anchor, crowded }) => (crowded ? `${text} hidden` : `${text} ${anchor}`));
}

it("puts a letter and the count of a self-loop beside their state", () => {
  expect(labelsOf(150, 0)).toEqual(["B start", "13× by 12 start"]);
});

it("puts none over a state: elsewhere, or hides it", () => {
  expect(labelsOf(30, 12)).toEqual(["B start", "13× by 12 hidden"]);
  expect(labelsOf(17, 0)).toEqual(["B hidden", "13× by 12 hidden"]);
});

it("leaves none over the edge of the drawing", () => {
  // The middle state is 10 pixels from the right end.
  expect(labelsOf(150, 0, [], null, 210)).toEqual(["B end", "13× by 12 end"]);
});

it("keeps the count of a self-loop off the student's path", () => {
  expect(labelsOf(150, 12, [1, 2])).toEqual(["B start", "13× by 12 end"]);
});

it("keeps both off the rings around the student's state", () => {
  const [letter, loop] = labelsOf(150, 0, [], 1);
  expect([letter, loop]).toEqual(["B start", "13× by 12 end"]);
});
