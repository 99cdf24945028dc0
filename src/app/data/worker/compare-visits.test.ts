import { describe, expect, it } from "vitest";
import { environmentFixture } from "../../../../test/support/environment-fixture.ts";
import type { Episode, Outcome, Source } from "../../../core/record/schema.ts";
import { compareVisits } from "./compare-visits.ts";

const { sources, episodes } = environmentFixture("webshop");
const [first] = sources;
const ofTask = {
  sources: sources.filter(({ task }) => task === first!.task),
  episodes: episodes.filter(({ task }) => task === first!.task),
};
const at = (id: string, position: number) => ({ kind: "source" as const, id, position });

describe("two visits beside each other", () => {
  it("differ in what their pages differ in", () => {
    const id = first!.source;
    const { sides, state, observation } = compareVisits(ofTask, [at(id, 0), at(id, 1)]);
    expect(sides[0].observation).toBe(first!.decisions[0]!.observation);
    expect(sides[1].action).toBe(first!.decisions[1]!.action);
    expect(state.same).toBe(false);
    expect(state.limit).toBeNull();
    expect(state.changes).toContainEqual({
      ...{ at: ["page"], kind: "changed", left: "start", right: "search_results" },
    });
    expect(observation.pieces.length).toBeGreaterThan(1);
  });

  it("take an execution's end and a student's visit", () => {
    const id = first!.source;
    const episode = ofTask.episodes[0]!;
    const { length } = first!.decisions;
    const { sides, state } = compareVisits(ofTask, [
      { kind: "episode", id: episode.episode, position: 0 },
      at(id, length),
    ]);
    expect(sides[1]).toMatchObject({ status: "terminal", action: null, feedback: null });
    expect(sides[1].observation).toBe(first!.decisions.at(-1)!.feedback);
    expect(state.same).toBe(false);
    expect(compareVisits(ofTask, [at(id, 0), at(id, 0)]).state).toEqual({
      ...{ same: true, changes: [], limit: null },
    });
  });

  it("claim no outcome where nobody recorded it, and where an episode broke off", () => {
    const episode = ofTask.episodes[0]!;
    const successOf = (outcome: Partial<Outcome>) => {
      const [source, played] = [first!, episode].map((each) => ({
        ...each,
        outcome: { ...each.outcome, ...outcome },
      })) as [Source, Episode];
      return compareVisits({ sources: [source], episodes: [played] }, [
        at(source.source, 0),
        { kind: "episode", id: played.episode, position: 0 },
      ]).sides.map(({ success }) => success);
    };
    expect(successOf({ success: true, ended: "environment" })).toEqual([true, true]);
    expect(successOf({ success: false, ended: "environment" })).toEqual([false, false]);
    expect(successOf({ success: false, ended: "technical" })).toEqual([false, null]);
    expect(successOf({ success: false, ended: "environment", outcome_unknown: true })).toEqual([null, null]);
  });

  it("say what is not there", () => {
    const id = first!.source;
    expect(() => compareVisits(ofTask, [at("nobody", 0), at(id, 0)])).toThrow("no execution nobody");
    expect(() => compareVisits(ofTask, [at(id, 0), at(id, 999)])).toThrow(`Execution ${id} has no visit 999`);
  });
});
