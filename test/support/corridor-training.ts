/** Corridors of three to six rooms as tasks of a run, with records that leave them. */
import { freshData } from "../../src/core/loop/data.ts";
import { type LiveTask, liveRollout } from "../../src/core/loop/live-task.ts";
import type { RolloutTask } from "../../src/core/loop/rollout.ts";
import type { SampleRequest, SampleResult } from "../../src/core/ports.ts";
import type { Source } from "../../src/core/record/schema.ts";
import { corridor } from "./corridor.ts";
import { ToyModel, toyCodec } from "./toy-model.ts";

export const ROOMS: Readonly<Record<string, number>> = { c3: 3, c4: 4, c5: 5, c6: 6 };

/** ALFWorld's prompts over corridors: with its horizon of 30 decisions, or another one. */
export const corridorTasks = (maxDecisions = 30): RolloutTask[] =>
  Object.entries(ROOMS).map(([task, rooms]) => {
    const live: LiveTask = { environment: "alfworld", task, open: async () => corridor(rooms), maxDecisions };
    return { ...liveRollout(live), maxTokens: 40 };
  });

export const corridorData = (maxDecisions?: number) =>
  freshData(corridorTasks(maxDecisions), { temperature: 1, seed: 3 });

/** The walk to the last room, as a planner's record. */
export function walk(task: string, changes: Partial<Source> = {}): Source {
  const rooms = ROOMS[task]!;
  const state = (at: number) => ({ key: `${task}:${at}`, mode: "normal", options: {} });
  return {
    format: "gcopd.source.v1",
    environment: "alfworld",
    task,
    source: "planner:16",
    repetition: 16,
    origin: { kind: "planner" },
    task_description: `Leave ${task}.`,
    initial_observation: "Room 0.",
    decisions: Array.from({ length: rooms - 1 }, (_, at) => ({
      observation: `Room ${at}.`,
      state: state(at),
      action: "forward",
      binding: null,
      status: "executed" as const,
      feedback: `Room ${at + 1}.`,
      score: (100 * (at + 1)) / (rooms - 1),
      gap_before: false,
      attempts: [],
    })),
    final_state: state(rooms - 1),
    outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
    ...changes,
  };
}

/** A model that says what it is told to: by the id of an episode and the number of its responses so far. */
export class Scripted extends ToyModel {
  readonly asked: SampleRequest[] = [];
  readonly #said = new Map<string, number>();

  constructor(
    seed: number,
    private readonly says: (episode: string, nth: number) => string,
  ) {
    super(seed, "scripted");
  }

  override async sample(requests: readonly SampleRequest[]): Promise<SampleResult[]> {
    this.asked.push(...requests);
    return requests.map(({ id, promptIds }) => {
      const nth = this.#said.get(id) ?? 0;
      this.#said.set(id, nth + 1);
      const responseIds = [...toyCodec.encode(`<action>${this.says(id, nth)}</action>`), 0];
      return { id, responseIds, logprobs: this.logprobs(promptIds, responseIds), stop: "stop" };
    });
  }
}
