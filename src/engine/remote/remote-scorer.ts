import { InputError } from "../../core/errors.ts";
import type { EngineInfo, ScoreOptions, ScoreRequest, ScoreResult, Scorer } from "../../core/ports.ts";
import { type Exchange, exchange } from "./exchange.ts";
import type { FoundServer } from "./find-server.ts";
import { inParallel } from "./in-parallel.ts";
import type { Server } from "./server.ts";

/** Requests that are under way at the same time. */
const AT_ONCE = 64;
/** Their tokens together: a server that reads 550 a second answers the last of them before the client's limit. */
const TOKENS_AT_ONCE = 131_072;

export interface RemoteScorerOptions {
  /** Ids from 0 up to, but not including, this one may be sent: some servers go down at others. */
  vocabulary: number;
  /** What was found out about the server before it is trusted. */
  trust: Pick<NonNullable<EngineInfo["served"]>, "sameTokenizer" | "calibration">;
  atOnce?: number;
  tokensAtOnce?: number;
}

/** Scores with a model that another program serves, many requests at the same time, bounded by their tokens. */
export class RemoteScorer implements Scorer {
  readonly info: EngineInfo;
  readonly #scoring: Exchange<ScoreRequest, ScoreResult>;

  /** @throws InputError for a server that does not tell log-probabilities of what it is given */
  constructor(
    private readonly server: Server,
    found: FoundServer,
    private readonly options: RemoteScorerOptions,
  ) {
    if (found.scoring === null)
      throw new InputError(
        `${server.base} is ${found.kind}, which does not tell log-probabilities of a given response: expected vLLM or SGLang`,
      );
    this.#scoring = found.scoring;
    this.info = {
      model: found.model,
      device: "server",
      adapter: `${found.kind} at ${server.base}`,
      dtype: "as served",
      parameters: null,
      vocabulary: options.vocabulary,
      served: { by: found.kind, ...options.trust },
    };
  }

  /** @throws InputError when a request is refused, not answered, or its answer is not to it; the others are given up */
  async score(
    requests: readonly ScoreRequest[],
    { topK, entropy, distribution, ...work }: ScoreOptions = {},
  ): Promise<ScoreResult[]> {
    if (topK !== undefined || entropy || distribution)
      throw new InputError(
        `${this.server.base} is asked for log-probabilities only: not for entropies, most probable tokens or distributions`,
      );
    const { atOnce = AT_ONCE, tokensAtOnce = TOKENS_AT_ONCE } = this.options;
    for (const request of requests) this.#check(request);
    const bounds = {
      atOnce,
      tokensAtOnce,
      tokensOf: ({ promptIds, responseIds }: ScoreRequest) => promptIds.length + responseIds.length,
      unit: "decisions",
    };
    return inParallel(
      requests,
      (request, signal) => exchange(this.server, this.#scoring, request, signal),
      bounds,
      work,
    );
  }

  dispose(): void {}

  #check({ id, promptIds, responseIds }: ScoreRequest): void {
    if (promptIds.length === 0)
      throw new InputError(`${id}: expected a prompt of at least one token: ${this.server.base} needs one`);
    const { vocabulary } = this.options;
    const foreign = [...promptIds, ...responseIds].find((each) => each >= vocabulary);
    if (foreign === undefined) return;
    throw new InputError(
      `${id}: id ${foreign} is not in the vocabulary of ${vocabulary}; it is not sent to ${this.server.base}`,
    );
  }
}
