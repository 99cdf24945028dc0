import { describe, expect, it } from "vitest";
import type { Reference } from "../../../../core/record/schema.ts";
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import {
  decisionsLeft,
  outcomeOf,
  outcomeWords,
  referenceName,
  referenceSign,
  whereItJoins,
  whyNone,
} from "./retained.ts";

const RECORD: Retrieval["record"] = {
  ...{ format: "gcopd.retrieval.v1", environment: "scienceworld", task: "t", episode: "e", decision: 3 },
  ...{ case: "matched_no_success", matched_visits: 1, candidates: [], winner: null },
  ...{ success: null, failure: null },
};
const EXPLANATION: Retrieval["explanation"] = {
  ...{ locator: null, matched: [], studentCost: null, studentRank: null, tie: null, anchor: null },
  ...{ failed: null, found: { success: null, failure: null }, unknownOutcome: false, sentence: "" },
};
const retrieval = (
  record: Partial<Retrieval["record"]>,
  explanation: Partial<Retrieval["explanation"]> = {},
): Retrieval => ({ record: { ...RECORD, ...record }, explanation: { ...EXPLANATION, ...explanation } });

const CURRENT: Reference = { source: "teacher:1", position: 2, student_position: 3, relation: "current" };
const WHOLE: Reference = {
  source: "teacher:4",
  position: null,
  student_position: null,
  relation: "unaligned",
};

describe("what was retained, in words", () => {
  it("names every record, whatever it was found by", () => {
    expect(referenceName(CURRENT)).toBe("teacher:1, visit 2");
    expect(referenceName(WHOLE)).toBe("teacher:4, whole record");
    const won = { kind: "source", source: "teacher:1", position: 2, cost: 5 } as const;
    expect(referenceSign(retrieval({ winner: won }), CURRENT)).toBe("★");
    expect(referenceSign(retrieval({}), CURRENT)).toBe("⚑");
    expect(referenceSign(retrieval({}), WHOLE)).toBe("");
  });

  it("never calls a record of unknown outcome a failed one", () => {
    const unknown = { unknownOutcome: true };
    expect([outcomeOf("success", unknown), outcomeOf("failure", EXPLANATION)]).toEqual([
      "success",
      "failure",
    ]);
    expect(outcomeWords(outcomeOf("failure", unknown), "record")).toBe("record of unknown outcome");
    expect(outcomeWords("failure", "reference")).toBe("failed reference");
  });

  it("says where a record joins, and how far its success is", () => {
    expect(whereItJoins(CURRENT)).toBe("Joins at decision 3 (event 4), the current state.");
    expect(whereItJoins({ ...CURRENT, student_position: 1, relation: "historical" })).toBe(
      "Joins at decision 1 (event 2), an earlier state of the student.",
    );
    expect(whereItJoins(WHOLE)).toContain("shares no state with the student");
    expect(whereItJoins({ ...WHOLE, shared_prefix: 1 })).toContain("1 first action in common");
    const candidates = [{ source: "teacher:1", position: 2, cost: 7 }];
    expect(decisionsLeft(retrieval({ candidates }), CURRENT)).toBe(7);
    const anchor = { studentPosition: 1, candidates };
    expect(decisionsLeft(retrieval({}, { anchor }), CURRENT)).toBe(7);
    expect(decisionsLeft(retrieval({}), WHOLE)).toBeNull();
  });

  it("says why there is none", () => {
    const why = (of: Retrieval, kind: "success" | "failure" = "success") =>
      whyNone({ retrieval: of, selection: {} }, kind);
    expect(why(retrieval({ winner: { kind: "student", cost: 1 } }))).toContain("with 1 decision left");
    expect(why(retrieval({ winner: { kind: "student", cost: 1 } }), "failure")).toContain(
      "only without an eligible",
    );
    expect(why(retrieval({ case: "unmatched_success" }))).toContain("its own execution is used alone");
    const found = { success: null, failure: "none available (no record of the task counts as failed)" };
    expect(why(retrieval({}, { found }), "failure")).toBe("no record of the task counts as failed.");
    expect(
      whyNone({ retrieval: retrieval({}), selection: { control: "success-only" } }, "failure"),
    ).toContain("success only");
  });
});
