/** The plan of a training job: memory, work and, measured on a small part of it, time. */
import { InputError, problemOf } from "../../core/errors.ts";
import { hadNoTurn } from "../../core/loop/excluded-episodes.ts";
import {
  configuredSettings,
  isServed,
  libraryContexts,
  probeRun,
  type RunProbe,
  runLengths,
  sampledLengths,
} from "../../core/loop/index.ts";
import type { Episode } from "../../core/record/schema.ts";
import { brokeOff } from "../../core/record/standing.ts";
import { type PassOptions, planTraining, planWorkload } from "../../engine/native/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { checkPlan, combinePlans } from "../../tensor/index.ts";
import { type Compute, openCompute } from "../engine/compute.ts";
import { limitBytes } from "../engine/memory-options.ts";
import type { TrainingInputs } from "./inputs.ts";
import type { RecordPlace } from "./records.ts";
import { openTeacher, teacherOf } from "./teacher.ts";
import type { TrainingRun } from "./training-run.ts";

/** Tells what the run would need, and with `probe` its time: nothing is written. */
export async function tellPlan(
  run: TrainingRun,
  inputs: TrainingInputs,
  tell: NonNullable<TrainingRun["planOnly"]>,
): Promise<void> {
  const { config, onNote } = run;
  const { device, compute, cards } = config;
  const opened = await openCompute({ device, compute, cards, onNote });
  try {
    const { plan, teacher, student, work } = await plannedRun(run, inputs, opened);
    const batches = Math.ceil(work.episodes / config.batch_size);
    const problem = problemOf(() =>
      checkPlan(plan, limitBytes(config.memory_limit_gib), opened.device.largestBuffer),
    );
    const passes = { teacher: { ...teacher, plan }, student: { ...student, plan } };
    // A server's time is its own.
    const probed =
      run.probe === true &&
      problem === null &&
      config.tinker === undefined &&
      sampledLengths(config) === undefined;
    tell({
      plan,
      passes: { teacher: teacher?.packTokens, student: student?.packTokens },
      work: { ...work, steps: work.epochs * batches },
      device: { kind: opened.kind, adapter: opened.adapter },
      problem,
      probe: probed ? await probeOn(opened, run, inputs, passes) : null,
    });
  } finally {
    opened.close();
  }
}

/** Does a small part of the run with models of its own: nothing is written. */
async function probeOn(
  opened: Compute,
  run: TrainingRun,
  inputs: TrainingInputs,
  passes: { teacher: PassOptions; student: PassOptions },
): Promise<RunProbe | null> {
  const { config, onNote, signal } = run;
  const { method, parent, episodes, tokenizer, sources } = inputs;
  const teacher = await openTeacher(run, inputs, opened, passes.teacher);
  if (teacher === null) return null;
  try {
    const student = await opened.openTrainer(parent?.name ?? config.student, {
      optimizer: "ignore",
      ...passes.student,
      signal,
    });
    try {
      tokenizer.fits("student", { name: config.student, vocabulary: student.info.vocabulary });
      return await probeRun({
        units: episodes.length,
        episode: async (unit) => episodes[unit]!,
        stages: method.stages,
        batchSize: config.batch_size,
        contexts: libraryContexts({ sources, codec: tokenizer.codec, limit: config.evidence_tokens }),
        codec: tokenizer.codec,
        settings: configuredSettings(config),
        teacher,
        student,
        signal,
        onWork: (what) => onNote(`probe: ${what}`),
      });
    } finally {
      student.dispose();
    }
  } finally {
    teacher.dispose();
  }
}

/**
 * What the run will need of the device, with the lengths of what its models will read.
 *
 * @throws InputError that names the file for a decision that the run would refuse when its step comes
 */
export async function plannedRun(
  { config, signal }: TrainingRun,
  inputs: TrainingInputs,
  { device }: Compute,
) {
  const { method, parent, games, watch, sources } = inputs;
  const { codec } = inputs.tokenizer;
  const named = teacherOf(config, { parent });
  const teacherFolder = named === null || isServed(named) ? null : named;
  let reading: RecordPlace | undefined;
  function* measured(): Generator<Episode> {
    for (const episode of inputs.episodes) {
      // The run leaves them out, whatever they hold; one that samples plays their tasks.
      if (config.sample === undefined && (brokeOff(episode) || hadNoTurn(episode))) continue;
      reading = inputs.placeOf(episode);
      yield episode;
    }
  }
  const { work, ...lengths } = await runLengths({
    episodes: measured(),
    played: games?.tasks.map(({ environment }) => environment),
    stages: method.stages,
    contexts: libraryContexts({ sources, codec, limit: config.evidence_tokens }),
    codec,
    sampled: sampledLengths(config),
    watched: watch?.decisions,
    signal,
  }).catch((error: unknown) => {
    if (!(error instanceof InputError) || error.where.file !== undefined) throw error;
    throw new InputError(error.reason, { ...error.where, ...reading });
  });
  const limit = limitBytes(config.memory_limit_gib);
  if (config.tinker !== undefined) {
    const teacher =
      teacherFolder === null
        ? null
        : await planWorkload(device, openFolder(teacherFolder), {
            ...{ kind: "score", weights: config.teacher_dtype, limit },
            ...lengths.teacher,
          });
    const plan = combinePlans(teacher === null ? {} : { teacher: teacher.plan });
    return { plan, teacher, student: null, work };
  }
  const planned = await planTraining(device, {
    teacher:
      teacherFolder === null
        ? null
        : { folder: openFolder(teacherFolder), weights: config.teacher_dtype, ...lengths.teacher },
    student: { folder: openFolder(parent?.name ?? config.student), ...lengths.student },
    limit,
  });
  return { ...planned, work };
}
