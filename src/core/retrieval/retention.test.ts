import { describe, expect, it } from "vitest";
import { ALFWORLD, failed, find, SCIENCEWORLD, source, student } from "../../../test/support/path-records.ts";
import type { Source } from "../record/schema.ts";
import type { RetrievalRules } from "./eligibility.ts";
import { prepareTask } from "./prepare.ts";
import { retrieve } from "./retrieve.ts";

describe("retention", () => {
  it("leaves a successful student without a match alone", () => {
    const { record, explanation } = find(
      [source("won", "AB"), failed("lost", "AC")],
      student("AXB", true),
      1,
    );
    expect(record).toMatchObject({ case: "unmatched_success", success: null, failure: null });
    expect(explanation.anchor).toMatchObject({ studentPosition: 0 });
    expect(explanation.sentence).toContain("used alone");
  });

  it("gives a failed student without a match both references", () => {
    const { record } = find([source("won", "AB"), failed("lost", "AC")], student("X-", false), 0);
    expect(record).toMatchObject({
      case: "unmatched_failure",
      success: { source: "won", position: null, student_position: null, relation: "unaligned" },
      failure: { source: "lost", position: null, student_position: null, relation: "unaligned" },
    });
  });

  it("takes the cheapest eligible whole source as unaligned, skipping one with a bad start or a gap", () => {
    const sources = [
      source("gap", "AB", { decisions: { 0: { status: "rejected" } } }),
      source("long", "ABCDE"),
      source("later", "ABCD", { repetition: 4 }),
      source("first", "ABCD", { repetition: 3 }),
      source("broken", "ABC", { decisions: { 1: { gap_before: true } } }),
    ];
    expect(find(sources, student("X-", false), 0).record.success).toMatchObject({
      source: "first",
      relation: "unaligned",
    });
  });

  it("takes the shortest trusted success as unaligned, whatever its start, where the environment says so", () => {
    const sources = [
      source("long", "ABCDE"),
      source("refused start", "ABCD", { repetition: 4, decisions: { 0: { status: "rejected" } } }),
      source("later", "ABCD", { repetition: 5 }),
      source("unchecked", "AB", { outcome: { verified: false } }),
    ];
    const unaligned = (by: RetrievalRules) => find(sources, student("X-", false), 0, by).record.success;
    expect(unaligned(ALFWORLD)).toMatchObject({ source: "refused start", relation: "unaligned" });
    expect(unaligned(SCIENCEWORLD)).toMatchObject({ source: "later", relation: "unaligned" });
  });

  it("gives untrusted records no visit where the library holds trusted ones only", () => {
    const sources = [
      source("unchecked", "ABC", { outcome: { verified: false } }),
      source("cut", "AB", { outcome: { complete: false, success: false } }),
      failed("lost", "AD", 3),
    ];
    const at = (by: RetrievalRules) => find(sources, student("AX", false), 0, by).record;
    expect(at(SCIENCEWORLD).matched_visits).toBe(3);
    expect(at(ALFWORLD)).toMatchObject({
      matched_visits: 1,
      case: "matched_no_success",
      success: null,
      failure: { source: "lost", relation: "current" },
    });
    const prepared = prepareTask(sources, ALFWORLD);
    expect(prepared.leftOut.map((left) => left.source)).toEqual(["unchecked", "cut"]);
    expect(prepared.source("cut")).toBeUndefined();
  });

  it("holds plans of ALFWorld only where they succeeded within the interaction budget", () => {
    const plan = (id: string, decisions: number, outcome: Partial<Source["outcome"]> = {}): Source => ({
      ...source(id, `${"A".repeat(decisions)}B`, { outcome }),
      origin: { kind: "planner" },
    });
    const long = plan("planner:31", 31);
    const all = [
      long,
      plan("planner:30", 30),
      plan("lost", 3, { success: false, score: 0 }),
      plan("none", 0),
    ];
    const left = (by: RetrievalRules) => prepareTask(all, by).leftOut.map((each) => each.source);
    expect(left(ALFWORLD)).toEqual(["planner:31", "lost", "none"]);
    expect(left(SCIENCEWORLD)).toEqual([]);
    const { explanation } = find([long], student("X-", false), 0, ALFWORLD);
    expect(explanation.sentence).toContain(
      "planner:31 is left out, because the library of its environment holds successful plans of 1 to 30 decisions only",
    );
    expect(() =>
      retrieve(prepareTask([long], ALFWORLD), student("A-", false), 0, {
        pin: { source: "planner:31", position: 0 },
      }),
    ).toThrow(/holds successful plans of 1 to 30 decisions only/);
    // A teacher's execution may be as long as it likes.
    expect(prepareTask([{ ...long, origin: { kind: "teacher" } }], ALFWORLD).leftOut).toEqual([]);
  });

  it("retains raw records only where no trusted one exists", () => {
    const raw = source("raw", "ABC", { outcome: { verified: false } });
    const rawLost = source("raw lost", "ABC", {
      repetition: 1,
      outcome: { success: false, verified: false },
    });
    const cutLost = source("cut lost", "A", { repetition: 2, outcome: { success: false, complete: false } });
    const none = student("X-", false);
    expect(find([raw, cutLost, rawLost], none, 0).record).toMatchObject({
      success: { source: "raw", relation: "unverified", position: null },
      failure: { source: "raw lost", relation: "unverified", position: null },
    });
    expect(find([raw, rawLost], none, 0, ALFWORLD).record).toMatchObject({ success: null, failure: null });
    // A trusted success that no rule admits as a whole still stands in the way of a raw one.
    const broken = source("broken", "ABC", { decisions: { 1: { gap_before: true } } });
    expect(find([raw, broken], none, 0).record.success).toBeNull();
    expect(find([rawLost, failed("lost", "QQ")], none, 0).record.failure).toMatchObject({ source: "lost" });
  });

  it("never calls a record of unknown outcome a failed one", () => {
    const unknown = source("scored by none", "ABC", {
      outcome: { success: false, verified: false, outcome_unknown: true },
    });
    const none = student("X-", false);
    const { record, explanation } = find([unknown], none, 0);
    expect(record.failure).toMatchObject({ source: "scored by none", relation: "unverified" });
    expect(explanation.unknownOutcome).toBe(true);
    expect(explanation.sentence).toContain("record of unknown outcome: scored by none, a raw record");
    expect(explanation.sentence).not.toContain("failed record:");
    const prepared = prepareTask([unknown], SCIENCEWORLD);
    const left = retrieve(prepared, none, 0, { control: "success-only" }).explanation;
    expect(left.unknownOutcome).toBe(false);
    expect(find([failed("lost", "QQ"), unknown], none, 0).explanation.unknownOutcome).toBe(false);
  });

  it("takes the raw success with the fewest tries, attempts counted", () => {
    const attempt = { action: null, reason: "format" as const, feedback: "" };
    const raw = (id: string, path: string, attempts: number, repetition: number) =>
      source(id, path, {
        repetition,
        outcome: { verified: false },
        decisions: { 0: { attempts: Array(attempts).fill(attempt) } },
      });
    const pick = (...sources: Source[]) => find(sources, student("X-", false), 0).record.success!.source;
    expect(pick(raw("short", "AB", 3, 0), raw("long", "ABC", 0, 1))).toBe("long");
    expect(pick(raw("late", "AB", 1, 1), raw("early", "ABC", 0, 0))).toBe("early");
  });

  it("works over an empty library: hindsight alone", () => {
    const { record } = find([], student("AB", false), 0);
    expect(record).toMatchObject({
      case: "unmatched_failure",
      matched_visits: 0,
      success: null,
      failure: null,
    });
  });
});
