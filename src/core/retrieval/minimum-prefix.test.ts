import { describe, expect, it } from "vitest";
import { library, rules, studentEpisode } from "../../../test/support/arbitrary-records.ts";
import fc from "../../../test/support/property.ts";
import { byTask, fixtureEpisodes, fixtureSources } from "../../../test/support/scienceworld.ts";
import { environmentRules } from "../environment/environment.ts";
import type { Episode, Reference, Source } from "../record/schema.ts";
import { admittedSources } from "./admission.ts";
import { minimumPrefixPair, sharedActionPrefix } from "./minimum-prefix.ts";
import { prepareTask } from "./prepare.ts";
import { retrieve, retrieveEpisode } from "./retrieve.ts";

/** A trusted record with these actions; `[action, binding]` is a menu choice and null a decision without an action. */
type Act = string | null | [string, string];

function source(id: string, acts: Act[], success: boolean, repetition = 0): Source {
  return {
    format: "gcopd.source.v1",
    environment: "scienceworld",
    task: "t",
    source: id,
    repetition,
    origin: { kind: "teacher" },
    task_description: "",
    initial_observation: "",
    decisions: acts.map((act) => ({
      observation: "",
      state: null,
      action: Array.isArray(act) ? act[0] : act,
      binding: Array.isArray(act) ? act[1] : null,
      status: act === null ? "malformed" : Array.isArray(act) ? "binding" : "executed",
      feedback: "",
      score: null,
      gap_before: false,
      attempts: [],
    })),
    final_state: null,
    outcome: { complete: true, success, score: null, ended: "environment", verified: true },
  };
}

function student(acts: Act[]): Episode {
  const { source: _, repetition: __, origin: ___, ...rest } = source("", acts, false);
  return {
    ...rest,
    format: "gcopd.episode.v1",
    episode: "e",
    decisions: rest.decisions.map(({ attempts: _, ...decision }) => decision),
  };
}

const reference = (id: string, length: number): Reference => ({
  source: id,
  position: null,
  student_position: null,
  relation: "unaligned",
  shared_prefix: length,
});

describe("shared action prefix", () => {
  const length = (a: Act[], b: Act[]) => sharedActionPrefix(student(a), source("s", b, true));

  it("counts the first decisions with the same action, white space folded", () => {
    expect(length(["a", "b", "c"], ["a", "b", "d", "c"])).toBe(2);
    expect(length(["a", "b"], ["a", "b", "c"])).toBe(2);
    expect(length(["a", "b"], [])).toBe(0);
    expect(length(["go  to\tkitchen "], ["go to kitchen"])).toBe(1);
    expect(length(["", "a"], [" ", "a"])).toBe(2);
  });

  it("tells apart what a menu choice stood for", () => {
    expect(length([["0", "eat orange"]], [["0", "eat  orange"]])).toBe(1);
    expect(length([["0", "eat orange"]], [["0", "drop orange"]])).toBe(0);
    expect(length([["0", "eat orange"]], ["0"])).toBe(0);
  });

  it("ends at a decision without an action, on either side", () => {
    expect(length(["a", null, "b"], ["a", null, "b"])).toBe(1);
  });
});

describe("the pair", () => {
  it("has the least shared prefix of each outcome; then whole cost, repetition and id decide", () => {
    const episode = student(["a", "b", "c"]);
    const sources = [
      source("near", ["a", "b", "c"], true),
      source("far", ["a", "x", "y", "z"], true, 3),
      source("far too", ["a", "q"], true, 5),
      source("lost near", ["a", "b", "x"], false),
      source("lost", ["a", "b", "y"], false, 2),
    ];
    expect(minimumPrefixPair(sources, episode)).toEqual({
      success: reference("far too", 1),
      failure: reference("lost near", 2),
    });
    const equal = [source("b", ["x", "y"], true, 2), source("a", ["x", "z"], true, 2)];
    expect(minimumPrefixPair(equal, episode).success).toEqual(reference("a", 0));
    expect(minimumPrefixPair([...equal, source("c", ["q", "r"], true, 1)], episode).success).toEqual(
      reference("c", 0),
    );
  });

  it("is of trusted records only, and half or wholly empty without one", () => {
    const raw = source("raw", ["x"], true);
    raw.outcome.verified = false;
    const cut = source("cut", ["x"], false);
    cut.outcome.complete = false;
    const claimed = source("claimed", ["x"], false);
    claimed.outcome.reported_success = true;
    expect(minimumPrefixPair([raw, cut, claimed], student(["a"]))).toEqual({ success: null, failure: null });
  });
});

/** The least element by plain comparison with each, apart from the code under test. */
function brute(sources: readonly Source[], episode: Episode, success: boolean): Reference | null {
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");
  const name = (decision: { action: string | null; binding: string | null }) =>
    JSON.stringify([words(decision.action!), decision.binding === null ? null : words(decision.binding)]);
  const prefix = (source: Source) => {
    const first = episode.decisions.findIndex((decision, t) => {
      const other = source.decisions[t];
      if (other === undefined || decision.action === null || other.action === null) return true;
      return name(decision) !== name(other);
    });
    return first < 0 ? episode.decisions.length : first;
  };
  const rank = (source: Source) => [
    prefix(source),
    source.decisions.length,
    source.repetition,
    source.source,
  ];
  const before = (a: Source, b: Source) => {
    const [left, right] = [rank(a), rank(b)];
    const i = left.findIndex((value, n) => value !== right[n]);
    return i >= 0 && left[i]! < right[i]!;
  };
  const pool = sources.filter(({ outcome }) => {
    if (!outcome.complete || !outcome.verified) return false;
    return success ? outcome.success : !outcome.success && outcome.reported_success !== true;
  });
  const best = pool.find((source) => !pool.some((other) => before(other, source)));
  return best === undefined ? null : reference(best.source, prefix(best));
}

describe("the minimum-prefix control", () => {
  const control = { control: "minimum-prefix" } as const;

  it("retains the pair of a plain search at every decision, whatever the graph finds, in any order", () => {
    fc.assert(
      fc.property(library, studentEpisode, rules, (sources, episode, by) => {
        const found = retrieveEpisode(prepareTask(sources, by), episode, control);
        const graph = retrieveEpisode(prepareTask(sources, by), episode);
        const held = admittedSources(sources, by);
        const pair = { success: brute(held, episode, true), failure: brute(held, episode, false) };
        found.forEach(({ record }, t) => {
          expect(record).toStrictEqual({ ...graph[t]!.record, ...pair });
        });
        const reversed = prepareTask([...sources].reverse(), by);
        expect(retrieveEpisode(reversed, episode, control).map(({ record }) => record)).toStrictEqual(
          found.map(({ record }) => record),
        );
        const last = episode.decisions.length - 1;
        const { record, explanation } = retrieve(prepareTask(sources, by), episode, last, control);
        expect(record).toStrictEqual(found[last]!.record);
        expect(explanation).toStrictEqual(found[last]!.explanation);
      }),
    );
  });

  it("explains itself, and retains a pair on the fixture where the graph retains none", () => {
    const tasks = byTask(fixtureSources());
    const by = environmentRules("scienceworld");
    let more = 0;
    for (const episode of fixtureEpisodes()) {
      const sources = tasks.get(episode.task)!;
      for (const { record, explanation } of retrieveEpisode(prepareTask(sources, by), episode, control)) {
        expect(record.success).toEqual(brute(sources, episode, true));
        expect(record.failure).toEqual(brute(sources, episode, false));
        expect(explanation.sentence).toMatch(
          /; the minimum-prefix control retains the same pair .* in common with the student\)|failed record none\.$/,
        );
        if (record.case === "unmatched_success" && record.success !== null) more++;
      }
    }
    expect(more).toBeGreaterThan(0);
  });
});
