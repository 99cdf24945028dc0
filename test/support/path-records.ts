/** Records written as paths: one letter per state. */
import { environmentRules } from "../../src/core/environment/environment.ts";
import type { Episode, Source } from "../../src/core/record/schema.ts";
import type { RetrievalRules } from "../../src/core/retrieval/eligibility.ts";
import { prepareTask } from "../../src/core/retrieval/prepare.ts";
import { retrieve } from "../../src/core/retrieval/retrieve.ts";

export const SCIENCEWORLD: RetrievalRules = environmentRules("scienceworld");
export const ALFWORLD: RetrievalRules = environmentRules("alfworld");

/** What differs from a successful, trusted, continuous source; decisions by position. */
export type Changes = {
  repetition?: number;
  outcome?: Partial<Source["outcome"]>;
  decisions?: Record<number, Partial<Source["decisions"][number]>>;
};

const states = (path: string) =>
  [...path].map((key) => (key === "-" ? null : { key, mode: "normal", options: {} }));

/** A successful, trusted, continuous source that visits the named states; "-" is an unreliable capture. */
export function source(id: string, path: string, changes: Changes = {}): Source {
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

/** A trusted record that failed. */
export function failed(id: string, path: string, repetition = 0): Source {
  return source(id, path, { repetition, outcome: { success: false, score: 0 } });
}

/** A student episode over the named states. */
export function student(path: string, success: boolean): Episode {
  const { source: _, repetition: __, origin: ___, ...rest } = source("", path, { outcome: { success } });
  return {
    ...rest,
    format: "gcopd.episode.v1",
    episode: "e",
    decisions: rest.decisions.map(({ attempts: _, ...decision }) => decision),
  };
}

/** Retrieval of one decision, by ScienceWorld's rules where no others are given. */
export const find = (sources: Source[], episode: Episode, t: number, by = SCIENCEWORLD) =>
  retrieve(prepareTask(sources, by), episode, t);
