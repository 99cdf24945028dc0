/**
 * A small engine that scores: every token of the vocabulary is equally probable. To start one of your own, copy this file
 * to `src/engine/<name>/scorer.ts` and enter it where its kind is opened (docs/adding.md).
 */
import { InputError } from "../../src/core/errors.ts";
import type { EngineInfo, ScoreOptions, ScoreRequest, ScoreResult, Scorer } from "../../src/core/ports.ts";

export class UniformScorer implements Scorer {
  readonly info: EngineInfo;

  constructor(vocabulary: number) {
    this.info = {
      model: "uniform",
      device: "cpu",
      adapter: "plain TypeScript",
      dtype: "f32",
      parameters: 0,
      vocabulary,
    };
  }

  async score(
    requests: readonly ScoreRequest[],
    { signal, onProgress, ...tell }: ScoreOptions = {},
  ): Promise<ScoreResult[]> {
    if (tell.topK !== undefined || tell.entropy || tell.distribution)
      throw new InputError("this engine tells log-probabilities of response tokens alone");
    const { vocabulary } = this.info;
    return requests.map(({ id, promptIds, responseIds }, n) => {
      signal?.throwIfAborted();
      const foreign = [...promptIds, ...responseIds].find((token) => token < 0 || token >= vocabulary);
      if (foreign !== undefined)
        throw new InputError(`${id}: token ${foreign} is not one of the model's ${vocabulary}`);
      // One log-probability per response token, natural log, at temperature 1.
      const logprobs = new Float32Array(responseIds.length).fill(-Math.log(vocabulary));
      onProgress?.({ done: n + 1, total: requests.length, unit: "sequences" });
      return { id, logprobs };
    });
  }

  dispose(): void {}
}
