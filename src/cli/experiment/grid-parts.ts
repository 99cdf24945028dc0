/** The parts of a comparison by their names, and what is finished of them. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { EvaluateConfig, ExperimentGrid, GridRun } from "../../core/loop/index.ts";
import { isThere, onFileSync } from "../../node/file-error.ts";
import { bestCheckpoint, keptCheckpoints } from "../train/checkpoints.ts";
import type { GridPart } from "./part.ts";
import { claim } from "./part-config.ts";

/** The folder of an evaluation's part. */
const folderOf = (evaluation: string, run: string | null, checkpoint: string): string =>
  run === null ? `evaluations/${evaluation}/untrained` : `evaluations/${evaluation}/${run}/${checkpoint}`;

/** One evaluation of one student. */
export interface EvaluationPart {
  name: string;
  evaluation: string;
  command: "evaluate";
  config: EvaluateConfig;
}

/** A student that is evaluated. Several have one checkpoint where they are of one student. */
export interface GridStudent {
  /** `final`, `best`, or `step-N`. */
  label: string;
  model: string;
  /** Which weights it is. */
  checkpoint: string;
}

export class GridParts {
  constructor(
    readonly grid: ExperimentGrid,
    readonly student: string,
    readonly inside: (name: string) => string,
  ) {}

  get library(): GridPart | null {
    const { collect } = this.grid;
    return collect === null ? null : { name: "library", command: "collect", config: collect };
  }

  training({ name, config }: GridRun): GridPart {
    return { name, command: "train", config };
  }

  /** @param run null for the student before training */
  evaluations(run: string | null, { label, model }: Pick<GridStudent, "label" | "model">): EvaluationPart[] {
    return this.grid.evaluations.map(({ name: evaluation, of }) => ({
      name: folderOf(evaluation, run, label),
      evaluation,
      command: "evaluate",
      config: of(model),
    }));
  }

  get untrained(): EvaluationPart[] {
    return this.evaluations(null, { label: "final", model: this.student });
  }

  /** The parts whose configs are known before anything has run, in their order. Those of checkpoints come as these do. */
  known(): GridPart[] {
    const { runs, cells, checkpoints } = this.grid;
    const finals = new Set(checkpoints.includes("final") ? cells.map(({ run }) => run) : []);
    return [
      ...(this.library === null ? [] : [this.library]),
      ...this.untrained,
      ...runs.flatMap((run) => [
        this.training(run),
        ...(finals.has(run.name)
          ? this.evaluations(run.name, { label: "final", model: this.inside(run.name) })
          : []),
      ]),
    ];
  }

  /** Evaluations of students that are known only once their run has ended. `step-*` stands for those after so many steps. */
  later(): string[] {
    const { runs, cells, checkpoints } = this.grid;
    const labelsOf = (name: string) =>
      checkpoints.flatMap((which) => {
        if (typeof which === "object") return ["step-*"];
        return which === "best" && cells.some(({ run }) => run === name) ? ["best"] : [];
      });
    return runs.flatMap(({ name: run }) =>
      labelsOf(run).flatMap((label) => this.evaluations(run, { label, model: "" }).map(({ name }) => name)),
    );
  }

  /** @throws InputError when a part began with another config, before anything is written or runs */
  claimKnown(): Promise<void> {
    return this.claim(...this.known());
  }

  claim(...parts: GridPart[]): Promise<void> {
    return claim(this.inside(""), parts);
  }

  /** Runs of methods and seeds that the config no longer names. */
  unnamed(): string[] {
    const cells = this.inside("cells");
    if (!isThere(cells)) return [];
    const named = new Set(this.grid.cells.map(({ run }) => run));
    return onFileSync(cells, "read", () => readdirSync(cells))
      .map((name) => `cells/${name}`)
      .filter((name) => /-seed-\d+$/.test(name) && !named.has(name))
      .sort();
  }

  isDone({ name, command }: Pick<GridPart, "name" | "command">): boolean {
    // Written last: what is there is whole.
    return isThere(join(this.inside(name), WRITTEN_LAST[command]));
  }

  /** The students of a finished run that are to be evaluated. A parent has no final one: its children continue it. */
  async students({ name, parent }: GridRun): Promise<GridStudent[]> {
    const { checkpoints, cells } = this.grid;
    const kept = await keptCheckpoints(this.checkpointsOf(name));
    const isCell = cells.some(({ run }) => run === name);
    const students: GridStudent[] = [];
    // The first name of a student names its folder: that of the final one is known beforehand.
    if (isCell && checkpoints.includes("final")) {
      const model = this.inside(name);
      students.push({ label: "final", model, checkpoint: kept.at(-1)?.path ?? model });
    }
    if (isCell && checkpoints.includes("best")) {
      const parents = parent === null ? [] : await keptCheckpoints(this.checkpointsOf(parent));
      const best = bestCheckpoint([...parents, ...kept]);
      if (best !== null) students.push({ label: "best", model: best.path, checkpoint: best.path });
    }
    for (const which of checkpoints)
      if (typeof which === "object")
        for (const { path, step } of kept)
          if (step % which.every === 0)
            students.push({ label: `step-${step}`, model: path, checkpoint: path });
    return students;
  }

  /** Whether the student is a checkpoint of the run itself, not of its parent. */
  isOwn({ name }: GridRun, { checkpoint }: GridStudent): boolean {
    return checkpoint === this.inside(name) || checkpoint.startsWith(join(this.checkpointsOf(name), "/"));
  }

  checkpointsOf(run: string): string {
    return this.inside(`${run}/checkpoints`);
  }
}

const WRITTEN_LAST: Readonly<Record<GridPart["command"], string>> = {
  collect: "sources.jsonl",
  train: "student/config.json",
  evaluate: "results.json",
};
