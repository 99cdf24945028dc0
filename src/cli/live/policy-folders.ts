/** Where the policy of a config lies: a model folder, one of the hub, a run of `gcopd train` or one of its checkpoints. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PlayConfig } from "../../core/loop/index.ts";
import { openModelFolder, parseHubName } from "../../engine/hub/node.ts";
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
  { model: named, tokenizer }: Pick<PlayConfig, "model" | "tokenizer">,
  { signal, onNote }: { signal: AbortSignal; onNote: (note: string) => void },
): Promise<PolicyFolders> {
  const model =
    parseHubName(named) === null
      ? await ofRun(named)
      : (await openModelFolder(named, { signal, onNote, onProgress: () => undefined })).name;
  return { model, tokenizer: tokenizer ?? besideCheckpoints(model) ?? model };
}

async function ofRun(folder: string): Promise<string> {
  const checkpoint = await newestCheckpoint(join(folder, "checkpoints"));
  if (checkpoint === null) return folder;
  const student = join(folder, "student");
  return existsSync(join(student, "config.json")) ? student : checkpoint;
}

function besideCheckpoints(model: string): string | null {
  if (existsSync(join(model, "tokenizer.json"))) return null;
  const kept = join(dirname(dirname(model)), "tokenizer");
  return existsSync(join(kept, "tokenizer.json")) ? kept : null;
}
