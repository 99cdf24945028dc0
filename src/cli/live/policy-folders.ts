/** Where the policy of a config lies: a model folder, one of the hub, a run of `gcopd train` or one of its checkpoints. */
import { dirname, join } from "node:path";
import { openModelFolder, parseHubName } from "../../engine/hub/node.ts";
import { isThere } from "../../node/file-error.ts";
import { newestCheckpoint } from "../train/checkpoints.ts";

/** Folders of a model's weights and of its tokenizer. */
export interface PolicyFolders {
  model: string;
  tokenizer: string;
}

/**
 * Of a run, its finished student or, until there is one, its newest checkpoint. Checkpoints have no tokenizer; their run
 * keeps it beside them.
 */
export async function policyFolders(
  { model: named, tokenizer }: { model: string; tokenizer?: string | undefined },
  { signal, onNote }: { signal: AbortSignal; onNote: (note: string) => void },
): Promise<PolicyFolders> {
  const model =
    parseHubName(named) === null
      ? await modelOfRun(named)
      : (await openModelFolder(named, { signal, onNote, onProgress: () => undefined })).name;
  return { model, tokenizer: tokenizer ?? besideCheckpoints(model) ?? model };
}

/** The tokenizer of a model folder, a run or a checkpoint; null where there is none. */
export async function tokenizerFolder(named: string): Promise<string | null> {
  const model = await modelOfRun(named);
  return [besideCheckpoints(model), model].find((folder) => hasTokenizer(folder)) ?? null;
}

/** The folder with the weights of a model folder, a run or a checkpoint. */
export async function modelOfRun(folder: string): Promise<string> {
  const checkpoint = await newestCheckpoint(join(folder, "checkpoints"));
  if (checkpoint === null) return folder;
  const student = join(folder, "student");
  return isThere(join(student, "config.json")) ? student : checkpoint;
}

function besideCheckpoints(model: string): string | null {
  if (hasTokenizer(model)) return null;
  const kept = join(dirname(dirname(model)), "tokenizer");
  return hasTokenizer(kept) ? kept : null;
}

const hasTokenizer = (folder: string | null): boolean =>
  folder !== null && isThere(join(folder, "tokenizer.json"));
