import { describe, expect, it } from "vitest";
import { scoredSide, tokenScores } from "../../../../test/support/token-scores.ts";
import type { Cell, Execution, RetainedRelations } from "../../data/model.ts";
import { meanChange, timelineCells } from "./timeline.ts";

const cell = (action: string): Cell => ({
  ...{ state: 0, located: true, action, status: "executed", gapBefore: false },
});
const EPISODE: Execution = {
  ...{ id: "student#0", kind: "student", origin: "student", success: true, complete: true, verified: true },
  ...{ reservation: null, score: 1, ended: "environment", decisions: 5 },
  cells: ["look", "open door", "go", "wait", "take", "end"].map(cell),
};
const NONE: RetainedRelations = { success: null, failure: null, unknownOutcome: false };

describe("the timeline of an episode", () => {
  it("has the closest relation of the successful record, else of the failed one", () => {
    const retained: RetainedRelations[] = [
      { ...NONE, success: "current" },
      { ...NONE, success: "historical", failure: "current" },
      { ...NONE, failure: "current" },
      { success: "unverified", failure: "unverified", unknownOutcome: true },
      NONE,
      { ...NONE, failure: "unverified", unknownOutcome: true },
    ];
    const cells = timelineCells(EPISODE, retained, () => undefined);
    expect(cells.map(({ kind, outcome }) => [kind, outcome])).toEqual([
      ["current", "success"],
      ["historical", "success"],
      ["current", "failure"],
      ["fallback", "success"],
      ["none", null],
      ["fallback", "unknown"],
    ]);
    expect(cells[1]!.label).toBe("Decision 1: open door; successful record at an earlier state; not scored");
    expect(cells[4]!.label).toBe("Decision 4: take; no record; not scored");
    expect(cells[5]!.label).toContain("; record of unknown outcome, fallback, no shared state;");
  });

  it("is as high as the scored tokens moved, whichever way", () => {
    const scores = tokenScores(scoredSide("vanilla", [-1, -2]), scoredSide("graph", [-0.5, -3.5]));
    expect(meanChange(scores)).toBe(1);
    const cells = timelineCells(EPISODE, [NONE, NONE], (decision) => (decision === 1 ? scores : undefined));
    expect(cells.map(({ change }) => change)).toEqual([null, 1]);
    expect(cells[1]!.label).toContain("mean |Δ| 1.000 nats");
    expect(meanChange(tokenScores(scoredSide("vanilla", []), scoredSide("graph", [])))).toBe(0);
  });
});
