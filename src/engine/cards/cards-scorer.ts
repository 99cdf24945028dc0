import { checkDistributionBytes } from "../../core/distribution-bound.ts";
import type {
  EngineInfo,
  SampleRequest,
  SampleResult,
  Sampler,
  ScoreOptions,
  ScoreRequest,
  ScoreResult,
  Scorer,
  WorkOptions,
} from "../../core/ports.ts";
import type { WeightChoice } from "../../tensor/index.ts";
import type { OpenTrainerOptions, PassOptions } from "../native/index.ts";
import type { Cards } from "./cards.ts";
import { type Share, scoringUnits, steadyShares } from "./share.ts";

/** A frozen model on every card, which can also be sampled. The cards stay their opener's. */
export class CardsScorer implements Scorer, Sampler {
  /** The card that drew each response last, by its id. */
  #drew: ReadonlyMap<string, number> = new Map();

  protected constructor(
    protected readonly cards: Cards,
    protected readonly model: number,
    readonly info: EngineInfo,
    /** Longest sequence that the model takes, prompt and response together, in tokens. */
    readonly maxPositions: number,
  ) {}

  /** Loads a Hugging Face folder on disk onto every card. Every fault of it is an InputError. */
  static async open(
    cards: Cards,
    folder: string,
    options: WorkOptions & PassOptions & { weights?: WeightChoice } = {},
  ): Promise<CardsScorer> {
    const { model, info, maxPositions } = await loadOnCards(cards, folder, null, options);
    return new CardsScorer(cards, model, info, maxPositions);
  }

  /** Each card takes the next unit of neighbours when it is free; results are in the order of the requests. */
  async score(requests: readonly ScoreRequest[], options: ScoreOptions = {}): Promise<ScoreResult[]> {
    const results: ScoreResult[] = [];
    const { model } = this;
    const { topK, entropy, distribution } = options;
    if (distribution) {
      // The parts of the cards come together here.
      const tokens = requests.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
      checkDistributionBytes(this.info.model, tokens, this.info.vocabulary);
    }
    const wanted = {
      ...(topK === undefined ? {} : { topK }),
      ...(entropy === undefined ? {} : { entropy }),
      ...(distribution === undefined ? {} : { distribution }),
    };
    await this.#deal(requests, "tokens", options, async (rank, { places }, work) => {
      const part = places.map((place) => requests[place]!);
      const scores = await this.cards.call(rank, "score", { model, requests: part, wanted }, work);
      places.forEach((place, n) => {
        results[place] = scores[n]!;
      });
    });
    return results;
  }

  /** Each card draws a part of the responses, together. */
  async sample(
    requests: readonly SampleRequest[],
    { signal, onProgress }: WorkOptions = {},
  ): Promise<SampleResult[]> {
    const { cards, model } = this;
    const shares = steadyShares(
      requests.map(({ id }) => id),
      cards.count,
      this.#drew,
    );
    this.#drew = new Map(
      shares.flatMap((places, rank) => places.map((place) => [requests[place]!.id, rank])),
    );
    const done = shares.map(() => 0);
    const results: SampleResult[] = [];
    await cards.onEveryCard(async (rank, stop) => {
      const places = shares[rank]!;
      if (places.length === 0) return;
      const drawn = await cards.call(
        rank,
        "sample",
        { model, requests: places.map((place) => requests[place]!) },
        {
          signal: stop,
          onProgress: (progress) => {
            done[rank] = progress.done;
            const all = done.reduce((a, b) => a + b, 0);
            onProgress?.({ ...progress, done: all, total: requests.length });
          },
        },
      );
      for (const [n, place] of places.entries()) results[place] = drawn[n]!;
    }, signal);
    return results;
  }

  /** As `Scorer.forget`; a card forgets before it takes any later call. */
  forget(): void {
    this.#drew = new Map();
    // A card that is gone says so at the next call.
    this.cards.all("forget", () => ({ model: this.model })).catch(() => undefined);
  }

  dispose(): void {
    for (let rank = 0; rank < this.cards.count; rank++)
      this.cards.call(rank, "dispose", { model: this.model }).catch(() => {});
  }

  /** Deals units out as cards become free. */
  async #deal<R extends { promptIds: readonly number[]; responseIds: readonly number[] }>(
    requests: readonly R[],
    unit: string,
    { signal, onProgress }: WorkOptions,
    work: (rank: number, share: Share, options: WorkOptions) => Promise<void>,
  ): Promise<void> {
    const units = scoringUnits(requests, this.cards.count);
    const total = requests.reduce(
      (sum, { promptIds, responseIds }) => sum + promptIds.length + responseIds.length,
      0,
    );
    let next = 0;
    let finished = 0;
    const under = new Map<number, number>();
    const report = () =>
      onProgress?.({ done: finished + [...under.values()].reduce((a, b) => a + b, 0), total, unit });
    await this.cards.onEveryCard(async (rank, stop) => {
      while (next < units.length) {
        const share = units[next++]!;
        await work(rank, share, {
          signal: stop,
          onProgress: ({ done }) => {
            under.set(rank, done);
            report();
          },
        });
        under.delete(rank);
        for (const place of share.places) {
          const { promptIds, responseIds } = requests[place]!;
          finished += promptIds.length + responseIds.length;
        }
        report();
      }
    }, signal);
  }
}

/** Loads one model folder onto every card. */
export async function loadOnCards(
  cards: Cards,
  folder: string,
  optimizer: OpenTrainerOptions["optimizer"] | null,
  { signal, onProgress, weights, ...rest }: WorkOptions & PassOptions & { weights?: WeightChoice },
) {
  const model = cards.newModel();
  const { plan, packTokens, recompute, prefixBytes } = rest;
  const passes = { plan, packTokens, recompute, prefixBytes };
  const done = Array<number>(cards.count).fill(0);
  const opened = await cards.all("load", () => ({ model, folder, optimizer, weights, passes }), {
    signal,
    onProgress: (rank, bytes, total) => {
      done[rank] = bytes;
      onProgress?.({ done: Math.min(...done), total, unit: "bytes" });
    },
  });
  const { info, steps, maxPositions } = opened[0]!;
  return { model, info: { ...info, adapter: cards.description }, steps, maxPositions };
}
