/** The run that a config continues: where its student lies, and what tells it from another. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { isFreshRun, type ParentRun, type Position, type TrainConfig } from "../../core/loop/index.ts";
import type { Method } from "../../core/method/method.ts";
import { countOf } from "../../core/plural.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { openFolder } from "../../engine/native/node-folder.ts";
import { servedCheckpoint } from "../../engine/tinker/index.ts";
import { onFile, unlessPassing } from "../../node/file-error.ts";
import { optimizerSteps } from "../../tensor/index.ts";
import { checkpointState, newestCheckpoint } from "./checkpoints.ts";
import { modelDigest, tinkerDigest } from "./fingerprint.ts";

export interface Parent extends ParentRun {
  /** Of its weights and optimizer state. */
  digest: string;
  /**
   * Whether its run knew the end-of-turn token: it read responses recorded as text with it, or sampled its own. Null where
   * the parent is not a checkpoint.
   */
  endOfTurn: boolean | null;
}

/**
 * Finds the checkpoint that `parent` names: the folder itself, or the newest checkpoint of the run that it is.
 *
 * @param config of the child: its `student` is the model that the parent's run must have begun from, where its checkpoint says so, and trained where the parent's was
 * @param method of the child: where its first stage goes on with the parent's, the parent ends at that epoch
 * @throws InputError when there is none with an optimizer state, it began from another student, or ends elsewhere
 */
export async function openParent(
  path: string,
  { student, tinker }: Pick<TrainConfig, "student" | "tinker">,
  method: Method,
): Promise<Parent> {
  const name = (await newestCheckpoint(join(path, "checkpoints"))) ?? path;
  const folder = openFolder(name);
  const served = await servedCheckpoint(folder);
  if (served === null && !(await folder.list()).includes("optimizer.safetensors")) {
    throw new InputError(
      "expected a run's folder, one of its checkpoints, or a model with optimizer.safetensors beside it",
      { file: path, key: "parent" },
    );
  }
  const state = await checkpointState(name);
  const fingerprint = state?.fingerprint;
  const began = fingerprint?.student;
  if (began !== undefined && began !== (await modelDigest(openFolder(student)))) {
    throw new InputError(`its run began from another student than ${student}`, { file: name, key: "parent" });
  }
  const refused = (why: string) => new InputError(why, { file: name, key: "parent" });
  if (served === null && tinker !== undefined)
    throw refused("its student was trained here: a server cannot take over its optimizer");
  if (served !== null && tinker === undefined)
    throw refused(`its student is on ${served.server}: it goes on with \`tinker\` alone`);
  if (
    tinker !== undefined &&
    fingerprint?.tinker !== undefined &&
    fingerprint.tinker !== tinkerDigest(tinker)
  )
    throw refused("its run had another lora_rank or optimizer");
  const continued = continuedStage(method);
  checkEnd(state?.position, continued, name);
  const step = served === null ? await optimizerSteps(folder) : served.steps;
  const weights = served === null ? await modelDigest(folder, { optimizer: true }) : sha256Hex(served.path);
  return {
    name,
    step,
    ...(state?.depth === undefined || state.depth.stage !== continued?.stage ? {} : { depth: state.depth }),
    digest: sha256Hex(`${step} ${weights}`),
    endOfTurn: fingerprint === undefined ? null : "end_of_turn" in fingerprint || (await sampled(name)),
  };
}

/** The stage in whose middle a child begins, and the epoch; null where it begins with a whole stage. */
function continuedStage({ stages }: Method): { stage: number; firstEpoch: number } | null {
  const stage = stages.findIndex(({ epochs }) => epochs > 0);
  const firstEpoch = stages[stage]?.firstEpoch;
  return firstEpoch === undefined ? null : { stage, firstEpoch };
}

/** Refuses a parent that does not end where the child's `first_epochs` say that it goes on. */
function checkEnd(
  end: Position | undefined,
  continued: ReturnType<typeof continuedStage>,
  file: string,
): void {
  if (end === undefined || continued === null) return;
  const { stage, firstEpoch } = continued;
  if (end.stage === stage && end.epoch === firstEpoch && end.batch === 0) return;
  const inside = end.batch === 0 ? "" : ` and ${countOf(end.batch, "batch")}`;
  throw new InputError(
    `expected a parent that ends after ${countOf(firstEpoch, "epoch")} of stage ${stage + 1}; ${file} ends after ${countOf(end.epoch, "epoch")}${inside} of stage ${end.stage + 1}`,
    { key: "first_epochs" },
  );
}

const playedSchema = z.looseObject({ sample: z.unknown().optional(), environment: z.unknown().optional() });

/** Whether the run that a checkpoint lies in sampled its responses, as the config beside its checkpoints says. */
async function sampled(checkpoint: string): Promise<boolean> {
  const file = join(checkpoint, "..", "..", "config.json");
  const text = await onFile(file, "read", readFile(file, "utf8").catch(unlessPassing));
  const config = playedSchema.safeParse(parsed(text ?? "null"));
  return config.success && isFreshRun(config.data);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
