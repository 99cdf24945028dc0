import { InputError } from "../../core/errors.ts";
import type {
  FolderWriter,
  ItemReport,
  StepReport,
  StepSettings,
  Trainer,
  TrainItem,
  WorkOptions,
} from "../../core/ports.ts";
import type { OpenTrainerOptions } from "../native/index.ts";
import type { Cards } from "./cards.ts";
import { CardsScorer, loadOnCards } from "./cards-scorer.ts";
import { FileStream } from "./file-stream.ts";
import type { CardCalls } from "./protocol.ts";
import { evenShares } from "./share.ts";

/** The student on every card: each takes a part of a step's items, and all take the same AdamW step on the sum. */
export class CardsTrainer extends CardsScorer implements Trainer {
  #steps = 0;

  /** As `CardsScorer.open`, with the optimizer state beside the weights. */
  static override async open(
    cards: Cards,
    folder: string,
    options: OpenTrainerOptions = { optimizer: "continue" },
  ): Promise<CardsTrainer> {
    const { model, info, maxPositions, steps } = await loadOnCards(cards, folder, options.optimizer, options);
    const trainer = new CardsTrainer(cards, model, info, maxPositions);
    trainer.#steps = steps;
    return trainer;
  }

  /** Optimizer steps taken, those of a continued folder included. */
  get steps(): number {
    return this.#steps;
  }

  /**
   * One step on Eq. (9). Nothing changes when it is aborted or throws before every card has the sum; after an error later
   * the cards refuse further work, since they may differ.
   */
  async step(
    items: readonly TrainItem[],
    settings: StepSettings,
    { signal, onProgress }: WorkOptions = {},
  ): Promise<StepReport> {
    const { cards, model } = this;
    const shares = evenShares(items, cards.count);
    const done = shares.map(() => 0);
    const total = items.reduce((sum, item) => sum + item.promptIds.length + item.responseIds.length, 0);
    const round = cards.newRound();
    const parts = await cards.all(
      "gradient",
      (rank) => ({ model, items: shares[rank]!.places.map((place) => items[place]!), settings, round }),
      {
        signal,
        onProgress: (rank, tokens) => {
          done[rank] = tokens;
          onProgress?.({ done: done.reduce((a, b) => a + b, 0), total, unit: "tokens" });
        },
      },
    );
    signal?.throwIfAborted();
    let updates: ReturnType<CardCalls["update"]>[];
    try {
      updates = await cards.all("update", () => ({ model, settings }));
      this.#checkSame(updates);
    } catch (error) {
      // An unusual gradient is refused by all cards alike, before any of them changes.
      if (!(error instanceof InputError))
        cards.fail(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    const reports: ItemReport[] = [];
    for (const [rank, { places }] of shares.entries())
      for (const [n, place] of places.entries()) reports[place] = parts[rank]!.items[n]!;
    const { step, gradNorm } = updates[0]!;
    this.#steps = step;
    return {
      step,
      gradNorm,
      loss: parts.reduce((sum, { loss }) => sum + loss, 0),
      tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0),
      items: reports,
    };
  }

  /** Writes the first card's weights in f32, and its optimizer state if asked; then commits. */
  async save(writer: FolderWriter, { optimizer }: { optimizer: boolean }): Promise<void> {
    const { cards, model } = this;
    const files = new FileStream(cards);
    const saving = cards.call(0, "save", { model, optimizer }, { onChunk: files.push });
    saving.then(
      () => files.end(null),
      (error: unknown) => files.end(error),
    );
    for (let name = await files.nextFile(); name !== null; name = await files.nextFile())
      await writer.write(name, files.chunks());
    await saving;
    await writer.commit();
  }

  #checkSame(updates: readonly ReturnType<CardCalls["update"]>[]): void {
    const [first] = updates;
    for (const [rank, { step, gradNorm, digest }] of updates.entries())
      if (step !== first!.step || gradNorm !== first!.gradNorm || digest !== first!.digest)
        throw new Error(
          `cards 1 and ${rank + 1} of ${updates.length} do not hold the same weights after step ${first!.step}: go on from the last checkpoint`,
        );
  }
}
