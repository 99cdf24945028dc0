/** ALFWorld's first observation ends with the task. */

const SENTENCE = /(?:\r?\n)*^Your task is to: *(.*)$/m;

/** The task, as the environment states it in the first observation; undefined when it does not. */
export function statedTask(observation: string): string | undefined {
  return SENTENCE.exec(observation)?.[1]?.trim();
}

/** The first observation without the sentence that states the task. */
export function withoutTask(observation: string): string {
  return observation.replace(SENTENCE, "");
}
