import type { PlayConfig, PlayTask } from "../../core/loop/index.ts";

/** A task with the draws that a config asks for in place of the protocol's. */
export function withSampling(
  task: PlayTask,
  { temperature, top_p: topP, top_k: topK }: Pick<PlayConfig, "temperature" | "top_p" | "top_k">,
): PlayTask {
  const { sampling } = task;
  return {
    ...task,
    sampling: {
      temperature: temperature ?? sampling.temperature,
      topP: topP ?? sampling.topP,
      topK: topK ?? sampling.topK,
    },
  };
}
