import { beforeEach, expect, it } from "vitest";
import { NO_FIGURES } from "../runs/run.ts";
import { newRun, putRun } from "../runs/runs-store.ts";
import { studentHasRun, studentWentBack, takenBackText, useTakenBack } from "./taken-back.ts";

const A = "page-00000000000a";
const B = "page-00000000000b";

beforeEach(() => {
  useTakenBack.setState({}, true);
  for (const id of [A, B])
    putRun(newRun({ id, where: "page", title: id, config: {}, figures: { ...NO_FIGURES, done: 4 } }));
});

it("marks what undo takes back, and what comes back with another undo", () => {
  // A went on after step 2: undo goes back to there.
  studentWentBack({ [A]: 4 }, { [A]: 2 });
  expect(useTakenBack.getState()).toEqual({ [A]: 2 });
  expect(takenBackText(2)).toContain("step 2");
  // Revert takes both runs back; its undo brings back what was there.
  studentWentBack({ [A]: 2, [B]: 4 }, {});
  expect(useTakenBack.getState()).toEqual({ [A]: 0, [B]: 0 });
  studentWentBack({}, { [A]: 2, [B]: 4 });
  expect(useTakenBack.getState()).toEqual({ [A]: 2 });
});

it("forgets it when the run goes on and moves the student again", () => {
  studentWentBack({ [A]: 4 }, {});
  studentHasRun(A);
  expect(useTakenBack.getState()).toEqual({});
});
