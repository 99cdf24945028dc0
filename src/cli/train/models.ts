/** The device and the models of a training job, opened again after a fault. */
import { setTimeout as sleep } from "node:timers/promises";
import { isServed, type TrainOptions } from "../../core/loop/index.ts";
import type { Scorer } from "../../core/ports.ts";
import { sha256Hex } from "../../core/seeded.ts";
import type { PassOptions } from "../../engine/native/index.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { checkPlan, describePlan } from "../../tensor/index.ts";
import { openCompute } from "../engine/compute.ts";
import { limitBytes } from "../engine/memory-options.ts";
import { modelDigest } from "./fingerprint.ts";
import type { TrainingInputs } from "./inputs.ts";
import { plannedRun } from "./plan.ts";
import { servedStudent } from "./served-student.ts";
import { openTeacher, teacherOf } from "./teacher.ts";
import type { TrainingRun } from "./training-run.ts";

/** Milliseconds more before each further attempt to open a device again. */
const DEVICE_PAUSE = 2000;

export interface Models {
  /** Null where no stage asks one. */
  teacher: Scorer | null;
  reopen: TrainOptions["reopen"];
  openStudent: TrainOptions["openStudent"];
  /** Lets a server delete its checkpoint of a path. */
  forget: (served: string) => Promise<void>;
  fingerprint: Record<string, string>;
}

/** Opens the device and the teacher, and frees both whatever happens. */
export async function withModels<R>(
  run: TrainingRun,
  inputs: TrainingInputs,
  work: (models: Models) => Promise<R>,
): Promise<R> {
  const { config, onNote, signal } = run;
  const { tokenizer, parent } = inputs;
  const start = parent?.name ?? config.student;
  const { device, compute, cards, teacher_dtype: weights } = config;
  let opened = await openCompute({ device, compute, cards, onNote });
  const { kind } = opened;
  let teacher: Scorer | null;
  let passes: { teacher?: PassOptions; student?: PassOptions } = {};
  try {
    const limit = limitBytes(config.memory_limit_gib);
    // Also finds, before the first step, what the run would only refuse when its step comes.
    const { plan, ...measured } = await plannedRun(run, inputs, opened);
    if (opened.kind === "webgpu" || limit !== undefined) {
      checkPlan(plan, limit, opened.device.largestBuffer);
      onNote(describePlan(plan));
      // What is told when memory runs out is what both need.
      passes = { teacher: { ...measured.teacher, plan }, student: { ...measured.student, plan } };
    }
    const named = teacherOf(config, inputs);
    const served = isServed(named ?? undefined);
    const student = await servedStudent(run, inputs, opened);
    teacher = await openTeacher(run, inputs, opened, passes.teacher);
    return await work({
      teacher,
      async reopen({ fault }, attempt) {
        if (fault !== "server") opened.close();
        // A driver that has just been reset, or a server that was started again, may need a moment.
        await sleep(DEVICE_PAUSE * (attempt - 1), undefined, { signal });
        if (fault === "server") return teacher;
        // Numbers must stay those of the device that the run began on.
        opened = await openCompute({ device: kind, compute, cards, onNote });
        if (!served) teacher = await openTeacher(run, inputs, opened, passes.teacher);
        return teacher;
      },
      async openStudent(checkpoint) {
        if (student !== null)
          return student.open(checkpoint ?? (parent === null ? null : openFolder(parent.name)));
        const trainer = await opened.openTrainer(checkpoint?.name ?? start, {
          optimizer: checkpoint === null && parent === null ? "ignore" : "require",
          ...passes.student,
          signal,
        });
        tokenizer.fits("student", { name: start, vocabulary: trainer.info.vocabulary });
        return trainer;
      },
      forget: async (path) => student?.forget(path),
      fingerprint: {
        // A server may move, and its program may be another: what it answers is compared instead.
        ...(named === null || teacher === null
          ? {}
          : {
              teacher: served
                ? sha256Hex(`served: ${teacher.info.model}`)
                : await modelDigest(openFolder(named)),
            }),
        student: await modelDigest(openFolder(config.student)),
        ...(parent === null ? {} : { parent: parent.digest }),
        ...(student === null ? {} : { tinker: student.digest }),
        device: sha256Hex(compute === "f32" ? kind : `${kind} ${compute}`),
        // Left out where it is f32, as in the checkpoints of runs that had no choice.
        ...(weights === "f32" || served ? {} : { teacher_dtype: sha256Hex(weights) }),
      },
    });
  } finally {
    opened.close();
  }
}
