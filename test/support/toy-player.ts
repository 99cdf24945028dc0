/** A toy student that plays the corridor: what it draws depends on its weights and, as on a device, on what it drew before. */
import type {
  FolderReader,
  SampleRequest,
  SampleResult,
  StepSettings,
  TrainItem,
} from "../../src/core/ports.ts";
import { seedOf } from "../../src/core/seeded.ts";
import { ToyModel, toyCodec } from "./toy-model.ts";

export class ToyPlayer extends ToyModel {
  /** Responses since it last forgot. */
  #kept = 0;

  static async openPlayer(folder: FolderReader | null): Promise<ToyPlayer> {
    const player = new ToyPlayer(2);
    if (folder === null) return player;
    const { steps, logits, momentum } = await ToyModel.open(folder);
    player.steps = steps;
    player.logits.set(logits);
    player.momentum.set(momentum);
    return player;
  }

  override async sample(requests: readonly SampleRequest[]): Promise<SampleResult[]> {
    const weights = this.logits.reduce((sum, each) => sum + each, 0);
    return requests.map(({ id, promptIds, seed }) => {
      const draw = seedOf(`${seed}|${weights}|${this.#kept}`);
      this.#kept += 1;
      const responseIds = [...toyCodec.encode(`<action>${draw % 3 === 0 ? "back" : "forward"}</action>`), 0];
      return { id, responseIds, logprobs: this.logprobs(promptIds, responseIds), stop: "stop" };
    });
  }

  forget(): void {
    this.#kept = 0;
  }

  override step(items: readonly TrainItem[], settings: StepSettings) {
    this.#kept = 0;
    return super.step(items, settings);
  }
}
