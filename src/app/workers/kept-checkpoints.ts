/** Checkpoints of a run in the page that outlive the page: in memory, and as far as the browser lets us in IndexedDB. */
import type { Checkpoint, CheckpointState, CheckpointStore } from "../../core/loop/index.ts";
import type { FolderWriter } from "../../core/ports.ts";
import { BlobFolderWriter, blobFolder, type FolderFiles } from "../library/blob-folder.ts";
import { keepCheckpoint, keptCheckpoint } from "../runs/page-archive.ts";

export class KeptCheckpoints implements CheckpointStore {
  readonly #run: string;
  readonly #onRefused: (reason: string) => void;
  #newest: { state: CheckpointState; folder: FolderFiles } | null = null;
  #refused = false;

  /** `onRefused` is told once when the browser keeps nothing: the run goes on with what is in memory. */
  constructor(run: string, onRefused: (reason: string) => void) {
    this.#run = run;
    this.#onRefused = onRefused;
  }

  async latest(): Promise<Checkpoint | null> {
    if (this.#newest === null) {
      const kept = await keptCheckpoint(this.#run).catch(() => undefined);
      if (kept !== undefined) {
        const state = kept.state as CheckpointState;
        this.#newest = { state, folder: { name: `step ${state.step}`, files: kept.files } };
      }
    }
    return this.#newest && { state: this.#newest.state, folder: blobFolder(this.#newest.folder) };
  }

  /** The one before stays until the new one is whole. */
  async save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void> {
    const writer = new BlobFolderWriter(`step ${state.step}`);
    await write(writer);
    if (writer.folder === null) throw new Error("the checkpoint was not committed");
    this.#newest = { state, folder: writer.folder };
    if (this.#refused) return;
    try {
      await keepCheckpoint({ id: this.#run, state, files: new Map(writer.folder.files) });
    } catch (error) {
      this.#refused = true;
      this.#onRefused(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Steps between two checkpoints: every one of a small model, fewer where a copy takes long (12 bytes a parameter). */
export function checkpointEvery(parameters: number | null): number {
  return parameters !== null && parameters <= 64e6 ? 1 : 10;
}
