/** The time of a run of the page before it starts: a small part of it is done here, on a student that is thrown away. */

import * as Comlink from "comlink";
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { type ModelProbe, probedTime, type RunProbe } from "../../../core/loop/probe.ts";
import { teacherOf } from "../../../core/method/index.ts";
import { describeFault, isAbort, isDeviceFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { requirePlan } from "../../compute/models/memory.ts";
import { models } from "../../compute/models/models.ts";
import type { ProbedCall, WorkerTime } from "../../compute/runs/worker-answers.ts";
import { getUi, setUi } from "../../compute/store.ts";
import { formPlan, planTraining } from "../../compute/training/training-plan.ts";

/** What a probe of the page found, and the config that it is of. */
export const usePageProbe = create<{ of: string; time: WorkerTime | null }>(() => ({ of: "", time: null }));

/** A probe is of one config. */
export const probeKey = (written: Record<string, unknown>): string => JSON.stringify(written);

const calls = ({ small, large }: ModelProbe): ProbedCall[] =>
  [small, ...large].map(({ sequences, tokens, seconds }) => ({ sequences, tokens, seconds }));

/** A probe as it is shown, here and on the worker. */
const shownTime = (probe: RunProbe): WorkerTime => ({
  ...probedTime(probe),
  teacher: probe.teacher.flatMap(calls),
  student: probe.student.flatMap(calls),
});

function show(status: "idle" | "probing" | "probe-cancelling", label: string | null): void {
  const work = label === null ? null : { label, done: 0, total: 0, unit: "tokens" };
  setUi((ui) => ({ training: { ...ui.training, status, work, method: "" } }));
}

function say(kind: "info" | "error", text: string): void {
  setUi((ui) => ({ training: { ...ui.training, message: { kind, text } } }));
}

const page = { models, formPlan, planTraining };

/** One probe at a time. */
export class TrainingProbe {
  readonly #turns = new Latest();

  constructor(private readonly clients: typeof page) {}

  /** Measures the time of the run that the form describes. The student that is open stays as it is. */
  async start(): Promise<void> {
    if (isModelAtWork()) return;
    const { models, formPlan, planTraining } = this.clients;
    const isLatest = this.#turns.begin();
    const wasOpen = getUi().models.student !== null;
    show("probing", "Probe: opening the models");
    setUi((ui) => ({ training: { ...ui.training, message: null } }));
    try {
      const plan = await formPlan();
      if (plan.sample !== undefined || plan.live !== undefined)
        throw new InputError(
          "the time of episodes that the student plays is not known: their responses are still to be drawn",
        );
      const passes = await requirePlan("train", () => planTraining(plan));
      const isOwn = teacherOf(plan.method) === "student";
      await (isOwn ? models.closeTeacher() : models.ensure("teacher"));
      const [{ api }, job] = await Promise.all([models.worker(), models.workload("train")]);
      if (!isLatest()) return;
      await api.takePasses(passes);
      // The probe reopens it from its folder, and gives its place back: there is room for one.
      models.studentLost();
      const probe = await api.probe(
        job.student,
        isOwn ? job.student : null,
        plan,
        Comlink.proxy((what: string) => {
          if (isLatest() && getUi().training.status === "probing") show("probing", `Probe: ${what}`);
        }),
      );
      if (!isLatest()) return;
      usePageProbe.setState({ of: probeKey(plan.written), time: shownTime(probe) });
      if (wasOpen) await models.ensure("student");
    } catch (error) {
      if (!isLatest()) return;
      if (isDeviceFault(error)) models.endWorker();
      if (isAbort(error)) say("info", "The probe was cancelled. The student is as it was.");
      else say("error", `No time was measured: ${describeFault(error)}`);
    } finally {
      if (isLatest()) show("idle", null);
    }
  }

  /** Ends the probe: at once where the models can be asked to stop, otherwise by ending their worker. */
  async cancel(): Promise<void> {
    const isLatest = this.#turns.present();
    show("probe-cancelling", "Cancelling the probe");
    const goesOn = () => isLatest() && getUi().training.status === "probe-cancelling";
    if (!(await this.clients.models.stopWork(goesOn))) return;
    this.#turns.end();
    say("info", "The probe was cancelled. The student is as it was.");
    show("idle", null);
  }
}

export const trainingProbe = new TrainingProbe(page);
