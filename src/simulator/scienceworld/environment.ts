/** ScienceWorld behind the port: one simulator of a pool per environment. */
import { locateCase } from "../../core/environment/scienceworld/locate-case.ts";
import { type FeedbackEntry, isRejection } from "../../core/environment/scienceworld/parser-mode.ts";
import { readTask } from "../../core/environment/scienceworld/task-name.ts";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
  NoAnswer,
} from "../../core/ports.ts";
import type { State, Status } from "../../core/record/schema.ts";
import type { SimulatorPool } from "./pool.ts";
import type { ScienceSimulator, ScienceStep } from "./simulator.ts";

/** A task is solved from this score on. */
const FULL_SCORE = 100;

/** Tasks are `boil|1|easy`: task, variation and simplification. */
export class ScienceWorldEnvironment implements Environment {
  readonly #pool: SimulatorPool;
  #simulator: ScienceSimulator | null = null;
  #task = "";
  #history: FeedbackEntry[] = [];
  #state: State | null = null;
  #moves = 0;

  constructor(pool: SimulatorPool) {
    this.#pool = pool;
  }

  /**
   * Takes a simulator from the pool, waiting for one if all are in use, and keeps it until `close`.
   *
   * @throws InputError for a task that the simulator does not have, and a simulator that cannot be started;
   * EnvironmentError when it fails later
   */
  async reset(task: string): Promise<EnvironmentStart> {
    const chosen = readTask(task);
    if (this.#simulator?.failed) await this.close();
    this.#simulator ??= await this.#pool.acquire();
    const simulator = this.#simulator;
    this.#task = task;
    this.#history = [];
    try {
      await simulator.load(chosen);
      const turn = await this.#turn(simulator, await simulator.reset());
      return { ...turn, description: await simulator.description() };
    } catch (error) {
      if (!(error instanceof InputError) || error.where.key === "task") throw error;
      throw new EnvironmentError(error.reason, error.where);
    }
  }

  /** A simulator that fails ends the episode for a technical reason. */
  async step(action: string): Promise<EnvironmentAnswer | NoAnswer> {
    const simulator = this.#opened();
    const before = this.#state;
    try {
      const turn = await this.#turn(simulator, await simulator.step(action));
      return { ...turn, status: statusOf(action, turn.feedback, before) };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { unanswered: error.message };
    }
  }

  /** What the simulator reports beside the turn; asking changes nothing. */
  async details(): Promise<{ moves: number; inventory: string; look: string }> {
    const simulator = this.#opened();
    return {
      moves: this.#moves,
      inventory: await simulator.inventory(),
      look: await simulator.look(),
    };
  }

  async close(): Promise<void> {
    const simulator = this.#simulator;
    this.#simulator = null;
    if (simulator !== null) await this.#pool.release(simulator);
  }

  #opened(): ScienceSimulator {
    if (this.#simulator === null) throw new Error("step before reset");
    return this.#simulator;
  }

  async #turn(
    simulator: ScienceSimulator,
    { observation, score, done, moves }: ScienceStep,
  ): Promise<EnvironmentTurn> {
    this.#history.push({ feedback: observation, stepped: true });
    this.#moves = moves;
    const offered = { templates: await simulator.templates(), objects: await simulator.objects() };
    const { state } = locateCase({
      id: this.#task,
      object_tree: await simulator.objectTree(),
      goal_progress: await simulator.goalProgress(),
      history: this.#history,
    });
    this.#state = state;
    const success = score >= FULL_SCORE;
    return { observation, feedback: observation, offered, state, score, done: done || success, success };
  }
}

/** As records write it: a number that an open menu offers is a binding, unless it is refused. */
function statusOf(action: string, feedback: string, before: State | null): Status {
  if (isRejection(feedback)) return "rejected";
  return before !== null && Object.hasOwn(before.options, action.trim()) ? "binding" : "executed";
}
