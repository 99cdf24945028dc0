/** A further model beside teacher and student: it scores the shown response without and with the evidence. */

import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { Latest } from "../../base/latest.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { Turns } from "../../base/turns.ts";
import type { OtherPlan } from "../../compute/clients.ts";
import { models } from "../../compute/models/models.ts";
import { onePass, scoredLengths, scoreKey } from "../../compute/scoring/score.ts";
import { type SideSpec, scoreSides } from "../../compute/scoring/sides.ts";
import { getUi } from "../../compute/store.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { tokenizerTexts } from "../../data/files/model-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";

/** `model:Qwen3-8B:graph` */
function sideKey(name: string, context: string): string {
  return `model:${name}:${context}`;
}

/** A further model that was picked, and what it will need: nothing of it is opened before the user says so. */
export interface PickedModel {
  folder: FolderFiles;
  /** The decision that it was picked for. */
  key: string;
  /** Tokens of its longer pass. */
  tokens: number;
  plan: OtherPlan;
}

interface Picking {
  picked: PickedModel | null;
  /** Its files are being read to say what it will need. */
  reading: boolean;
  /** Its folder is being chosen from those of the worker's disk. */
  choosing: boolean;
}

export const usePickedModel = create<Picking>(() => ({ picked: null, reading: false, choosing: false }));

const page = { models, library: libraryWorker, scoreSides };

/** Reads, plans and scores with a model of the user's. */
export class OtherModel {
  readonly #pickings = new Latest();
  /** One is read after the other: the library worker has one further tokenizer. */
  readonly #readings = new Turns();

  constructor(private readonly clients: typeof page) {}

  forget(): void {
    this.#pickings.end();
    usePickedModel.setState({ picked: null, reading: false });
  }

  /** The shown decision as a model of the user's reads it: with its own tokenizer. */
  async #readBy(folder: FolderFiles, decision: DecisionModel) {
    const texts = await tokenizerTexts(folder);
    if (texts === null) throw new InputError("has no tokenizer.json", { file: folder.name });
    const { episode, decision: at, selection, endOfTurn } = decision;
    const read = await this.#readings.take(async () => {
      const library = this.clients.library();
      // Null: it reads the teacher's ids.
      const hashes = await library.tasks.setOtherTokenizer(texts);
      return {
        hashes,
        pair: await library.tasks.pair(decision, episode, at, selection, { by: "other", endOfTurn }),
      };
    });
    if (read.pair.responseIds.length === 0)
      throw new InputError("the response has no tokens", { file: folder.name });
    return read;
  }

  /**
   * Says what the shown decision's two passes with a model of the user's will need; only headers of its weights are
   * read. One without a tokenizer waits until the user says whose it has. Of two that are picked the last one counts.
   */
  async pick(files: () => Promise<FolderFiles>): Promise<void> {
    const { decision } = getUi();
    if (decision === null) return;
    this.forget();
    const isLatest = this.#pickings.present();
    usePickedModel.setState({ reading: true });
    try {
      const folder = await files();
      const picked = isLatest() ? await this.#plan(folder, decision) : null;
      if (isLatest() && getUi().decision === decision) usePickedModel.setState({ picked });
    } catch (error) {
      if (isLatest()) throw error;
    } finally {
      if (isLatest()) usePickedModel.setState({ reading: false });
    }
  }

  async #plan(folder: FolderFiles, decision: DecisionModel): Promise<PickedModel | null> {
    const { models } = this.clients;
    await models.ensureTokenizers();
    if (!folder.files.has("tokenizer.json")) {
      await models.askForTokenizer("other", folder);
      return null;
    }
    const { pair } = await this.#readBy(folder, decision);
    const response = pair.responseIds.length;
    const [vanilla, graph] = [pair.vanillaIds.length, pair.graphIds.length];
    const [{ api }, job] = await Promise.all([models.worker(), models.workload("score")]);
    const lengths = onePass(Math.max(vanilla, graph), response);
    const present = decision.counts ?? { vanilla, graph, response };
    const plan = await api.planOther(job, scoredLengths(present), { folder, lengths });
    return { folder, key: scoreKey(decision), tokens: lengths.longestSequence, plan };
  }

  /** Scores the shown decision with a model of the user's, under both contexts. */
  async addSides(folder: FolderFiles): Promise<void> {
    const { decision } = getUi();
    if (decision === null) return;
    this.forget();
    const name = folder.name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(-60);
    const context = (which: "vanillaIds" | "graphIds") => async () => {
      const { pair, hashes } = await this.#readBy(folder, decision);
      const ids = { promptIds: pair[which], responseIds: pair.responseIds };
      return hashes === null ? ids : { ...ids, hashes };
    };
    const side = (end: string, words: string, which: "vanillaIds" | "graphIds"): SideSpec => ({
      key: sideKey(name, end),
      label: `${shownName(folder.name, 80)}, ${words}`,
      model: "other",
      folder,
      context: context(which),
    });
    await this.clients.scoreSides([
      side("vanilla", "without evidence", "vanillaIds"),
      side("graph", "with evidence", "graphIds"),
    ]);
  }
}

export const otherModel = new OtherModel(page);
