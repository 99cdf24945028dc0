/** A job: what was asked for, and how far it is. */
import { z } from "zod";
import { JOB_STATES } from "./job-state.ts";

const path = (what: string) => z.string().min(1, `expected the absolute path of ${what}`);

const device = z.enum(["auto", "webgpu", "cpu"]);
const DEVICE =
  "`auto` takes WebGPU on a real GPU, else plain TypeScript on the processor. One job at a time runs with `auto` or " +
  "`webgpu`, and one with `cpu`; the others wait in order.";

const cards = z
  .union([z.int().min(1), z.array(z.int().min(0)).min(1)])
  .optional()
  .meta({
    description:
      "Several cards of the host, one process each: how many, or their numbers. One device when absent.",
  });

/** Ids of training jobs. */
export const TRAIN_ID = /^train-[0-9a-f]{12}$/;

/** Ids of all jobs. */
export const JOB_ID = /^(train|score)-[0-9a-f]{12}$/;

export const memoryLimit = z.number().positive("expected a positive number of GiB").meta({
  description:
    "GiB that it may take of each device, in place of the config's own: passes are made shorter to stay below it.",
});

export const hours = z.number().positive("expected a positive number of hours").meta({
  description: "Wall-clock hours of all attempts together, in place of `budget.hours` of the config.",
});

const resume = z
  .enum(["auto", "manual"])
  .default("auto")
  .meta({
    description:
      "What happens when the job is lost, because the worker was closed or the machine went down: it goes on by itself " +
      "when the worker starts again, or waits for POST /api/jobs/{id}/resume.",
  });

export const ScoreRequest = z
  .strictObject({
    kind: z.literal("score"),
    model: path("a model folder").optional().meta({
      description: "Absolute path of the teacher's model folder. Expected unless `teacher` is there.",
    }),
    teacher: z.string().min(1).optional().meta({
      description: "In place of `model`: the address of a server that runs it, as in a training config.",
    }),
    teacher_model: z.string().min(1).optional().meta({
      description: "With `teacher`: the model's name there, where the server has several.",
    }),
    calibrate_with: path("a model folder").optional().meta({
      description: "With `teacher`: absolute path of the model's folder, to compare the server with.",
    }),
    tokenizer: path("a tokenizer's folder").optional().meta({
      description:
        "With `teacher`: absolute path of the tokenizer that wrote the ids; else that of `calibrate_with`.",
    }),
    in: path("a file of requests").meta({
      description: "Absolute path of a JSON Lines file of scoring requests (`gcopd score --in`).",
    }),
    device: device.default("auto").meta({ description: DEVICE }),
    cards,
    memory_limit_gib: memoryLimit.optional(),
    resume,
  })
  .meta({ id: "ScoreRequest" });

export const TrainRequest = z
  .strictObject({
    kind: z.literal("train"),
    config: z
      .union([path("a training config"), z.record(z.string(), z.unknown())], {
        error: "expected the absolute path of a training config, or the config itself",
      })
      .meta({
        description:
          "The training config (`gcopd train --config`), its paths absolute, or the absolute path of its JSON file, which " +
          "is read at submission: the job has the config itself.",
      }),
    config_file: z.string().min(1).optional().meta({
      description:
        "Shown to people: the file that `config` was read from, where the request named its path. The worker says it.",
    }),
    id: z.string().regex(TRAIN_ID, "expected train- and 12 hexadecimal digits").optional().meta({
      description: "The job's id: of inputs that were sent before. A new one when absent.",
    }),
    title: z.string().min(1).max(200).optional().meta({ description: "Shown to people." }),
    device: device.optional().meta({ description: `In place of the config's own. ${DEVICE}` }),
    cards,
    memory_limit_gib: memoryLimit.optional(),
    hours: hours.optional(),
    resume,
  })
  .meta({ id: "TrainRequest" });

export const JobRequest = z
  .discriminatedUnion("kind", [ScoreRequest, TrainRequest])
  .meta({ id: "JobRequest" });
export type JobRequest = z.infer<typeof JobRequest>;

export const Job = z
  .object({
    id: z.string(),
    state: z.enum(JOB_STATES),
    request: JobRequest,
    command: z.array(z.string()).meta({ description: "What it runs, word by word." }),
    attempt: z.int().min(0).meta({ description: "Runs so far, this one included; 0 before the first." }),
    message: z.string().nullable().meta({ description: "Why it is in this state, where that needs saying." }),
    progress: z.record(z.string(), z.unknown()).nullable().meta({
      description: "The command's latest progress object, as it printed it.",
    }),
    run: z
      .string()
      .nullable()
      .meta({ description: "Where it runs or last ran, for example `process 4711`." }),
    exit_code: z.int().nullable(),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable().meta({ description: "Begin of the latest attempt." }),
    ended_at: z.iso.datetime().nullable(),
    last_event: z.int().meta({ description: "Id of its latest event; 0 before the first." }),
  })
  .meta({ id: "Job" });
export type Job = z.infer<typeof Job>;
