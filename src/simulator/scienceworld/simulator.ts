/** ScienceWorld's simulator: what its Python package asks of Java, asked from here. */
import type { ScienceTask, TaskVariations } from "../../core/environment/scienceworld/task-name.ts";
import { InputError } from "../../core/errors.ts";
import type { SimulatorJar } from "./jar.ts";
import { Jvm, type JvmOptions } from "./jvm.ts";
import {
  type JavaArgument,
  JavaError,
  type JavaReference,
  type JavaValue,
  type Py4jConnection,
} from "./py4j.ts";

const CLASS = "scienceworld.runtime.pythonapi.PythonInterface";

/** Moves after which the environment ends an episode by itself. */
const STEP_LIMIT = 200;

/** What one action led to. */
export interface ScienceStep {
  observation: string;
  /** A whole number up to 100; negative after a mistake that ends the episode. */
  score: number;
  done: boolean;
  /** Actions that counted since the reset. */
  moves: number;
}

/** Rounds a half to the even neighbour, as Python does. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** One simulator in one Java process: one environment at a time. */
export class ScienceSimulator {
  readonly #jvm: Jvm;
  readonly #object: JavaReference;

  private constructor(jvm: Jvm, object: JavaReference) {
    this.#jvm = jvm;
    this.#object = object;
  }

  /** @throws InputError when the process cannot be started */
  static async start(jar: SimulatorJar, options?: JvmOptions): Promise<ScienceSimulator> {
    const jvm = await Jvm.start(jar, options);
    try {
      return new ScienceSimulator(jvm, await jvm.ask((java) => java.create(CLASS)));
    } catch (error) {
      await jvm.stop();
      throw asInput(error);
    }
  }

  get failed(): boolean {
    return this.#jvm.failed;
  }

  get pid(): number | undefined {
    return this.#jvm.pid;
  }

  /** Every task, with the number of its variations. */
  async tasks(): Promise<TaskVariations[]> {
    const tasks: TaskVariations[] = [];
    for (const name of await this.#strings("getTaskNames"))
      tasks.push({ name, variations: Number(await this.#call("getTaskMaxVariations", name)) });
    return tasks;
  }

  /**
   * Loads a task; `reset` begins it.
   *
   * @param goldPath whether the simulator works out a solution, for `goldActions`
   * @throws InputError for a task or variation that it does not have
   */
  async load({ name, variation, simplification }: ScienceTask, goldPath = false): Promise<void> {
    // It does not raise: it answers with what is wrong.
    const problem = String(await this.#call("load", name, variation, simplification, goldPath));
    if (problem !== "") throw new InputError(problem.replace(/^ERROR: /, ""), { key: "task" });
  }

  /** Begins the loaded task. */
  async reset(): Promise<ScienceStep> {
    await this.#call("reset");
    return this.step("look around");
  }

  async step(action: string): Promise<ScienceStep> {
    const observation = String(await this.#call("step", action));
    const score = roundHalfEven(100 * Number(await this.#call("getScore")));
    const completed = (await this.#call("getCompleted")) === true;
    const moves = Number(await this.#call("getNumMoves"));
    return { observation, score, done: completed || moves > STEP_LIMIT || score < 0, moves };
  }

  description(): Promise<string> {
    return this.#text("getTaskDescription");
  }

  /** What `look around` would say, at no cost. */
  look(): Promise<string> {
    return this.#text("freeActionLook");
  }

  /** What `inventory` would say, at no cost. */
  inventory(): Promise<string> {
    return this.#text("freeActionInventory");
  }

  templates(): Promise<string[]> {
    return this.#strings("getPossibleActions");
  }

  objects(): Promise<string[]> {
    return this.#strings("getPossibleObjects");
  }

  /** A solution of a task that was loaded with its gold path. */
  goldActions(): Promise<string[]> {
    return this.#strings("getGoldActionSequence");
  }

  /** JSON of every object, for the locator. */
  async objectTree(): Promise<string> {
    return String(await this.#call("getObjectTree", ""));
  }

  goalProgress(): Promise<string> {
    return this.#text("getGoalProgressStr");
  }

  stop(): Promise<void> {
    return this.#jvm.stop();
  }

  async #text(method: string): Promise<string> {
    return String(await this.#call(method));
  }

  #call(method: string, ...given: JavaArgument[]): Promise<JavaValue> {
    return this.#ask((java) => java.call(this.#object, method, ...given));
  }

  #strings(method: string): Promise<string[]> {
    return this.#ask(async (java) => java.strings(await java.call(this.#object, method)));
  }

  async #ask<T>(question: (java: Py4jConnection) => Promise<T>): Promise<T> {
    try {
      return await this.#jvm.ask(question);
    } catch (error) {
      throw asInput(error);
    }
  }
}

/** What Java refuses or throws is a fault of what was asked for: one line. */
const asInput = (error: unknown): unknown =>
  error instanceof JavaError ? new InputError(`the simulator refuses ${error.message}`) : error;
