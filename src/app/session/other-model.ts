/** A further model beside teacher and student: it scores the shown response without and with the evidence. */
import { InputError } from "../../core/errors.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import { tokenizerTexts } from "../library/model-folder.ts";
import { getUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import { type SideSpec, scoreSides } from "./sides.ts";

/** The folders of this page's further models, by the name in their sides' keys: to compute with them again. */
const folders = new Map<string, FolderFiles>();

/** `model:Qwen3-8B:graph` */
function sideKey(name: string, context: string): string {
  return `model:${name}:${context}`;
}

/** The folder of a further model's side; null for other sides. */
export function otherFolder(key: string): FolderFiles | null {
  return folders.get(/^model:(.*):[a-z]+$/u.exec(key)?.[1] ?? "") ?? null;
}

/** Scores the shown decision with a model of the user's, under both contexts. */
export async function addModelSides(folder: FolderFiles): Promise<void> {
  const { decision } = getUi();
  if (decision === null) return;
  const name = folder.name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 60);
  folders.set(name, folder);
  const { episode, decision: at, selection } = decision;
  const context = (which: "vanillaIds" | "graphIds") => async () => {
    const texts = await tokenizerTexts(folder);
    const library = libraryWorker();
    // Null: it reads the ids of the open tokenizer.
    const hashes = texts === null ? null : await library.setOtherTokenizer(texts);
    const pair = await library.pair(decision, episode, at, selection, { other: hashes !== null });
    const ids = { promptIds: pair[which], responseIds: pair.responseIds };
    if (ids.responseIds.length === 0)
      throw new InputError("the response has no tokens", { file: folder.name });
    return hashes === null ? ids : { ...ids, hashes };
  };
  const side = (end: string, words: string, which: "vanillaIds" | "graphIds"): SideSpec => ({
    key: sideKey(name, end),
    label: `${folder.name}, ${words}`,
    model: "other",
    folder,
    context: context(which),
  });
  await scoreSides([
    side("vanilla", "without evidence", "vanillaIds"),
    side("graph", "with evidence", "graphIds"),
  ]);
}
