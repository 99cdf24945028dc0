import { describe, expect, it } from "vitest";
import {
  ALFWORLD,
  type Changes,
  find,
  SCIENCEWORLD,
  source,
  student,
} from "../../../test/support/path-records.ts";

describe("eligibility b⁺", () => {
  const reasons = (changes: Changes, position = 0, by = SCIENCEWORLD) => {
    const tested = source("s", "ABCD", changes);
    const episode = student(`${"ABCD"[position]}X`, false);
    return find([tested], episode, 0, by).explanation.matched[0]!.reasons;
  };

  it("asks for a complete, verified and successful record, and names every failing test in order", () => {
    expect(reasons({})).toEqual([]);
    expect(
      reasons({
        outcome: { complete: false, verified: false, success: false },
        decisions: {
          0: { status: "malformed", action: null, feedback: "elsewhere" },
          1: { gap_before: true },
        },
      }),
    ).toEqual([
      "incomplete_record",
      "unverified_record",
      "not_successful",
      "gap_in_suffix",
      "feedback_mismatch",
      "entry_malformed",
      "entry_without_action",
    ]);
  });

  it("refuses a suffix with a gap inside it, not one that starts at the gap", () => {
    const gap = { decisions: { 2: { gap_before: true } } };
    expect([0, 1, 2, 3].map((position) => reasons(gap, position))).toEqual([
      ["gap_in_suffix"],
      ["gap_in_suffix"],
      [],
      [],
    ]);
    expect(reasons(gap, 0, ALFWORLD)).toEqual([]);
  });

  it("refuses a suffix whose feedback is not the next observation, white space folded", () => {
    const other = { decisions: { 1: { feedback: "elsewhere" } } };
    expect([0, 1, 2, 3].map((position) => reasons(other, position))).toEqual([
      ["feedback_mismatch"],
      ["feedback_mismatch"],
      [],
      [],
    ]);
    expect(reasons({ decisions: { 1: { feedback: " at\n\t2 " } } })).toEqual([]);
    expect(reasons({ decisions: { 2: { feedback: "the last feedback has no next observation" } } })).toEqual(
      [],
    );
    expect(reasons(other, 0, ALFWORLD)).toEqual([]);
  });

  it("tests the entry decision only, not the rest of the suffix", () => {
    for (const [status, reason] of [
      ["rejected", "entry_rejected"],
      ["malformed", "entry_malformed"],
      ["rolled_back", "entry_rolled_back"],
    ] as const) {
      const changes = { decisions: { 1: { status } } };
      expect(reasons(changes, 0)).toEqual([]);
      expect(reasons(changes, 1)).toEqual([reason]);
      expect(reasons(changes, 1, ALFWORLD)).toEqual([reason]);
    }
    const ruledOut = { decisions: { 1: { entry_allowed: false } } };
    expect(reasons(ruledOut, 0)).toEqual([]);
    expect(reasons(ruledOut, 1)).toEqual(["entry_ruled_out"]);
    expect(reasons({ decisions: { 1: { entry_allowed: true } } }, 1)).toEqual([]);
    expect(reasons({ decisions: { 0: { action: " ", binding: null } } })).toEqual(["entry_without_action"]);
    expect(reasons({ decisions: { 0: { action: "", binding: "eat orange", status: "binding" } } })).toEqual(
      [],
    );
  });

  it("admits a terminal visit with an empty suffix where the environment does", () => {
    expect(reasons({}, 3)).toEqual([]);
    expect(reasons({}, 3, ALFWORLD)).toEqual(["terminal_entry"]);
    const { record } = find([source("s", "AB")], student("BX", false), 0);
    expect(record.candidates).toEqual([{ source: "s", position: 1, cost: 0 }]);
  });
});
