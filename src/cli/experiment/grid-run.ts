/** Runs a comparison part by part: what is finished stays as it is, so that the same command goes on after a kill. */
import { InputError } from "../../core/errors.ts";
import type { GridRun } from "../../core/loop/index.ts";
import { progress } from "../io.ts";
import type { GridParts, GridStudent } from "./grid-parts.ts";
import type { CarryOut, GridPart, PartEnd } from "./part.ts";

/** What kept a part from its figures. Nothing of it is in a table. */
export interface Deviation {
  part: string;
  /**
   * `failed`: an error ended it; `budget`: its budget did; `parent`: the run that it continues has no end; `time`: the
   * experiment's time was over.
   */
  kind: "failed" | "budget" | "parent" | "time";
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

/**
 * Goes through all parts in their order.
 *
 * @param carryOut does a part that is not finished
 * @returns null when it was interrupted: the exit code is set then
 * @throws InputError when there is no library
 */
export async function runGrid(parts: GridParts, carryOut: CarryOut): Promise<GridOutcome | null> {
  const run = new Running(parts, carryOut);
  return (await run.go()) ? { measured: run.measured, deviations: run.outcomeDeviations() } : null;
}

/** Thrown through the parts that follow. */
class Interrupted extends Error {}

class Running {
  readonly measured: Measured[] = [];
  readonly #deviations: Deviation[] = [];
  /** Parts that the experiment's time left. */
  readonly #left: string[] = [];
  readonly #ended = new Set<string>();
  /** What was measured of each checkpoint: one that has several names is played once. */
  readonly #students = new Map<string, Measured[]>();

  constructor(
    private readonly parts: GridParts,
    private readonly carryOut: CarryOut,
  ) {}

  /** @returns false when it was interrupted */
  async go(): Promise<boolean> {
    try {
      const { library, grid } = this.parts;
      if (library !== null && !(await this.#library(library))) return true;
      await this.#measure(null, { label: "final", model: this.parts.student });
      for (const run of grid.runs) {
        await this.#train(run);
        if (this.#ended.has(run.name)) await this.#measureRun(run);
      }
      return true;
    } catch (error) {
      if (error instanceof Interrupted) return false;
      throw error;
    }
  }

  outcomeDeviations(): Deviation[] {
    const [first, ...more] = this.#left;
    if (first === undefined) return this.#deviations;
    const part = more.length === 0 ? first : `${first} and ${more.length} more`;
    const reason = "the time was over before the end; the same command goes on";
    return [...this.#deviations, { part, kind: "time", reason }];
  }

  /** @returns false when the time was over before it was whole */
  async #library(library: GridPart): Promise<boolean> {
    const end = await this.#end(library);
    if (end.kind === "failed") throw new InputError(end.reason);
    if (end.kind === "time") this.#left.push(library.name);
    return end.kind === "done";
  }

  async #train(run: GridRun): Promise<void> {
    const { name, parent } = run;
    if (this.parts.isDone(this.parts.training(run))) {
      this.#ended.add(name);
      return;
    }
    if (parent !== null && !this.#ended.has(parent)) {
      if (this.#left.includes(parent)) this.#left.push(name);
      else this.#deviate({ part: name, kind: "parent", reason: `it continues ${parent}, which has no end` });
      return;
    }
    if (await this.#isCarriedOut(this.parts.training(run))) this.#ended.add(name);
  }

  async #measureRun(run: GridRun): Promise<void> {
    const { name } = run;
    for (const student of await this.parts.students(run)) {
      const before = this.#students.get(student.checkpoint);
      if (before === undefined) {
        const from = this.measured.length;
        await this.#measure(name, student);
        this.#students.set(student.checkpoint, this.measured.slice(from));
      } else this.measured.push(...before.map((each) => ({ ...each, run: name, checkpoint: student.label })));
    }
  }

  async #measure(run: string | null, student: Pick<GridStudent, "label" | "model">): Promise<void> {
    for (const { evaluation, ...part } of this.parts.evaluations(run, student)) {
      const { name } = part;
      if (!(await this.#isClaimed(part))) continue;
      if (this.parts.isDone(part) || (await this.#isCarriedOut(part)))
        this.measured.push({ evaluation, run, checkpoint: student.label, name });
    }
  }

  /** Its config is known only now. */
  async #isClaimed(part: GridPart): Promise<boolean> {
    try {
      await this.parts.claim(part);
      return true;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#deviate({ part: part.name, kind: "failed", reason: error.message });
      return false;
    }
  }

  async #isCarriedOut(part: GridPart): Promise<boolean> {
    const end = await this.#end(part);
    const { name } = part;
    if (end.kind === "failed") this.#deviate({ part: name, kind: "failed", reason: end.reason });
    if (end.kind === "budget")
      this.#deviate({ part: name, kind: "budget", reason: "its budget ended it before its last step" });
    if (end.kind === "time") this.#left.push(name);
    return end.kind === "done";
  }

  async #end(part: GridPart): Promise<PartEnd> {
    const end = await this.carryOut(part);
    if (end.kind === "interrupted") throw new Interrupted();
    return end;
  }

  #deviate(deviation: Deviation): void {
    this.#deviations.push(deviation);
    const { part, kind, reason } = deviation;
    progress(`gcopd: ${part}: ${kind === "failed" ? "failed: " : ""}${reason}`);
  }
}
