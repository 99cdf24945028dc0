/**
 * An `Environment` that replays one recorded episode: the recorded action leads to the recorded next turn, and an
 * action that the recording does not hold has no answer. It invents nothing.
 */
import { InputError } from "../errors.ts";
import type { Environment, EnvironmentAnswer, EnvironmentTurn, NoAnswer } from "../ports.ts";
import type { Episode } from "../record/schema.ts";

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
  async reset(task: string): Promise<EnvironmentTurn> {
    const { episode, decisions } = this.#episode;
    if (task !== this.#episode.task) {
      throw new InputError(`recorded episode ${episode} is of task ${this.#episode.task}, not of ${task}`);
    }
    if (decisions.length === 0) {
      throw new InputError(`recorded episode ${episode} has no decision to replay`);
    }
    this.#position = 0;
    return this.#turn(0);
  }

  async step(action: string | null): Promise<EnvironmentAnswer | NoAnswer> {
    const position = this.#position;
    const recorded = position === null ? undefined : this.#episode.decisions[position];
    if (position === null || recorded === undefined) {
      throw new Error("step after the end of a recorded episode: reset first");
    }
    if (action !== recorded.action) {
      this.#position = null;
      const what = action === null ? "a malformed response" : JSON.stringify(action);
      return {
        unanswered: `the recording of ${this.#episode.episode} holds no answer to ${what} at decision ${position}`,
      };
    }
    this.#position = position + 1;
    return { ...this.#turn(position + 1), status: recorded.status, feedback: recorded.feedback };
  }

  async close(): Promise<void> {
    this.#position = null;
  }

  #turn(position: number): EnvironmentTurn {
    const { decisions, episode, final_state, outcome } = this.#episode;
    const next = decisions[position];
    if (next === undefined) {
      const last = decisions.at(-1)!;
      return {
        observation: last.feedback,
        state: final_state,
        score: outcome.score,
        done: true,
        success: outcome.success,
        prompt: "",
      };
    }
    if (next.prompt === undefined) {
      throw new InputError("missing: a recorded episode needs prompts as text to be rolled out again", {
        key: `episode ${JSON.stringify(episode)}, decisions[${position}].prompt`,
      });
    }
    return {
      observation: next.observation,
      state: next.state,
      score: position === 0 ? null : decisions[position - 1]!.score,
      done: false,
      success: false,
      prompt: next.prompt,
    };
  }
}
