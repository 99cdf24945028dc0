/** Model folders of the user's that the browser keeps a copy of, so that the next visit does not ask for them. */
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { faultNotice } from "../../base/faults.ts";
import { type FolderFiles, wholeFile } from "../../data/files/blob-folder.ts";
import { withTokenizer } from "../../data/files/model-folder.ts";
import { undoList } from "../../data/undo.ts";
import { database } from "../runs/internal/database.ts";
import { type Role, setUi } from "../store.ts";
import { modelDigest } from "./model-digest.ts";
import { type Models, models } from "./models.ts";

/** A folder with its tokenizer. */
export interface KeptModel {
  /** The digest of what decides what it answers. */
  id: string;
  name: string;
  bytes: number;
  files: ReadonlyMap<string, Blob>;
}

interface Archive {
  put(model: KeptModel): Promise<unknown>;
  all(): Promise<KeptModel[]>;
  remove(id: string): Promise<unknown>;
}

/** Those that are kept, by name, and the role whose model is being copied. */
export const useKeptModels = create<{ kept: readonly KeptModel[]; keeping: Role | null }>(() => ({
  kept: [],
  keeping: null,
}));

const byName = (a: KeptModel, b: KeptModel): number => a.name.localeCompare(b.name, "en");

export class KeptModels {
  constructor(
    private readonly archive: Archive,
    private readonly models: Pick<Models, "opened" | "open">,
  ) {}

  /** Looks up what is kept. A browser that keeps nothing has none. */
  async look(): Promise<void> {
    const kept = await this.archive.all().catch(() => []);
    useKeptModels.setState({ kept: kept.sort(byName) });
  }

  /** Copies the folder of a role's model. The fault is shown: mostly, that there is no room. */
  async keep(role: Role): Promise<void> {
    const opened = this.models.opened(role);
    if (opened === null || useKeptModels.getState().keeping !== null) return;
    useKeptModels.setState({ keeping: role });
    try {
      const { name, files } = withTokenizer(opened.folder, opened.tokenizer);
      const whole = new Map<string, Blob>();
      for (const [path, file] of files) whole.set(path, await wholeFile(file));
      const id = await modelDigest({ name, files: whole });
      const bytes = [...whole.values()].reduce((sum, { size }) => sum + size, 0);
      // Asked only once there is something to keep; a browser that refuses may drop it when the disk is full.
      await globalThis.navigator?.storage?.persist?.();
      await this.archive.put({ id, name, bytes, files: whole });
      await this.look();
      setUi({ notice: { kind: "info", text: `${name} is kept in this browser.` } });
    } catch (error) {
      const full = error instanceof Error && error.name === "QuotaExceededError";
      setUi({
        notice: faultNotice(
          full
            ? new InputError(
                "this browser has no room for a copy: remove kept models or runs that are not needed",
              )
            : error,
        ),
      });
    } finally {
      useKeptModels.setState({ keeping: null });
    }
  }

  /** Makes a kept folder the model of a role. */
  open(role: Role, { name, files }: KeptModel): Promise<void> {
    return this.models.open(role, { name, files });
  }

  async remove(model: KeptModel): Promise<void> {
    await this.archive.remove(model.id);
    await this.look();
    undoList.offer(`${model.name} is not kept in this browser any more`, async () => {
      await this.archive.put(model);
      await this.look();
    });
  }

  /** Whether a role's model is one of those that are kept, judging by its files' names and sizes. */
  has(folder: FolderFiles): boolean {
    return useKeptModels
      .getState()
      .kept.some(({ files }) =>
        [...folder.files].every(([path, { size }]) => files.get(path)?.size === size),
      );
  }
}

const { within } = database("gcopd-models", 1, { models: "id" });

export const keptModels = new KeptModels(
  {
    put: (model) => within("models", "readwrite", (store) => store.put(model)),
    all: () => within<KeptModel[]>("models", "readonly", (store) => store.getAll()),
    remove: (id) => within("models", "readwrite", (store) => store.delete(id)),
  },
  models,
);
