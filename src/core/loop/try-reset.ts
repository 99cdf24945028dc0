import { EnvironmentError } from "../errors.ts";
import type { Environment, EnvironmentStart, NoAnswer } from "../ports.ts";

/** How often a reset, with the replay that may follow it, is tried before the episode is given up. */
export const RESET_TRIES = 3;

/** The first turn of an episode whose resets all failed. */
export const NOT_STARTED: EnvironmentStart = {
  ...{ observation: "", feedback: "", offered: null, state: null },
  ...{ score: null, done: false, success: false, description: "" },
};

/** The first turn, or the reason of the last of `tries` failures. */
export async function tryReset(
  environment: Environment,
  task: string,
  tries = RESET_TRIES,
): Promise<EnvironmentStart | NoAnswer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await environment.reset(task);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      if (tried >= tries) return { unanswered: error.message };
    }
  }
}
