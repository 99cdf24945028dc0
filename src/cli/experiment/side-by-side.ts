/** Carries out the parts of a comparison in processes of their own, several at a time, on one card or several, and perhaps for some time only. */
import { InputError } from "../../core/errors.ts";
import type { GridRun } from "../../core/loop/index.ts";
import { cardFiles, chosenCards } from "../../engine/cards/index.ts";
import type { CardChoice } from "../engine/compute.ts";
import { listenForInterrupts } from "../engine/interrupt.ts";
import { progress } from "../io.ts";
import type { EvaluationPart, GridParts } from "./grid-parts.ts";
import type { CarryOut, GridPart, PartEnd } from "./part.ts";
import { type PartProcess, startPart } from "./part-process.ts";

export interface Bounds {
  /** Processes at the same time. */
  atOnce: number;
  /** After these minutes each is asked to end, and none begins: a training keeps its last step. */
  minutes?: number | undefined;
  /** Cards of this host that the processes are spread over; the device's own choice when absent. */
  cards?: CardChoice | undefined;
}

/** Milliseconds of the longest timer that there is: 24 days. */
const LONGEST = 2 ** 31 - 1;

/** One thing that a lane does: a run with the evaluations of its students, or an evaluation. */
interface Task {
  name: string;
  /** The task that must be over before. */
  after: string | null;
  work: () => Promise<void>;
}

/**
 * Carries out what is missing: the library, then the runs in their order, a run after its parent, each followed by the
 * evaluations of its students. A part that fails ends no other. Every part computes what it would compute alone.
 *
 * @returns how each part ended, for `runGrid`: one without an end has to wait for the next start
 */
export async function sideBySide(parts: GridParts, bounds: Bounds): Promise<CarryOut> {
  const lanes = new Lanes(parts, bounds);
  await lanes.go();
  return lanes.endOf;
}

class Lanes {
  readonly #ends = new Map<string, PartEnd>();
  readonly #running = new Set<PartProcess>();
  /** The processes of each card. */
  readonly #onCards: Map<number, number>;
  #isInterrupted = false;
  #stopped = false;

  constructor(
    private readonly parts: GridParts,
    private readonly bounds: Bounds,
  ) {
    const { cards } = bounds;
    this.#onCards = new Map(
      cards === undefined ? [] : chosenCards(cards, cardFiles()).map((card) => [card, 0]),
    );
  }

  readonly endOf: CarryOut = async ({ name }) =>
    this.#isInterrupted ? { kind: "interrupted" } : (this.#ends.get(name) ?? { kind: "time" });

  async go(): Promise<void> {
    const interrupt = listenForInterrupts();
    const { minutes } = this.bounds;
    const timer =
      minutes === undefined
        ? undefined
        : setTimeout(
            () => this.#stop("the time is over: each part ends after its step"),
            Math.min(minutes * 60_000, LONGEST),
          );
    const again = () => {
      for (const each of this.#running) each.stop();
    };
    interrupt.first.addEventListener("abort", () => {
      this.#isInterrupted = true;
      this.#stop("ending after these steps; again ends at once");
    });
    interrupt.second.addEventListener("abort", again);
    try {
      await this.#allParts();
      if (!this.#isInterrupted) return;
      progress("gcopd: interrupted; the same command goes on with what is there");
      process.exitCode = interrupt.exitCode ?? 1;
    } catch (error) {
      this.#stop("a fault ended the run: each part ends after its step");
      await Promise.all([...this.#running].map(({ ended }) => ended));
      throw error;
    } finally {
      clearTimeout(timer);
      interrupt.release();
    }
  }

  #stop(why: string): void {
    progress(`gcopd: ${why}`);
    // A second request would end a part inside its step: only a second interrupt may do that.
    if (!this.#stopped) for (const each of this.#running) each.stop();
    this.#stopped = true;
  }

  async #allParts(): Promise<void> {
    const { library, untrained, grid } = this.parts;
    if (library !== null && !(await this.#isDone(library))) return;
    await this.#share([
      ...untrained.map((part) => this.#evaluation(part)),
      ...grid.runs.map((run) => ({
        name: run.name,
        after: run.parent,
        work: () => this.#run(run),
      })),
    ]);
    // What cells share has its name by the first of them, which is known only now.
    await this.#share((await this.#sharedEvaluations()).map((part) => this.#evaluation(part)));
  }

  #evaluation(part: EvaluationPart): Task {
    return { name: part.name, after: null, work: () => this.#evaluate([part]) };
  }

  async #run(run: GridRun): Promise<void> {
    const training = this.parts.training(run);
    const hasParent = run.parent === null || this.parts.isDone({ name: run.parent, command: "train" });
    if (!this.parts.isDone(training) && !(hasParent && (await this.#isDone(training)))) return;
    const seen = new Set<string>();
    for (const student of await this.parts.students(run)) {
      if (!this.parts.isOwn(run, student) || seen.has(student.checkpoint)) continue;
      seen.add(student.checkpoint);
      await this.#evaluate(this.parts.evaluations(run.name, student));
    }
  }

  /** Evaluations of parents' checkpoints that are the best of cells. */
  async #sharedEvaluations(): Promise<EvaluationPart[]> {
    const seen = new Set<string>();
    const missing: EvaluationPart[] = [];
    for (const run of this.parts.grid.runs) {
      if (!this.parts.isDone(this.parts.training(run))) continue;
      for (const student of await this.parts.students(run)) {
        if (seen.has(student.checkpoint)) continue;
        seen.add(student.checkpoint);
        if (!this.parts.isOwn(run, student)) missing.push(...this.parts.evaluations(run.name, student));
      }
    }
    return missing;
  }

  async #evaluate(evaluations: readonly EvaluationPart[]): Promise<void> {
    for (const part of evaluations) {
      if (this.parts.isDone(part)) continue;
      try {
        await this.parts.claim(part);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        this.#ends.set(part.name, { kind: "failed", reason: error.message });
        continue;
      }
      await this.#isDone(part);
    }
  }

  async #isDone(part: GridPart): Promise<boolean> {
    if (this.#stopped) return false;
    const card = freestCard(this.#onCards);
    const running = startPart(part, this.parts.inside, card);
    this.#running.add(running);
    this.#count(card, 1);
    const end = await running.ended;
    this.#count(card, -1);
    this.#running.delete(running);
    // One that was asked to end before its time has no end: the next start goes on.
    if (end.kind !== "interrupted") this.#ends.set(part.name, end);
    else if (!this.#stopped)
      this.#ends.set(part.name, { kind: "failed", reason: "its process was told to end from outside" });
    return end.kind === "done";
  }

  #count(card: number | null, more: number): void {
    if (card !== null) this.#onCards.set(card, this.#onCards.get(card)! + more);
  }

  /** The tasks in their order, as many at a time as there are lanes. */
  async #share(tasks: readonly Task[]): Promise<void> {
    const waiting = [...tasks];
    const over = new Set<string>();
    const running = new Set<Promise<void>>();
    while (waiting.length > 0 || running.size > 0) {
      const next = this.#stopped ? -1 : waiting.findIndex(({ after }) => after === null || over.has(after));
      if (next >= 0 && running.size < this.bounds.atOnce) {
        const [{ name, work }] = waiting.splice(next, 1) as [Task];
        const lane = work().then(() => {
          over.add(name);
          running.delete(lane);
        });
        running.add(lane);
      } else if (running.size > 0) await Promise.race(running);
      else return;
    }
  }
}

/** The card with the fewest processes, of equal ones the first; null where the device's own choice stands. */
export function freestCard(processes: ReadonlyMap<number, number>): number | null {
  const [first] = [...processes].sort(([, a], [, b]) => a - b);
  return first?.[0] ?? null;
}
