/** The device and the models of a training job, opened again after a fault. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TrainOptions } from "../../core/loop/index.ts";
import type { Scorer } from "../../core/ports.ts";
import { sha256Hex } from "../../core/seeded.ts";
import type { PassOptions } from "../../engine/webgpu/index.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { checkPlan, describePlan } from "../../tensor/index.ts";
import { openCompute } from "../engine/compute.ts";
import { limitBytes } from "../engine/memory-options.ts";
import { modelDigest } from "./fingerprint.ts";
import type { TrainingInputs } from "./inputs.ts";
import { plannedRun } from "./plan.ts";
import type { TrainingRun } from "./training-run.ts";

/** Milliseconds more before each further attempt to open a device again. */
const DEVICE_PAUSE = 2000;

export interface Models {
  teacher: Scorer;
  reopen: TrainOptions["reopen"];
  openStudent: TrainOptions["openStudent"];
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
  const [teacherFolder, studentFolder] = [openFolder(config.teacher), openFolder(config.student)];
  const { device, compute, cards, teacher_dtype: weights } = config;
  let opened = await openCompute({ device, compute, cards, onNote });
  const { kind } = opened;
  let passes: { teacher?: PassOptions; student?: PassOptions } = {};
  const openTeacher = async () => {
    const teacher = await opened.openScorer(config.teacher, { weights, ...passes.teacher, signal });
    tokenizer.fits("teacher", { name: config.teacher, vocabulary: teacher.info.vocabulary });
    return teacher;
  };
  try {
    const limit = limitBytes(config.memory_limit_gib);
    if (opened.kind === "webgpu" || limit !== undefined) {
      const { plan, teacher, student } = await plannedRun(run, inputs, opened);
      checkPlan(plan, limit, opened.device.largestBuffer);
      onNote(describePlan(plan));
      // What is told when memory runs out is what both need.
      passes = { teacher: { ...teacher, plan }, student: { ...student, plan } };
    }
    return await work({
      teacher: await openTeacher(),
      async reopen(_fault, attempt) {
        opened.close();
        // A driver that has just been reset may need a moment.
        await sleep(DEVICE_PAUSE * (attempt - 1), undefined, { signal });
        // Numbers must stay those of the device that the run began on.
        opened = await openCompute({ device: kind, compute, cards, onNote });
        return openTeacher();
      },
      async openStudent(checkpoint) {
        const student = await opened.openTrainer(checkpoint?.name ?? start, {
          optimizer: checkpoint === null && parent === null ? "ignore" : "require",
          ...passes.student,
          signal,
        });
        tokenizer.fits("student", { name: start, vocabulary: student.info.vocabulary });
        return student;
      },
      fingerprint: {
        teacher: await modelDigest(teacherFolder),
        student: await modelDigest(studentFolder),
        ...(parent === null ? {} : { parent: parent.digest }),
        device: sha256Hex(compute === "f32" ? kind : `${kind} ${compute}`),
        // Left out where it is f32, as in the checkpoints of runs that had no choice.
        ...(weights === "f32" ? {} : { teacher_dtype: sha256Hex(weights) }),
      },
    });
  } finally {
    opened.close();
  }
}
