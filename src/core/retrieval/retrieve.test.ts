import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import { bruteForceRetrieve } from "../../../test/support/brute-force-retrieval.ts";
import { environmentRules } from "../environment/environment.ts";
import { InputError } from "../errors.ts";
import { visitsAt } from "../graph/task-graph.ts";
import type { Episode, Source } from "../record/schema.ts";
import type { RetrievalRules } from "./eligibility.ts";
import { prepareTask } from "./prepare.ts";
import { retrieve, retrieveEpisode } from "./retrieve.ts";

const SCIENCEWORLD: RetrievalRules = environmentRules("scienceworld");
const ALFWORLD: RetrievalRules = environmentRules("alfworld");

type Changes = {
  repetition?: number;
  outcome?: Partial<Source["outcome"]>;
  decisions?: Record<number, Partial<Source["decisions"][number]>>;
};

const states = (path: string) =>
  [...path].map((key) => (key === "-" ? null : { key, mode: "normal", options: {} }));

/** A successful, trusted, continuous source that visits the named states; "-" is an unreliable capture. */
function source(id: string, path: string, changes: Changes = {}): Source {
  const visited = states(path);
  return {
    format: "gcopd.source.v1",
    environment: "scienceworld",
    task: "t",
    source: id,
    repetition: changes.repetition ?? 0,
    origin: { kind: "teacher" },
    task_description: "",
    initial_observation: "at 0",
    decisions: visited.slice(0, -1).map((state, j) => ({
      observation: `at ${j}`,
      state,
      action: "go",
      binding: null,
      status: "executed",
      feedback: `at ${j + 1}`,
      score: null,
      gap_before: false,
      attempts: [],
      ...changes.decisions?.[j],
    })),
    final_state: visited.at(-1) ?? null,
    outcome: {
      complete: true,
      success: true,
      score: 100,
      ended: "environment",
      verified: true,
      ...changes.outcome,
    },
  };
}

function failed(id: string, path: string, repetition = 0): Source {
  return source(id, path, { repetition, outcome: { success: false, score: 0 } });
}

function student(path: string, success: boolean): Episode {
  const { source: _, repetition: __, origin: ___, ...rest } = source("", path, { outcome: { success } });
  return {
    ...rest,
    format: "gcopd.episode.v1",
    episode: "e",
    decisions: rest.decisions.map(({ attempts: _, ...decision }) => decision),
  };
}

const find = (sources: Source[], episode: Episode, t: number, by = SCIENCEWORLD) =>
  retrieve(prepareTask(sources, by), episode, t);

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

describe("bad input", () => {
  it("refuses a decision that is not there and another task", () => {
    const task = prepareTask([source("s", "AB")], SCIENCEWORLD);
    const episode = student("AB", false);
    expect(() => retrieve(task, episode, 1)).toThrow(/no decision 1: they go from 0 to 0/);
    expect(() => retrieve(task, episode, 0.5)).toThrow(InputError);
    expect(() => retrieve(task, { ...episode, task: "u" }, 0)).toThrow(/is of task scienceworld\/u/);
  });
});

describe("properties", () => {
  it("equals plain search on random libraries, episodes and rules", () => {
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const found = retrieveEpisode(prepareTask(sources, by), episode);
        for (const { record } of found) {
          expect(record).toStrictEqual(bruteForceRetrieve(sources, episode, record.decision, by));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("does not depend on the order of the library", () => {
    const shuffled = library.chain((sources) =>
      fc.tuple(
        fc.constant(sources),
        fc.shuffledSubarray(sources, { minLength: sources.length, maxLength: sources.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, studentEpisode, rules, ([sources, other], episode, by) => {
        const records = (from: Source[]) =>
          retrieveEpisode(prepareTask(from, by), episode).map(({ record }) => record);
        expect(records(other)).toStrictEqual(records(sources));
      }),
    );
  });

  it("holds Proposition 2: a larger library keeps every candidate and never raises the least cost", () => {
    fc.assert(
      fc.property(library, fc.nat(6), rules, (sources, kept, by) => {
        const small = prepareTask(sources.slice(0, kept), by);
        const large = prepareTask(sources, by);
        small.graph.nodes.forEach((node, n) => {
          const before = small.state(n).candidates;
          const after = large.state(large.graph.index.get(node.key)!).candidates;
          expect(after).toEqual(expect.arrayContaining([...before]));
          if (before.length > 0) expect(after[0]!.cost).toBeLessThanOrEqual(before[0]!.cost);
        });
      }),
    );
  });

  it("explains what it recorded", () => {
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const task = prepareTask(sources, by);
        for (const { record, explanation } of retrieveEpisode(task, episode)) {
          const { matched } = explanation;
          expect(matched.length).toBe(visitsAt(task.graph, explanation.locator).length);
          for (const visit of matched) expect(visit.eligible).toBe(visit.reasons.length === 0);
          const ranked = matched.filter((visit) => visit.eligible).sort((a, b) => a.rank! - b.rank!);
          expect(ranked.map(({ source, position, cost }) => ({ source, position, cost }))).toEqual(
            record.candidates,
          );
          const places = ranked.map((visit) => visit.rank!);
          if (explanation.studentRank !== null) places.push(explanation.studentRank);
          expect(places.sort((a, b) => a - b)).toEqual(places.map((_, i) => i + 1));
          expect(record.winner?.kind === "student").toBe(explanation.studentRank === 1);
          if (record.success?.relation === "historical") {
            expect(explanation.anchor).toMatchObject({ studentPosition: record.success.student_position });
          }
          if (record.failure !== null && record.failure.position !== null) {
            expect(explanation.failed!.candidates[0]).toMatchObject({
              source: record.failure.source,
              position: record.failure.position,
            });
          }
          expect(explanation.sentence).toMatch(/^[A-Z0-9][^\n]*\.$/);
        }
      }),
    );
  });
});
