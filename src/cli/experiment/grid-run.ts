/** Runs a comparison part by part: what is finished stays as it is, so that the same command goes on after a kill. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DeviceError, InputError } from "../../core/errors.ts";
import type { EvaluateConfig, ExperimentGrid, GridRun } from "../../core/loop/index.ts";
import { trained } from "../commands/train.ts";
import { progress } from "../io.ts";
import { collect } from "../live/collect.ts";
import { evaluate } from "../live/evaluate.ts";
import { playing } from "../live/playing.ts";
import { bestCheckpoint, type KeptCheckpoint, keptCheckpoints } from "../train/checkpoints.ts";
import { claim } from "./part-config.ts";

/** What kept a part from its figures. Nothing of it is in a table. */
export interface Deviation {
  part: string;
  /** `failed`: an error ended it; `budget`: its budget did; `parent`: the run that it continues has no end. */
  kind: "failed" | "budget" | "parent";
  reason: string;
}

/** One evaluation of a student: of a cell, of a checkpoint that cells share, or of the student before training. */
export interface Measured {
  evaluation: string;
  /** Name of the run; null before training. */
  run: string | null;
  /** `final`, `best`, or `step-N`. */
  checkpoint: string;
  /** Its folder in that of the experiment. Several have one where they are of one student. */
  name: string;
}

export interface GridOutcome {
  measured: Measured[];
  deviations: Deviation[];
}

/** The folder of an evaluation's part. */
const folderOf = (evaluation: string, run: string | null, checkpoint: string): string =>
  run === null ? `evaluations/${evaluation}/untrained` : `evaluations/${evaluation}/${run}/${checkpoint}`;

export interface GridPart {
  name: string;
  command: "collect" | "train" | "evaluate";
  config: object;
}

/** The parts whose configs are known before anything has run, in their order. Those of checkpoints come as these do. */
export function knownParts(
  { collect, runs, cells, evaluations, checkpoints }: ExperimentGrid,
  student: string,
  inside: (name: string) => string,
): GridPart[] {
  const finals = checkpoints.includes("final") ? cells.map(({ run }) => run) : [];
  const measured = (run: string | null, model: string): GridPart[] =>
    evaluations.map(({ name, of }) => ({
      name: folderOf(name, run, "final"),
      command: "evaluate",
      config: of(model),
    }));
  return [
    ...(collect === null ? [] : [{ name: "library", command: "collect" as const, config: collect }]),
    ...measured(null, student),
    ...runs.flatMap(({ name, config }) => [
      { name, command: "train" as const, config },
      ...(finals.includes(name) ? measured(name, inside(name)) : []),
    ]),
  ];
}

const configFile = (name: string): string => `${name}.json`;

/** @throws InputError when a part began with another config, before anything runs */
export async function claimParts(
  parts: readonly GridPart[],
  inside: (name: string) => string,
): Promise<void> {
  for (const { name, config } of parts) await claim(inside(configFile(name)), config);
}

/** @returns null when it was interrupted: the exit code is set then */
export async function runGrid(
  grid: ExperimentGrid,
  student: string,
  inside: (name: string) => string,
): Promise<GridOutcome | null> {
  const run = new Running(grid, student, inside);
  return (await run.go()) ? { measured: run.measured, deviations: run.deviations } : null;
}

class Running {
  readonly measured: Measured[] = [];
  readonly deviations: Deviation[] = [];
  readonly #ended = new Set<string>();
  /** What was measured of each checkpoint: one that has several names is played once. */
  readonly #students = new Map<string, Measured[]>();

  constructor(
    private readonly grid: ExperimentGrid,
    private readonly student: string,
    private readonly inside: (name: string) => string,
  ) {}

  async go(): Promise<boolean> {
    const { collect: library, runs } = this.grid;
    if (library !== null) {
      this.#say("library", "the teacher collects the library");
      await playing("executions", (watching) =>
        collect({ config: library, out: this.inside("library"), ...watching }),
      );
      if (process.exitCode) return false;
    }
    if (!(await this.#measure(null, "final", this.student))) return false;
    for (const run of runs) {
      if (!(await this.#train(run))) return false;
      if (this.#ended.has(run.name) && !(await this.#measureRun(run))) return false;
    }
    return true;
  }

  #say(name: string, what: string): void {
    progress(`gcopd: ${name}: ${what}`);
  }

  /** @returns false when it was interrupted */
  async #train({ name, parent }: GridRun): Promise<boolean> {
    const out = this.inside(name);
    if (parent !== null && !this.#ended.has(parent)) {
      this.#deviate({ part: name, kind: "parent", reason: `it continues ${parent}, which has no end` });
      return true;
    }
    if (existsSync(join(out, "student", "config.json"))) {
      this.#ended.add(name);
      return true;
    }
    this.#say(name, "training");
    await this.#guarded(name, async () => {
      const ended = await trained({ config: this.inside(configFile(name)), out, progress: "text" });
      if (ended === "done") this.#ended.add(name);
      if (ended === "budget")
        this.#deviate({ part: name, kind: "budget", reason: "its budget ended it before its last step" });
    });
    return !process.exitCode;
  }

  /** The students of a run that are to be evaluated. A parent has no final one: its children continue it. */
  async #measureRun({ name, parent }: GridRun): Promise<boolean> {
    const { checkpoints, cells } = this.grid;
    const kept = await keptCheckpoints(this.inside(`${name}/checkpoints`));
    const isCell = cells.some(({ run }) => run === name);
    const students: { label: string; model: string; checkpoint: string | undefined }[] = [];
    // The first name of a student names its folder: that of the final one is known beforehand.
    if (isCell && checkpoints.includes("final"))
      students.push({ label: "final", model: this.inside(name), checkpoint: kept.at(-1)?.path });
    if (isCell && checkpoints.includes("best")) {
      const best = bestCheckpoint([...(await this.#keptOf(parent)), ...kept]);
      if (best !== null) students.push({ label: "best", model: best.path, checkpoint: best.path });
    }
    for (const which of checkpoints)
      if (typeof which === "object")
        for (const { path, step } of kept)
          if (step % which.every === 0)
            students.push({ label: `step-${step}`, model: path, checkpoint: path });
    for (const { label, model, checkpoint = model } of students) {
      const before = this.#students.get(checkpoint);
      if (before === undefined) {
        const from = this.measured.length;
        if (!(await this.#measure(name, label, model))) return false;
        this.#students.set(checkpoint, this.measured.slice(from));
      } else this.measured.push(...before.map((each) => ({ ...each, run: name, checkpoint: label })));
    }
    return true;
  }

  async #keptOf(run: string | null): Promise<KeptCheckpoint[]> {
    return run === null ? [] : keptCheckpoints(this.inside(`${run}/checkpoints`));
  }

  /** @returns false when it was interrupted */
  async #measure(run: string | null, checkpoint: string, model: string): Promise<boolean> {
    for (const { name: evaluation, of } of this.grid.evaluations) {
      const name = folderOf(evaluation, run, checkpoint);
      const done = await this.#guarded(name, async () => {
        await claim(this.inside(configFile(name)), of(model));
        await this.#evaluate(name, of(model));
      });
      if (process.exitCode) return false;
      if (done) this.measured.push({ evaluation, run, checkpoint, name });
    }
    return true;
  }

  async #evaluate(name: string, config: EvaluateConfig): Promise<void> {
    const out = this.inside(name);
    // Written last: what is there is whole.
    if (existsSync(join(out, "results.json"))) return;
    this.#say(name, "evaluation");
    await playing("episodes", async (watching) => {
      await evaluate({ config, out, ...watching });
    });
  }

  /** @returns false when bad input or the device ended the work: other parts go on */
  async #guarded(part: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof InputError || error instanceof DeviceError)) throw error;
      this.#deviate({ part, kind: "failed", reason: error.message });
      return false;
    }
  }

  #deviate(deviation: Deviation): void {
    this.deviations.push(deviation);
    this.#say(deviation.part, `${deviation.kind === "failed" ? "failed: " : ""}${deviation.reason}`);
  }
}
