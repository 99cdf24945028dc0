import { describe, expect, it } from "vitest";
import type { MatchedVisit, Retrieval } from "../../../../core/retrieval/types.ts";
import {
  alikeRows,
  alikeText,
  type CandidateRow,
  candidateRows,
  foundRows,
  outcome,
  reasonLines,
} from "./candidate-rows.ts";

const visit = (source: string, position: number, rest: Partial<MatchedVisit>): MatchedVisit => ({
  ...{ source, position, repetition: 0, cost: 3, terminal: false },
  ...{ eligible: false, reasons: [], rank: null },
  ...rest,
});

const rejected = visit("teacher:3", 1, { reasons: ["not_successful", "gap_in_suffix"] });
const second = visit("teacher:1", 5, { eligible: true, rank: 2 });
const first = visit("teacher:2", 4, { eligible: true, rank: 1 });
const off = visit("planner:0", 2, { eligible: true, rank: 1 });

const retrieval = (matched: MatchedVisit[]): Retrieval => ({
  record: {
    format: "gcopd.retrieval.v1",
    ...{ environment: "e", task: "t", episode: "e#0", decision: 0, control: "graph" as const },
    ...{ matched_visits: matched.length, candidates: [], case: "matched_success" as const },
    winner: { kind: "source", source: "teacher:2", repetition: 0, position: 4, cost: 3 },
    ...{ success: null, failure: null, minimum_prefix: null },
  },
  explanation: {
    ...{ locator: null, matched, studentCost: null, studentRank: null, tie: null },
    ...{ anchor: null, failed: null, found: { success: null, failure: null } },
    ...{ unknownOutcome: false, sentence: "" },
  },
});

const rows = candidateRows({
  retrieval: retrieval([rejected, second, first]),
  full: { retrieval: retrieval([rejected, second, first, off]) },
  selection: { without: ["planner:0"] },
});

describe("rows of matched visits", () => {
  it("has the eligible ones by rank, then the others, then those that are switched off", () => {
    expect(rows.map(({ visit: { source } }) => source)).toEqual([
      "teacher:2",
      "teacher:1",
      "teacher:3",
      "planner:0",
    ]);
    expect(rows.map(outcome)).toEqual([
      "★ winner",
      "eligible",
      "not eligible: its outcome is not a success; the recording has a gap between the visit and the end",
      "switched off",
    ]);
  });

  it("gives each reason a line, and all others none", () => {
    expect(rows.map((row) => reasonLines(row).length)).toEqual([0, 0, 2, 0]);
  });

  it("takes ties, rejections for the same reasons and what is switched off together", () => {
    const other = visit("teacher:9", 0, { eligible: true, rank: 3, cost: 8 });
    const again = visit("teacher:5", 1, { reasons: rejected.reasons });
    const more = candidateRows({
      retrieval: retrieval([rejected, second, other, again, first]),
      full: { retrieval: retrieval([rejected, second, other, again, first, off]) },
      selection: { without: ["planner:0"] },
    });
    const groups = alikeRows(more);
    expect(groups.map((group) => group.map(({ visit: { source } }) => source))).toEqual([
      ["teacher:2", "teacher:1"],
      ["teacher:9"],
      ["teacher:3", "teacher:5"],
      ["planner:0"],
    ]);
    expect(groups.map((group) => alikeText(group, "repetition"))).toEqual([
      "2 tied, broken by repetition",
      "1 tied",
      "2 rejected for this",
      "1 switched off",
    ]);
    expect(alikeText(groups[0]!, "position")).toBe("2 tied, broken by visit");
  });

  it("finds rows by all words of a name, a visit or a reason", () => {
    const found = (filter: string): string[] =>
      foundRows(rows, filter).map(({ visit: { source } }: CandidateRow) => source);
    expect(found("")).toHaveLength(4);
    expect(found("GAP  success")).toEqual(["teacher:3"]);
    expect(found("teacher visit 5")).toEqual(["teacher:1"]);
    expect(found("winner")).toEqual(["teacher:2"]);
    expect(found("winner gap")).toEqual([]);
  });
});
