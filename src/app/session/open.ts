/** Opening a library: the sample, picked or dropped files. What was open before stays until the new one is read. */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";
import { modelFolders } from "../library/model-folder.ts";
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

/** Records make a library; folders with a config.json (or a .zip of one) make models. Both may come at once. */
export async function openDropped(files: PathFile[]): Promise<void> {
  const records = files.filter(isRecordFile).map(({ file }) => file);
  const others = files.filter((file) => !isRecordFile(file));
  try {
    const models = await modelFolders(others);
    if (records.length === 0 && models.length === 0 && files.length > 0) {
      const names = files
        .map(({ path }) => path)
        .slice(0, 3)
        .join(", ");
      throw new InputError(
        "expected sources and episodes (.jsonl or .jsonl.gz), or a model folder with config.json",
        { file: files.length > 3 ? `${names} and ${files.length - 3} more` : names },
      );
    }
    if (records.length > 0) {
      await open("Opening your files…", (onProgress) => libraryWorker().openFiles(records, onProgress), {
        ...HOME,
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
