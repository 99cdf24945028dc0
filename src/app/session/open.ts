/** Opening a library: the sample, picked or dropped files. What was open before stays until the new one is read. */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import { modelFolders } from "../library/model-folder.ts";
import { isForeign } from "../library/path-files.ts";
import type { LibrarySummary } from "../model.ts";
import { navigate } from "../place/navigate.ts";
import { HOME, type Place } from "../place/place.ts";
import type { PathFile } from "../shell/dropped-files.ts";
import { getUi, ROLES, setUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import { describeFault, faultNotice } from "./faults.ts";
import { ensureTokenizer, openModel } from "./models.ts";
import { sampleBase } from "./sample-base.ts";

async function open(
  label: string,
  read: (onProgress: (progress: { file: string; records: number }) => void) => Promise<LibrarySummary>,
  place: Partial<Place>,
): Promise<void> {
  if (getUi().opening !== null) return;
  let underWay = true;
  const show = (text: string, done: number): void => {
    // The last words of a worker may arrive after its answer.
    if (underWay) setUi({ opening: { label: text, done, total: 0, unit: "records" } });
  };
  show(label, 0);
  try {
    const library = await read(
      Comlink.proxy(({ file, records }) => show(`Reading ${file}: ${records} records`, records)),
    );
    // Without a tokenizer there are no token counts; the decision says so.
    await ensureTokenizer().catch(describeFault);
    setUi({ library, notice: null, task: null, decision: null, scores: {}, viewProblem: null });
    navigate({ ...place, library: library.origin });
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  } finally {
    underWay = false;
    setUi({ opening: null });
  }
}

/** `keepPlace`: the link led here and names what to show. */
export function openSample(keepPlace = false): Promise<void> {
  return open(
    "Opening the sample…",
    (onProgress) => libraryWorker().openSample(sampleBase(), onProgress),
    keepPlace ? {} : { ...HOME },
  );
}

/** True for what looks like records and not like a part of a model. */
function isRecordFile({ path }: PathFile): boolean {
  return /\.(jsonl|ndjson)(\.gz)?$/i.test(path);
}

/** Whether a folder is a model: it has weights, or a config.json that speaks of one (others may be anybody's). */
async function isModel({ files }: FolderFiles): Promise<boolean> {
  if ([...files.keys()].some((name) => name.endsWith(".safetensors"))) return true;
  const config = await files.get("config.json")?.text();
  return /"(model_type|architectures)"\s*:/.test(config ?? "");
}

const names = (files: readonly PathFile[]): string => {
  const shown = files.slice(0, 3).map(({ path }) => path);
  return files.length > 3 ? `${shown.join(", ")} and ${files.length - 3} more` : shown.join(", ");
};

/**
 * Records make a library; folders with a config.json and weights (or a .zip of one) make models; both may come at once.
 * All that is neither is imported, as `gcopd import` does, when no records came with it.
 */
export async function openDropped(files: PathFile[]): Promise<void> {
  try {
    const records: PathFile[] = [];
    const others: PathFile[] = [];
    for (const file of files) {
      (isRecordFile(file) && !(await isForeign(file)) ? records : others).push(file);
    }
    const models: FolderFiles[] = [];
    for (const folder of await modelFolders(others)) if (await isModel(folder)) models.push(folder);
    const ofModels = new Set<Blob>(models.flatMap((folder) => [...folder.files.values()]));
    const rest = others.filter(({ path, file }) => !ofModels.has(file) && !/\.zip$/i.test(path));
    if (records.length > 0) {
      const own = records.map(({ file }) => file);
      await open("Opening your files…", (onProgress) => libraryWorker().openFiles(own, onProgress), {
        ...HOME,
      });
      if (rest.length > 0 && getUi().notice === null) {
        setUi({ notice: { kind: "info", text: `Not used beside the records: ${names(rest)}.` } });
      }
    } else if (rest.length > 0 && models.length === 0) {
      await open("Looking at your files…", (onProgress) => libraryWorker().import(rest, onProgress), {
        ...HOME,
      });
    } else if (models.length === 0 && files.length > 0) {
      throw new InputError("expected a model folder with config.json and weights in it", {
        file: names(files),
      });
    }
    for (const folder of models) {
      const role = ROLES.find((name) => folder.name.toLowerCase().includes(name));
      if (role === undefined) setUi({ pendingFolder: folder });
      else await openModel(role, folder);
    }
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}
