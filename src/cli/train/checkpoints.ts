/** Checkpoints as folders on disk: `step-00000012/` with model, optimizer and `checkpoint.json`, whole or not there. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import {
  CHECKPOINT_FORMAT,
  type Checkpoint,
  type CheckpointState,
  type CheckpointStore,
} from "../../core/loop/checkpoint.ts";
import type { FolderWriter } from "../../core/ports.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { createFolder, openFolder } from "../../engine/webgpu/node-folder.ts";
import { withFiles, writeFolder } from "../engine/save-model.ts";
import { readText } from "../io.ts";

const STATE = "checkpoint.json";
const NAME = /^step-(\d{8})$/;
const count = z.int().min(0);

const stateSchema = z.strictObject({
  format: z.literal(CHECKPOINT_FORMAT),
  step: count,
  position: z.strictObject({ stage: count, epoch: count, batch: count }),
  fingerprint: z.record(z.string(), z.string()),
});

/** Names of the whole checkpoints in a folder, oldest first; none where there is no such folder. */
async function checkpointNames(folder: string): Promise<string[]> {
  return (await entriesOf(folder)).filter((name) => NAME.test(name)).sort();
}

/** The newest whole checkpoint of a run that may still be under way; null where there is none. */
export async function newestCheckpoint(folder: string): Promise<string | null> {
  const newest = (await checkpointNames(folder)).at(-1);
  return newest === undefined ? null : join(folder, newest);
}

/** The state of one checkpoint; null for a folder that is none. `InputError` for one that cannot be read. */
export async function checkpointState(folder: string): Promise<CheckpointState | null> {
  return (await entriesOf(folder)).includes(STATE) ? readState(join(folder, STATE)) : null;
}

async function entriesOf(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
}

export class DiskCheckpoints implements CheckpointStore {
  /** @param keep how many of the newest stay on disk */
  constructor(
    private readonly folder: string,
    private readonly keep: number,
  ) {}

  async latest(): Promise<Checkpoint | null> {
    await this.#removeUnfinished();
    const path = await newestCheckpoint(this.folder);
    if (path === null) return null;
    return { state: await readState(join(path, STATE)), folder: openFolder(path) };
  }

  async save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void> {
    const name = `step-${String(state.step).padStart(8, "0")}`;
    const bytes = new TextEncoder().encode(`${JSON.stringify(state, null, 2)}\n`);
    const writer = withFiles(createFolder(join(this.folder, name), { replace: true }), async function* () {
      yield { name: STATE, bytes };
    });
    await writeFolder(writer, write);
    const names = await checkpointNames(this.folder);
    for (const old of names.slice(0, Math.max(0, names.length - this.keep))) {
      await rm(join(this.folder, old), { recursive: true });
    }
  }

  /** What a killed run left half-written. Only one run at a time works in a folder (see `lockRun`). */
  async #removeUnfinished(): Promise<void> {
    for (const name of await entriesOf(this.folder)) {
      if (name.startsWith(".step-")) await rm(join(this.folder, name), { recursive: true, force: true });
    }
  }
}

async function readState(file: string): Promise<CheckpointState> {
  const text = await readText(file);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InputError("not JSON: remove this checkpoint's folder to go on from the one before", { file });
  }
  const checked = stateSchema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(message, key === "" ? { file } : { file, key });
}
