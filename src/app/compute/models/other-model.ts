/** A further model beside teacher and student: it scores the shown response without and with the evidence. */

import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { Latest } from "../../base/latest.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { tokenizerTexts } from "../../data/files/model-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";
import { onePass, scoredLengths, scoreKey } from "../scoring/score.ts";
import { type SideSpec, scoreSides } from "../scoring/sides.ts";
import { getUi } from "../store.ts";
import type { OtherPlan } from "../worker/compute-service.ts";
import { models } from "./models.ts";

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

const pickings = new Latest();
/** One is read after the other: the library worker has one further tokenizer. */
let readings: Promise<unknown> = Promise.resolve();

export function forgetPickedModel(): void {
  pickings.end();
  usePickedModel.setState({ picked: null, reading: false });
}

/** Opens or closes the dialog that chooses a folder of the worker's disk. */
export function chooseSharedModel(choosing: boolean): void {
  usePickedModel.setState({ choosing });
}

/** The shown decision as a model of the user's reads it: with its own tokenizer. */
async function readBy(folder: FolderFiles, decision: DecisionModel) {
  const texts = await tokenizerTexts(folder);
  if (texts === null) throw new InputError("has no tokenizer.json", { file: folder.name });
  const library = libraryWorker();
  // Null: it reads the teacher's ids.
  const hashes = await library.setOtherTokenizer(texts);
  const { episode, decision: at, selection, endOfTurn } = decision;
  const pair = await library.pair(decision, episode, at, selection, { by: "other", endOfTurn });
  if (pair.responseIds.length === 0)
    throw new InputError("the response has no tokens", { file: folder.name });
  return { pair, hashes };
}

/**
 * Says what the shown decision's two passes with a model of the user's will need; only headers of its weights
 * are read. One without a tokenizer waits until the user says whose it has.
 */
export async function pickModel(files: () => Promise<FolderFiles>): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  forgetPickedModel();
  const isLatest = pickings.present();
  usePickedModel.setState({ reading: true });
  try {
    const turn = readings.then(async () => (isLatest() ? planPicked(await files(), decision) : null));
    readings = turn.catch(() => undefined);
    const picked = await turn;
    if (isLatest() && getUi().decision === decision) usePickedModel.setState({ picked });
  } finally {
    if (isLatest()) usePickedModel.setState({ reading: false });
  }
}

async function planPicked(folder: FolderFiles, decision: DecisionModel): Promise<PickedModel | null> {
  await models.ensureTokenizers();
  if (!folder.files.has("tokenizer.json")) {
    await models.askForTokenizer("other", folder);
    return null;
  }
  const { pair } = await readBy(folder, decision);
  const response = pair.responseIds.length;
  const [vanilla, graph] = [pair.vanillaIds.length, pair.graphIds.length];
  const [{ api }, job] = await Promise.all([models.worker(), models.job("score")]);
  const lengths = onePass(Math.max(vanilla, graph), response);
  const present = decision.counts ?? { vanilla, graph, response };
  const plan = await api.planOther(job, scoredLengths(present), { folder, lengths });
  return { folder, key: scoreKey(decision), tokens: lengths.longestSequence, plan };
}

/** Scores the shown decision with a model of the user's, under both contexts. */
export async function addModelSides(folder: FolderFiles): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  forgetPickedModel();
  const name = folder.name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(-60);
  const context = (which: "vanillaIds" | "graphIds") => async () => {
    const { pair, hashes } = await readBy(folder, decision);
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
  await scoreSides([
    side("vanilla", "without evidence", "vanillaIds"),
    side("graph", "with evidence", "graphIds"),
  ]);
}
