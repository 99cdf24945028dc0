/**
 * An `Environment` that replays one recorded episode: the recorded action leads to the recorded next turn, and an
 * action that the recording does not hold has no answer. It invents nothing.
 */
import { InputError } from "../errors.ts";
import type {
  Environment,
  EnvironmentAnswer,
  EnvironmentStart,
  EnvironmentTurn,
  NoAnswer,
} from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import type { OpenedTask } from "./live-episode.ts";

/** A recorded episode as a task to roll out: the student reads the recorded prompts. */
export function openRecorded(episode: Episode): OpenedTask {
  const environment = new RecordedEnvironment(episode);
  return {
    environment,
    prompt: () => ({ message: environment.prompt(), earlier: [] }),
    malformed: () => environment.follow(null),
  };
}

/**
 * A recorded episode in the place of its environment: it answers the recorded actions in their order. An action that it
 * does not hold ends the episode for a technical reason.
 */
export class RecordedEnvironment implements Environment {
  readonly #episode: Episode;
  /** The next decision; the number of decisions at the end; null before `reset` and after an unrecorded action. */
  #position: number | null = null;

  constructor(episode: Episode) {
    this.#episode = episode;
  }

  /** @throws InputError when the task is another one, or the episode has no decision or no prompt to start from. */
  async reset(task: string): Promise<EnvironmentStart> {
    const { episode, decisions, initial_observation, task_description } = this.#episode;
    if (task !== this.#episode.task) {
      throw new InputError(`recorded episode ${episode} is of task ${this.#episode.task}, not of ${task}`);
    }
    if (decisions.length === 0) {
      throw new InputError(`recorded episode ${episode} has no decision to replay`);
    }
    this.#position = 0;
    return { ...this.#turn(0, initial_observation), description: task_description };
  }

  async step(action: string): Promise<EnvironmentAnswer | NoAnswer> {
    return this.follow(action);
  }

  async close(): Promise<void> {
    this.#position = null;
  }

  /** The recorded user message of the next decision. */
  prompt(): string {
    const { position, decision } = this.#next();
    if (decision.prompt === undefined) {
      throw new InputError("missing: a recorded episode needs prompts as text to be rolled out again", {
        key: `episode ${JSON.stringify(this.#episode.episode)}, decisions[${position}].prompt`,
      });
    }
    return decision.prompt;
  }

  /** The recorded answer to an action; null stands for a malformed response. */
  follow(action: string | null): EnvironmentAnswer | NoAnswer {
    const { position, decision } = this.#next();
    if (action !== decision.action) {
      this.#position = null;
      const what = action === null ? "a malformed response" : JSON.stringify(action);
      return {
        unanswered: `the recording of ${this.#episode.episode} holds no answer to ${what} at decision ${position}`,
      };
    }
    this.#position = position + 1;
    return { ...this.#turn(position + 1, decision.feedback), status: decision.status };
  }

  #next() {
    const position = this.#position;
    const decision = position === null ? undefined : this.#episode.decisions[position];
    if (position === null || decision === undefined) {
      throw new Error("step after the end of a recorded episode: reset first");
    }
    return { position, decision };
  }

  #turn(position: number, feedback: string): EnvironmentTurn {
    const { decisions, final_state, outcome } = this.#episode;
    const next = decisions[position];
    if (next === undefined) {
      const { score, success } = outcome;
      return {
        observation: feedback,
        feedback,
        offered: null,
        state: final_state,
        score,
        done: true,
        success,
      };
    }
    return {
      observation: next.observation,
      feedback,
      offered: null,
      state: next.state,
      score: position === 0 ? null : decisions[position - 1]!.score,
      done: false,
      success: false,
    };
  }
}
