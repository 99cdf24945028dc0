/** The loop of the core, over the two workers: records and evidence from the library, models from here. */
import { libraryContexts, type TrainEvent, type TrainingData, train } from "../../core/loop/index.ts";
import type { Method } from "../../core/method/index.ts";
import type { ScoreRequest, Scorer, StepSettings, Trainer } from "../../core/ports.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { textCodec } from "../../text/codec.ts";
import type { Tokenizer } from "../../text/index.ts";
import type { TaskRef } from "../model.ts";

/** What is asked for, as plain data. */
export interface TrainingPlan {
  method: Method;
  settings: StepSettings;
  batchSize: number;
  seed: number;
  episodes: (TaskRef & { episode: string })[];
  /** A decision whose probabilities are looked at after each step; null looks at none. */
  watch: ScoreRequest | null;
}

/** How far the present step is. */
export interface StepWork {
  what: "teacher" | "student";
  done: number;
  total: number;
}

export type RunEvent =
  | { type: "loop"; event: TrainEvent }
  | { type: "work"; work: StepWork }
  | { type: "watch"; step: number; logprobs: Float32Array };

/** Where the records come from. */
export interface RecordPort {
  episode(ref: TaskRef, episode: string): Promise<Episode>;
  sources(ref: TaskRef): Promise<Source[]>;
}

export interface TrainingRun {
  plan: TrainingPlan;
  records: RecordPort;
  tokenizer: Tokenizer;
  teacher: Scorer;
  student: Trainer;
  signal: AbortSignal;
  stop: AbortSignal;
  emit: (event: RunEvent) => void;
}

function trainingData(plan: TrainingPlan, records: RecordPort): TrainingData {
  return {
    unit: "episode",
    units: plan.episodes.map(({ episode }) => episode),
    fresh: false,
    // Only checkpoints compare it, and this run keeps none.
    fingerprint: "",
    episodes: (places) =>
      Promise.all(
        places.map((place) => records.episode(plan.episodes[place]!, plan.episodes[place]!.episode)),
      ),
  };
}

/** Runs the plan. The student is changed in place; it stays usable when the run ends or is stopped, not when it throws. */
export async function runTraining(run: TrainingRun): Promise<{ step: number; finished: boolean }> {
  const { plan, records, student, emit } = run;
  const look = async (step: number): Promise<void> => {
    if (plan.watch === null) return;
    const [result] = await student.score([plan.watch], { signal: run.signal });
    emit({ type: "watch", step, logprobs: result!.logprobs });
  };
  await look(0);
  const { step, finished } = await train({
    method: plan.method,
    settings: plan.settings,
    batchSize: plan.batchSize,
    seed: plan.seed,
    data: trainingData(plan, records),
    codec: textCodec(run.tokenizer),
    teacher: run.teacher,
    openStudent: async () => student,
    contexts: libraryContexts({
      sources: (environment, task) => records.sources({ environment, task }),
      codec: textCodec(run.tokenizer),
    }),
    checkpoints: null,
    fingerprint: {},
    onEvent: async (event) => {
      emit({ type: "loop", event });
      if (event.type === "updated") await look(event.step);
    },
    onWork: ({ what, done, total }) => {
      if (what !== "rollout") emit({ type: "work", work: { what, done, total } });
    },
    signal: run.signal,
    stop: run.stop,
  });
  return { step, finished };
}
