/** A run of the loop on a toy model: five recorded episodes, the tasks they are of, and its options. */

import { recordedData } from "../../src/core/loop/data.ts";
import type { TrainEvent } from "../../src/core/loop/events.ts";
import type { OpenedTask } from "../../src/core/loop/live-episode.ts";
import { openRecorded } from "../../src/core/loop/recorded-environment.ts";
import type { TeacherContexts } from "../../src/core/loop/score-batch.ts";
import type { TrainOptions } from "../../src/core/loop/train.ts";
import { METHODS } from "../../src/core/method/index.ts";
import { PAPER_SETTINGS } from "../../src/core/ports.ts";
import type { Episode } from "../../src/core/record/schema.ts";
import { ToyModel, toyCodec } from "./toy-model.ts";

export const SETTINGS = { ...PAPER_SETTINGS, learningRate: 0.5 };

export function episode(id: string, responses: string[], rollout?: number): Episode {
  return {
    format: "gcopd.episode.v1",
    environment: "scienceworld",
    task: `task-${id}`,
    episode: id,
    task_description: "Do it.",
    initial_observation: "A room.",
    decisions: responses.map((response, t) => ({
      observation: t === 0 ? "A room." : "Done.",
      state: null,
      action: response,
      binding: null,
      status: "executed",
      feedback: "Done.",
      score: 0,
      gap_before: false,
      prompt: `${id} ${t}>`,
      response,
      ...(rollout === undefined ? {} : { rollout_logprobs: Array(response.length + 1).fill(rollout) }),
    })),
    final_state: null,
    outcome: { complete: true, success: false, score: 0, ended: "horizon", verified: true },
  };
}

export const EPISODES = ["a", "b", "c", "d", "e"].map((id, n) =>
  episode(id, ["go", "take it", "wait"].slice(0, 1 + (n % 3))),
);

/** The same tasks, in an environment that answers every action. */
export const TASKS = EPISODES.map((recorded) => ({
  episode: recorded.episode,
  environment: recorded.environment,
  task: recorded.task,
  maxDecisions: 2,
  maxTokens: 4,
  open: async () => patient(recorded.episode),
  parse: (response: string) => response,
  seedText: ({ decision, policyVersion }: { decision: number; policyVersion: number }) =>
    `${recorded.task}|${decision}|${policyVersion}`,
}));

export function patient(id: string): OpenedTask {
  const turn = {
    ...{ observation: "A room.", feedback: "Done.", offered: null, state: null },
    ...{ score: 0, done: false, success: false },
  };
  return {
    environment: {
      reset: async () => ({ ...turn, description: "Do it." }),
      step: async () => ({ ...turn, status: "executed" }),
      close: async () => {},
    },
    prompt: (_start, _turn, history) => ({ message: `${id} ${history.length}>`, earlier: [] }),
    malformed: () => ({ ...turn, status: "malformed" }),
  };
}

/** Tasks over their recordings: what a student draws that was not trained on them is never recorded. */
export const RECORDINGS = TASKS.map((task, n) => ({
  ...task,
  open: async () => openRecorded(EPISODES[n]!),
}));
export const ROLLOUT = { temperature: 1, seed: 3 };

/** Evidence that the bigram model can see: another last token before the response. */
export const contexts: TeacherContexts = async (_, evidence) => (_decision, promptIds) => ({
  promptIds: evidence.kind === "none" ? promptIds : [...promptIds, 40],
  successReference: evidence.kind === "none" ? null : "trusted",
  failureReference: null,
  backReferences: false,
});

export function options(overrides: Partial<TrainOptions> = {}): TrainOptions & { events: TrainEvent[] } {
  const events: TrainEvent[] = [];
  return {
    method: METHODS["gc-opd"],
    settings: SETTINGS,
    batchSize: 2,
    seed: 7,
    data: recordedData(EPISODES),
    codec: toyCodec,
    teacher: new ToyModel(1, "teacher"),
    openStudent: async (folder) => (folder === null ? new ToyModel(2) : ToyModel.open(folder)),
    contexts,
    checkpoints: null,
    fingerprint: {},
    onEvent: (event) => {
      events.push(event);
    },
    events,
    ...overrides,
  };
}

export const of = <T extends TrainEvent["type"]>(events: TrainEvent[], type: T) =>
  events.filter((event): event is Extract<TrainEvent, { type: T }> => event.type === type);
