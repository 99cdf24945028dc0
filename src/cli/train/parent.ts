/** The run that a config continues: where its student lies, and what tells it from another. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { isFreshRun, type ParentRun } from "../../core/loop/index.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { optimizerSteps } from "../../tensor/index.ts";
import { checkpointState, newestCheckpoint } from "./checkpoints.ts";
import { modelDigest } from "./fingerprint.ts";

export interface Parent extends ParentRun {
  /** Of its weights and optimizer state. */
  digest: string;
  /**
   * Whether its run knew the end-of-turn token: it read responses recorded as text with it, or sampled its own. Null where
   * the parent is no checkpoint.
   */
  endOfTurn: boolean | null;
}

/**
 * Finds the checkpoint that `parent` names: the folder itself, or the newest checkpoint of the run that it is.
 *
 * @param student the model that the parent's run must have begun from, where its checkpoint says so
 * @throws InputError when there is none with an optimizer state, or it began from another student
 */
export async function openParent(path: string, student: string): Promise<Parent> {
  const name = (await newestCheckpoint(join(path, "checkpoints"))) ?? path;
  const folder = openFolder(name);
  if (!(await folder.list()).includes("optimizer.safetensors")) {
    throw new InputError(
      "expected a run's folder, one of its checkpoints, or a model with optimizer.safetensors beside it",
      { file: path, key: "parent" },
    );
  }
  const fingerprint = (await checkpointState(name))?.fingerprint;
  const began = fingerprint?.student;
  if (began !== undefined && began !== (await modelDigest(openFolder(student)))) {
    throw new InputError(`its run began from another student than ${student}`, { file: name, key: "parent" });
  }
  const step = await optimizerSteps(folder);
  return {
    name,
    step,
    digest: sha256Hex(`${step} ${await modelDigest(folder, { optimizer: true })}`),
    endOfTurn: fingerprint === undefined ? null : "end_of_turn" in fingerprint || (await sampled(name)),
  };
}

const playedSchema = z.looseObject({ sample: z.unknown().optional(), environment: z.unknown().optional() });

/** Whether the run that a checkpoint lies in sampled its responses, as the config beside its checkpoints says. */
async function sampled(checkpoint: string): Promise<boolean> {
  const text = await readFile(join(checkpoint, "..", "..", "config.json"), "utf8").catch(() => "null");
  const config = playedSchema.safeParse(parsed(text));
  return config.success && isFreshRun(config.data);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
