import { describe, expect, it } from "vitest";
import type { Episode } from "../record/schema.ts";
import { evaluatedEpisode } from "./evaluated-episode.ts";
import { technicalNote } from "./metrics.ts";

const record: Episode = {
  format: "gcopd.episode.v1",
  environment: "alfworld",
  task: "pick_and_place_simple-Mug-None-Shelf-1/trial_1",
  episode: "e",
  repetition: 2,
  task_description: "",
  initial_observation: "",
  decisions: [],
  final_state: null,
  outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
};

describe("an episode of an evaluation", () => {
  it("counts with its type and seed", () => {
    expect(evaluatedEpisode(record)).toEqual({
      task: record.task,
      type: "pick_and_place_simple",
      seed: 2,
      success: true,
      score: null,
      decisions: 0,
    });
  });

  it("is not a result where it ended for a technical reason", () => {
    const outcome = {
      ...{ complete: false, success: false, score: null, verified: false },
      ...{ ended: "technical" as const, technical_reason: "the process died" },
    };
    expect(evaluatedEpisode({ ...record, outcome }).technical).toBe("the process died");
  });

  it("needs its repetition", () => {
    const { repetition: _, ...without } = record;
    expect(() => evaluatedEpisode(without, { file: "episodes.jsonl", line: 3 })).toThrow(
      "episodes.jsonl, line 3, repetition: missing; expected the number that an evaluation writes",
    );
  });
});

it("says how many episodes are not results, and of how many tasks", () => {
  const end = (task: string, seed: number) => ({ task, seed, reason: "the process died" });
  expect(technicalNote({ technical: [] }, 4)).toBeNull();
  expect(technicalNote({ technical: [end("a", 0), end("b", 1)] }, 8)).toBe(
    "2 of 8 episodes ended for a technical reason and are not results: the figures leave out their 2 tasks " +
      "(first: a, seed 0: the process died)",
  );
});
