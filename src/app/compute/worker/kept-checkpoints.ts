/** Checkpoints of a run in the page that outlive the page, as far as the browser lets us; in memory where it does not. */
import { InputError } from "../../../core/errors.ts";
import type { Checkpoint, CheckpointState, CheckpointStore } from "../../../core/loop/index.ts";
import type { FolderWriter } from "../../../core/ports.ts";
import { type BlobFolder, BlobFolderWriter, blobFolder } from "../../data/files/blob-folder.ts";
import { originFiles } from "../../data/files/origin-files.ts";
import {
  keepRunCheckpoint,
  makeRoom,
  newestCheckpoint,
  WrittenDigests,
} from "../runs/internal/run-checkpoints.ts";

/** A store that gives back the folder of its newest checkpoint, of model and optimizer. */
export interface FolderStore extends CheckpointStore {
  /** Null where there is none yet. */
  readonly newest: BlobFolder | null;
}

export class KeptCheckpoints implements FolderStore {
  readonly #run: string;
  readonly #onRefused: (reason: string) => void;
  readonly #onBestLost: () => void;
  #newest: { state: CheckpointState; folder: BlobFolder } | null = null;
  #refused = false;

  /**
   * `onRefused` is told once when the browser keeps nothing: the run goes on with what is in memory. `onBestLost` is told
   * when the best evaluated one had to make room.
   */
  constructor(run: string, onRefused: (reason: string) => void, onBestLost: () => void) {
    this.#run = run;
    this.#onRefused = onRefused;
    this.#onBestLost = onBestLost;
  }

  get newest(): BlobFolder | null {
    return this.#newest?.folder ?? null;
  }

  async latest(): Promise<Checkpoint | null> {
    if (this.#newest !== null) {
      const { state, folder } = this.#newest;
      return { state, folder: blobFolder(folder) };
    }
    const kept = await newestCheckpoint(this.#run).catch((error: unknown) => {
      // A browser without an archive kept nothing.
      if (error instanceof InputError) throw error;
      return null;
    });
    if (kept === null) return null;
    const { state, folder, damaged } = kept;
    this.#newest = { state, folder };
    return { state, folder: blobFolder(folder), damaged };
  }

  /** The one before stays. */
  async save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void> {
    const { folder, digests } = await this.#written(state, write);
    const before = this.newest;
    this.#newest = { state, folder };
    if (this.#refused) return;
    try {
      if (await keepRunCheckpoint(this.#run, state, folder, digests)) this.#onBestLost();
      await originFiles.letGo(before?.files.values() ?? []);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #refuse(error: unknown): void {
    this.#refused = true;
    this.#onRefused(error instanceof Error ? error.message : String(error));
  }

  /** Written where it can be kept; where there is no room, to memory. */
  async #written(
    state: CheckpointState,
    write: (writer: FolderWriter) => Promise<void>,
  ): Promise<{ folder: BlobFolder; digests: WrittenDigests }> {
    const attempt = async (large = () => originFiles.create()) => {
      const digests = new WrittenDigests();
      const writer = new BlobFolderWriter(`step ${state.step}`, digests.add, large);
      try {
        await write(writer);
      } catch (error) {
        await writer.abort();
        throw error;
      }
      if (writer.folder === null) throw new Error("the checkpoint was not committed");
      return { folder: writer.folder, digests };
    };
    if (!this.#refused)
      try {
        return await attempt();
      } catch (error) {
        if (!isFull(error)) throw error;
        const room = await makeRoom(this.#run).catch(() => null);
        if (room?.bestLost) this.#onBestLost();
        if (room !== null) return this.#written(state, write);
        this.#refuse(error);
      }
    return attempt(async () => null);
  }
}

const isFull = (error: unknown): boolean => error instanceof Error && error.name === "QuotaExceededError";
