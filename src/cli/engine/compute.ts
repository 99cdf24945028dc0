/** What the commands with a model compute on: the one device of this process, or several cards with a process each. */
import type { Scorer, Trainer, WorkOptions } from "../../core/ports.ts";
import { Cards, CardsScorer, CardsTrainer, processCards } from "../../engine/cards/index.ts";
import {
  type DeviceChoice,
  ModelScorer,
  ModelTrainer,
  type OpenTrainerOptions,
  type PassOptions,
  type PlannedDevice,
} from "../../engine/native/index.ts";
import { createNodeBackend } from "../../engine/native/node.ts";
import { openFolder } from "../../engine/native/node-folder.ts";

import type { WeightChoice } from "../../tensor/index.ts";

/** How many cards, or their numbers. */
export type CardChoice = number | readonly number[];

/** The command that a card's process runs: not for people. */
export const CARD_COMMAND = "serve-card";

export interface ComputeOptions {
  device: DeviceChoice;
  /** Format of the operands of matrix products. */
  compute: "f32" | "f16";
  /** Absent: one device, in this process. */
  cards?: CardChoice;
  onNote: (note: string) => void;
}

interface Sized {
  /** Longest sequence that the model takes, prompt and response together, in tokens. */
  readonly maxPositions: number;
}

/** A device or several, open until `close`, which gives back every model too. Folders are paths. */
export interface Compute {
  readonly kind: "webgpu" | "cpu";
  /** As it names itself; null for cards, whose processes name theirs. */
  readonly adapter: string | null;
  /** Devices that work at once. */
  readonly count: number;
  /** One of them, for plans of memory. */
  readonly device: PlannedDevice;
  openScorer(
    folder: string,
    options?: WorkOptions & PassOptions & { weights?: WeightChoice },
  ): Promise<Scorer & Sized>;
  openTrainer(folder: string, options: OpenTrainerOptions): Promise<Trainer & Sized>;
  close(): void;
}

/** @throws InputError when there is no such device or card */
export async function openCompute({ device, compute, cards, onNote }: ComputeOptions): Promise<Compute> {
  if (cards !== undefined) return openCards({ device, compute, cards, onNote });
  const backend = await createNodeBackend(device, { compute, onNote });
  return {
    kind: backend.kind,
    adapter: backend.description,
    count: 1,
    device: backend,
    openScorer: (folder, options) => ModelScorer.open(backend, openFolder(folder), options),
    openTrainer: (folder, options) => ModelTrainer.open(backend, openFolder(folder), options),
    close: () => backend.dispose(),
  };
}

async function openCards(options: ComputeOptions & { cards: CardChoice }): Promise<Compute> {
  const { device, compute, onNote } = options;
  const cards = await Cards.open({
    ...processCards(options.cards, [process.argv[1]!, CARD_COMMAND]),
    device,
    compute,
    onNote,
  });
  return {
    kind: cards.kind,
    adapter: null,
    count: cards.count,
    device: cards.device,
    openScorer: (folder, work) => CardsScorer.open(cards, openFolder(folder).name, work),
    openTrainer: (folder, work) => CardsTrainer.open(cards, openFolder(folder).name, work),
    close: () => cards.dispose(),
  };
}
