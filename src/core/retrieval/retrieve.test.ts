import { describe, expect, it } from "vitest";
import { failed, find, SCIENCEWORLD, source, student } from "../../../test/support/path-records.ts";
import { InputError } from "../errors.ts";
import type { Source } from "../record/schema.ts";
import { prepareTask } from "./prepare.ts";
import { retrieve } from "./retrieve.ts";

describe("current-state evidence", () => {
  it("ranks by cost from the matched visit, so an earlier detour does not count", () => {
    const { record, explanation } = find(
      [source("short prefix", "ADEFG"), source("long prefix", "ABCABCDG")],
      student("ADX", false),
      1,
    );
    expect(record.candidates.map((c) => [c.source, c.position, c.cost])).toEqual([
      ["long prefix", 6, 1],
      ["short prefix", 1, 3],
    ]);
    expect(record.success).toEqual({
      source: "long prefix",
      position: 6,
      student_position: 1,
      relation: "current",
    });
    expect(record.failure).toBeNull();
    expect(explanation.tie).toBeNull();
    expect(explanation.matched.map((visit) => visit.rank)).toEqual([2, 1]);
  });

  it("counts several visits of one source, and breaks ties by repetition, then position, then id", () => {
    const sources = [
      source("b", "AB", { repetition: 2 }),
      source("a", "AB", { repetition: 2 }),
      source("c", "AB", { repetition: 1 }),
      source("d", "XAB", { repetition: 2 }),
    ];
    const { record, explanation } = find(sources, student("AX", false), 0);
    expect(record.matched_visits).toBe(4);
    expect(record.candidates.map((c) => c.source)).toEqual(["c", "a", "b", "d"]);
    expect(explanation.tie).toBe("repetition");
    expect(find(sources.slice(0, 2), student("AX", false), 0).explanation.tie).toBe("source");
    expect(find([sources[0]!, sources[3]!], student("AX", false), 0).explanation.tie).toBe("position");
  });

  it("ranks the student's own continuation only if it succeeded, behind records of equal cost", () => {
    const sources = [source("two", "ABC", { repetition: 5 }), source("three", "ABBC")];
    const cheaper = find(sources, student("AC", true), 0);
    expect(cheaper.record.winner).toEqual({ kind: "student", cost: 1 });
    expect(cheaper.record.success).toBeNull();
    expect(cheaper.explanation).toMatchObject({ studentCost: 1, studentRank: 1, tie: null });
    expect(cheaper.explanation.matched.map((visit) => visit.rank)).toEqual([2, 3]);
    const equal = find(sources, student("AXC", true), 0);
    expect(equal.record.winner).toMatchObject({ kind: "source", source: "two" });
    expect(equal.explanation).toMatchObject({ studentRank: 2, tie: "external over student" });
    expect(equal.explanation.matched.map((visit) => visit.rank)).toEqual([1, 3]);
    expect(find(sources, student("AC", false), 0).explanation).toMatchObject({
      studentCost: null,
      studentRank: null,
    });
  });

  it("adds no failed reference beside a winner", () => {
    const { record } = find([source("won", "AB"), failed("lost", "AC")], student("AX", false), 0);
    expect(record).toMatchObject({ case: "matched_success", matched_visits: 2, failure: null });
  });
});

describe("historical evidence", () => {
  const won = source("won", "ABCD");

  it("takes the latest earlier position with an eligible visit, and the best visit there", () => {
    const { record, explanation } = find([won], student("ABXYZ", false), 3);
    expect(record.success).toEqual({
      source: "won",
      position: 1,
      student_position: 1,
      relation: "historical",
    });
    expect(explanation.anchor).toEqual({
      studentPosition: 1,
      candidates: [{ source: "won", position: 1, cost: 2 }],
    });
  });

  it("never looks ahead of the scored decision", () => {
    expect(find([won], student("XBYZ", false), 0).record.success!.relation).toBe("unaligned");
  });

  it("skips an earlier position that matches without an eligible visit", () => {
    const odd = source("odd", "ABCD", { decisions: { 1: { status: "rejected" } } });
    const { record } = find([odd], student("ABXY", false), 2);
    expect(record.success).toMatchObject({ student_position: 0, relation: "historical" });
  });

  it("does not rank the student's continuation at a historical anchor", () => {
    const { record } = find([won, failed("lost", "XY")], student("AXY", true), 1);
    expect(record).toMatchObject({
      case: "matched_no_success",
      success: { source: "won", student_position: 0, relation: "historical" },
      failure: { source: "lost", student_position: 1, relation: "current" },
    });
  });

  it("lets the two references have different anchors", () => {
    const { record } = find([won, failed("lost", "AXQ")], student("ABXYZ", false), 3);
    expect(record.success).toMatchObject({ student_position: 1 });
    expect(record.failure).toMatchObject({ student_position: 2, position: 1, relation: "historical" });
  });
});

describe("failed reference", () => {
  it("minimizes distance of positions, then whole cost, repetition and position, at the latest shared position", () => {
    const order = (sources: Source[], path: string, t: number) =>
      find(sources, student(path, false), t).explanation.failed!.candidates.map((c) => [
        c.source,
        c.position,
      ]);
    expect(
      order([failed("far", "BBBX"), failed("near", "QXQQQQ")], "AXZ", 1), // |3-1| against |1-1|
    ).toEqual([
      ["near", 1],
      ["far", 3],
    ]);
    expect(order([failed("long", "QXQQQ"), failed("short", "QXQ", 9)], "AXZ", 1)[0]).toEqual(["short", 1]);
    expect(order([failed("b", "QXQ", 2), failed("a", "QXQ", 1)], "AXZ", 1)[0]).toEqual(["a", 1]);
    expect(order([failed("twice", "XQX")], "AXZ", 1)).toEqual([
      ["twice", 0],
      ["twice", 2],
    ]);
  });

  it("needs neither continuity nor an eligible entry, and may be a terminal visit", () => {
    const lost = source("lost", "QX", {
      outcome: { success: false },
      decisions: { 0: { status: "rejected", action: null, gap_before: true } },
    });
    expect(find([lost], student("X-", false), 0).record.failure).toEqual({
      source: "lost",
      position: 1,
      student_position: 0,
      relation: "current",
    });
  });

  it("is never an untrusted record or one whose claim was not confirmed, though both match", () => {
    const { record } = find(
      [
        source("raw", "X-", { outcome: { success: false, verified: false } }),
        source("cut", "X-", { outcome: { success: false, complete: false } }),
        source("claimed", "X-", { outcome: { success: false, reported_success: true } }),
        failed("lost", "QQ"),
      ],
      student("X-", false),
      0,
    );
    expect(record).toMatchObject({
      case: "matched_no_success",
      matched_visits: 3,
      failure: { source: "lost", relation: "unaligned" },
    });
  });
});

describe("bad input", () => {
  it("refuses a decision that is not there and another task", () => {
    const task = prepareTask([source("s", "AB")], SCIENCEWORLD);
    const episode = student("AB", false);
    expect(() => retrieve(task, episode, 1)).toThrow(/no decision 1: they go from 0 to 0/);
    expect(() => retrieve(task, episode, 0.5)).toThrow(InputError);
    expect(() => retrieve(task, { ...episode, task: "u" }, 0)).toThrow(/is of task scienceworld\/u/);
  });
});
