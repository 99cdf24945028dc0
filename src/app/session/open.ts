/** Opening a library: the sample, picked or dropped files. What was open before stays until the new one is read. */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";
import { indexFileName } from "../../core/record/indexed/index.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import { checkAddress } from "../library/http-reader.ts";
import { modelFolders } from "../library/model-folder.ts";
import type { OpenProgress } from "../library/opening.ts";
import { firstLine, isForeign } from "../library/path-files.ts";
import { withBatch } from "../library/task-columns.ts";
import type { LibrarySummary } from "../model.ts";
import { navigate } from "../place/navigate.ts";
import { HOME, type Place } from "../place/place.ts";
import type { PathFile } from "../shell/dropped-files.ts";
import { getUi, type Progress, ROLES, setUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import type { OwnFiles } from "../workers/library.worker.ts";
import { describeFault, faultNotice, isAbort } from "./faults.ts";
import { ensureTokenizer, openModel } from "./models.ts";
import { sampleBase } from "./sample-base.ts";
import { sharedFolder } from "./shared-folder.ts";
import { offerUndo } from "./undo.ts";
import { openWhatIf } from "./what-if-record.ts";

type ReadLibrary = (onProgress: (progress: OpenProgress) => void) => Promise<LibrarySummary>;

/** How the present library was opened. */
let openedBy: { label: string; read: ReadLibrary } | null = null;

async function open(label: string, read: ReadLibrary, place: Partial<Place>): Promise<void> {
  if (getUi().opening !== null) return;
  let underWay = true;
  const show = (opening: Progress): void => {
    // The last words of a worker may arrive after its answer.
    if (underWay) setUi({ opening });
  };
  show({ label, done: 0, total: 0, unit: "records" });
  try {
    const library = await read(Comlink.proxy(show));
    // Without a tokenizer there are no token counts; the decision says so.
    await ensureTokenizer().catch(describeFault);
    const { library: before, place: placeBefore } = getUi();
    const openedBefore = openedBy;
    openedBy = { label, read };
    setUi({
      library,
      columns: library.columns,
      notice: null,
      task: null,
      decision: null,
      scores: {},
      viewProblem: null,
    });
    navigate({ ...place, library: library.origin });
    if (before !== null && openedBefore !== null) {
      offerUndo(`${library.title} is open in place of ${before.title}`, async () => {
        if (getUi().opening !== null)
          throw new InputError("something is being opened: wait for it, then undo");
        await open(`Opening ${before.title} again…`, openedBefore.read, placeBefore);
        const { library: now, notice } = getUi();
        if (now === library)
          throw new InputError(notice?.text ?? `${before.title} could not be opened again`);
      });
    }
    performance.mark("library-open");
    await followColumns();
  } catch (error) {
    setUi({ notice: isAbort(error) ? { kind: "info", text: "Opening was stopped." } : faultNotice(error) });
  } finally {
    underWay = false;
    setUi({ opening: null });
  }
}

/** Ends an opening that is under way; what was open before stays. */
export function stopOpening(): void {
  if (getUi().opening !== null) void libraryWorker().stopOpening();
}

let following = false;

/** Takes over what the library worker counts while the table is on the screen. */
async function followColumns(): Promise<void> {
  if (!following) {
    following = true;
    await libraryWorker().onColumns(
      Comlink.proxy((batch) => {
        const { columns, library } = getUi();
        if (columns === null || library === null) return;
        setUi({ columns: withBatch(columns, batch) });
      }),
    );
  }
  const { library } = getUi();
  // Over the network that would download everything: only when it is asked for.
  if (library !== null && !library.remote && library.columns.counted < library.tasks.length) {
    void libraryWorker().countAllColumns();
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

/** Opens libraries behind addresses, parted by white space. */
export async function openAddresses(text: string): Promise<void> {
  try {
    const addresses = text.split(/\s+/).filter(Boolean).map(checkAddress);
    if (addresses.length === 0) return;
    await open("Asking the server…", (onProgress) => libraryWorker().openAddresses(addresses, onProgress), {
      ...HOME,
    });
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Opens files of the folder that the worker shares. `keepPlace`: the link led here and names what to show. */
export async function openShared(paths: readonly string[], keepPlace = false): Promise<void> {
  try {
    const worker = sharedFolder();
    await open(
      "Asking the worker…",
      (onProgress) => libraryWorker().openShared(worker, [...paths], onProgress),
      keepPlace ? {} : { ...HOME, disk: paths },
    );
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** True for what looks like records and not like a part of a model. */
export function isRecordFile({ path }: { path: string }): boolean {
  return /\.(jsonl|ndjson)(\.gz)?$/i.test(path);
}

/** Whether a folder is a model: it has weights, or a config.json that speaks of one (others may be anybody's). */
async function isModel({ files }: FolderFiles): Promise<boolean> {
  if ([...files.keys()].some((name) => /\.(safetensors|onnx)$/.test(name))) return true;
  const config = await files.get("config.json")?.text();
  return /"(model_type|architectures)"\s*:/.test(config ?? "");
}

const names = (files: readonly PathFile[]): string => {
  const shown = files.slice(0, 3).map(({ path }) => path);
  return files.length > 3 ? `${shown.join(", ")} and ${files.length - 3} more` : shown.join(", ");
};

/**
 * Records make a library; folders with a config.json and weights (or a .zip of one) make models; both may come at once.
 * A what-if record is opened in the library that is open, or that comes with it. All that is none of these is imported, as `gcopd import` does, when no records came with it.
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
    const { own, scores, left, whatIfs } = await ownFiles(records);
    if (own.length === 0 && (scores.length > 0 || left.length > 0)) {
      throw new InputError(
        scores.length > 0
          ? "lists of teacher scores: open them together with the episodes that they belong to"
          : "the index of a file: open it together with that file",
        { file: scores[0]?.name ?? left[0]!.path },
      );
    }
    rest.push(...left);
    if (own.length > 0) {
      await open(
        "Opening your files…",
        (onProgress) => libraryWorker().openFiles({ records: own, scores }, onProgress),
        { ...HOME },
      );
      const { notice } = getUi();
      if (rest.length > 0 && notice?.kind !== "error") {
        const text = [notice?.text, `Not used beside the records: ${names(rest)}.`].filter(Boolean).join(" ");
        setUi({ notice: { kind: "info", ...notice, text } });
      }
    } else if (rest.length > 0 && models.length === 0) {
      setUi({ lastImport: null });
      await importFiles(rest);
    } else if (models.length === 0 && whatIfs.length === 0 && files.length > 0) {
      throw new InputError("expected a model folder with config.json and weights in it", {
        file: names(files),
      });
    }
    for (const folder of models) {
      const role = ROLES.find((name) => folder.name.toLowerCase().includes(name));
      if (role === undefined) setUi({ pendingFolder: folder });
      else await openModel(role, folder);
    }
    if (whatIfs.length > 1) {
      throw new InputError("several what-if records: open one at a time", {
        file: names(whatIfs),
      });
    }
    for (const file of whatIfs) await openWhatIf(file);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Records with the index that lies beside each, and lists of scores; what belongs to none of them is left. */
async function ownFiles(
  files: readonly PathFile[],
): Promise<{ own: OwnFiles["records"]; scores: File[]; left: PathFile[]; whatIfs: PathFile[] }> {
  const byPath = new Map(files.map((each) => [each.path, each]));
  const sidecars = new Set<PathFile>();
  const own: OwnFiles["records"] = [];
  const scores: File[] = [];
  const left: PathFile[] = [];
  const whatIfs: PathFile[] = [];
  for (const { path } of files) {
    const sidecar = byPath.get(indexFileName(path));
    if (sidecar !== undefined) sidecars.add(sidecar);
  }
  for (const each of files) {
    if (sidecars.has(each)) continue;
    const what = await firstLine(each);
    if (what === "index") left.push(each);
    else if (what === "what-if") whatIfs.push(each);
    else if (what === "scores") scores.push(each.file);
    else {
      const sidecar = byPath.get(indexFileName(each.path))?.file;
      own.push(sidecar === undefined ? { file: each.file } : { file: each.file, sidecar });
    }
  }
  return { own, scores, left, whatIfs };
}

/** Imports other programs' recordings; `environment` for formats that do not say theirs. */
export function importFiles(files: PathFile[], environment?: string): Promise<void> {
  return open(
    "Looking at your files…",
    async (onProgress) => {
      const choice = environment === undefined ? {} : { environment };
      const library = await libraryWorker().import(files, onProgress, choice);
      setUi({ lastImport: { files, environment: environment ?? null } });
      return library;
    },
    { ...HOME },
  );
}
