import { describe, expect, it } from "vitest";
import type { Retrieval } from "../../../core/retrieval/types.ts";
import { markText, parseRowMarks, rowMarks, visitMarks } from "./marks.ts";

const visit = (source: string, position: number, eligible: boolean) => ({
  source,
  repetition: 0,
  position,
  cost: 1,
  terminal: false,
  eligible,
  reasons: eligible ? [] : (["not_successful"] as const).slice(),
  rank: eligible ? 1 : null,
});

const retrieval: Retrieval = {
  record: {
    format: "gcopd.retrieval.v1",
    environment: "scienceworld",
    task: "t",
    episode: "e",
    decision: 4,
    case: "matched_no_success",
    matched_visits: 1,
    candidates: [],
    winner: null,
    success: { source: "a", position: 2, student_position: 1, relation: "historical" },
    failure: { source: "b", position: 3, student_position: 4, relation: "current" },
  },
  explanation: {
    locator: null,
    matched: [visit("b", 3, false), visit("a", 7, true)],
    studentCost: null,
    studentRank: null,
    tie: null,
    anchor: null,
    failed: null,
    found: { success: null, failure: null },
    unknownOutcome: false,
    sentence: "",
  },
};

describe("visitMarks", () => {
  it("marks visits, anchors, the current decision and what is pinned", () => {
    const { sources, student } = visitMarks(retrieval, 4, { source: "a", position: 7 });
    expect(sources.get("b")?.get(3)).toBe("rf");
    expect(sources.get("a")?.get(7)).toBe("ep");
    expect(sources.get("a")?.get(2)).toBe("a");
    expect([...student]).toEqual([
      [1, "a"],
      [4, "fc"],
    ]);
  });
  it("goes through a string and back", () => {
    const { student } = visitMarks(retrieval, 4, null);
    expect(parseRowMarks(rowMarks(student))).toEqual(student);
    expect(parseRowMarks(rowMarks(undefined))).toEqual(new Map());
  });
  it("says marks in words", () => {
    expect(markText("rf")).toBe("matched but not eligible, anchor of the failed reference");
    expect(markText("")).toBe("");
  });
});
