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

export class DiskCheckpoints implements CheckpointStore {
  /** @param keep how many of the newest stay on disk */
  constructor(
    private readonly folder: string,
    private readonly keep: number,
  ) {}

  async latest(): Promise<Checkpoint | null> {
    await this.#removeUnfinished();
    const newest = (await this.#names()).at(-1);
    if (newest === undefined) return null;
    const path = join(this.folder, newest);
    return { state: await readState(join(path, STATE)), folder: openFolder(path) };
  }

  async save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void> {
    const name = `step-${String(state.step).padStart(8, "0")}`;
    const bytes = new TextEncoder().encode(`${JSON.stringify(state, null, 2)}\n`);
    const writer = withFiles(createFolder(join(this.folder, name), { replace: true }), async function* () {
      yield { name: STATE, bytes };
    });
    await writeFolder(writer, write);
    const names = await this.#names();
    for (const old of names.slice(0, Math.max(0, names.length - this.keep))) {
      await rm(join(this.folder, old), { recursive: true });
    }
  }

  /** Whole checkpoints, oldest first. */
  async #names(): Promise<string[]> {
    return (await this.#entries()).filter((name) => NAME.test(name)).sort();
  }

  /** What a killed run left half-written. Only one run at a time works in a folder (see `lockRun`). */
  async #removeUnfinished(): Promise<void> {
    for (const name of await this.#entries()) {
      if (name.startsWith(".step-")) await rm(join(this.folder, name), { recursive: true, force: true });
    }
  }

  async #entries(): Promise<string[]> {
    return readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
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
