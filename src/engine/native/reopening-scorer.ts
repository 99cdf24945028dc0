import { DeviceError } from "../../core/errors.ts";
import type { EngineInfo, ScoreOptions, ScoreRequest, ScoreResult, Scorer } from "../../core/ports.ts";

/** A scorer with the device under it. */
export interface OpenScorer<S extends Scorer = Scorer> {
  scorer: S;
  /** Gives the scorer and its device back. */
  close(): void;
}

export interface ReopeningOptions {
  /** Failures in a row, without a finished call between, that are got over. 3 when absent. */
  attempts?: number;
  /** Told before each attempt; it may wait. */
  onFault?: (fault: Error, attempt: number, attempts: number) => void | Promise<void>;
}

/** Scores again on a reopened device when the device fails: scoring changes nothing, so nothing is lost but time. */
export class ReopeningScorer<S extends Scorer = Scorer> implements Scorer {
  #opened: OpenScorer<S> | null;
  #info: EngineInfo;

  private constructor(
    private readonly open: () => Promise<OpenScorer<S>>,
    opened: OpenScorer<S>,
    private readonly options: ReopeningOptions,
  ) {
    this.#opened = opened;
    this.#info = opened.scorer.info;
  }

  static async open<S extends Scorer>(
    open: () => Promise<OpenScorer<S>>,
    options: ReopeningOptions = {},
  ): Promise<ReopeningScorer<S>> {
    return new ReopeningScorer(open, await open(), options);
  }

  get info(): EngineInfo {
    return this.#info;
  }

  /** The scorer as it is open now. */
  get opened(): S {
    if (this.#opened === null) throw new Error("the scorer was given back");
    return this.#opened.scorer;
  }

  /** @throws DeviceError when the device has failed too often */
  async score(requests: readonly ScoreRequest[], options: ScoreOptions = {}): Promise<ScoreResult[]> {
    const { attempts = 3, onFault } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#opened ??= await this.open();
        this.#info = this.#opened.scorer.info;
        return await this.#opened.scorer.score(requests, options);
      } catch (error) {
        // After a fault, a device that does not open is one more fault.
        const recoverable = error instanceof DeviceError || (this.#opened === null && attempt > 1);
        if (!recoverable || attempt > attempts) throw error;
        this.dispose();
        await onFault?.(error as Error, attempt, attempts);
        options.signal?.throwIfAborted();
      }
    }
  }

  dispose(): void {
    this.#opened?.close();
    this.#opened = null;
  }
}
