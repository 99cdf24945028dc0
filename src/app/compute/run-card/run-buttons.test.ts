import { expect, it } from "vitest";
import { newRun } from "../runs/runs-store.ts";
import { removalQuestion } from "./run-buttons.tsx";

it("says what goes with a run that is removed, its open student too", () => {
  const run = newRun({ id: "page-1", where: "page", title: "a run", config: {} });
  const asked = "Remove “a run” with everything that was kept of it?";
  expect(removalQuestion(run, false)).toBe(`${asked} This cannot be undone.`);
  expect(removalQuestion(run, true)).toBe(
    `${asked} Its student is open, and will be lost with this tab unless you save it. This cannot be undone.`,
  );
});
