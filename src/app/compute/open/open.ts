/** Opening a library: the sample, picked or dropped files, addresses, files of the worker. What is open stays open. */
import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import { indexFileName } from "../../../formats/indexed/index.ts";
import { checkAddress } from "../../base/address.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { describeFault, faultNotice, isAbort } from "../../base/faults.ts";
import type { Progress } from "../../base/notice.ts";
import { Turns } from "../../base/turns.ts";
import { type FolderFile, type FolderFiles, wholeFile } from "../../data/files/blob-folder.ts";
import { isWeights, modelFolders } from "../../data/files/model-folder.ts";
import { commonFolder, firstLine, isForeign, isRecordFile } from "../../data/files/path-files.ts";
import type { OwnFiles } from "../../data/library-client.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { LibrarySummary, OpenProgress } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { libraryOf, type OpenLibrary } from "../../data/open-libraries.ts";
import { sharedFolder } from "../../data/shared-folder.ts";
import { shippedBase } from "../../data/shipped-base.ts";
import {
  type LibraryLink,
  SHIPPED_TITLES,
  type ShippedLibrary,
  shippedLibrary,
  shippedLink,
  shippedName,
} from "../../url/library-link.ts";
import { HOME } from "../../url/place.ts";
import { unpackArchive } from "../clients.ts";
import { models } from "../models/models.ts";
import { openWhatIf } from "../scoring/what-if-record.ts";
import { getUi, ROLES, setUi } from "../store.ts";
import { isRecordedResults, openRecorded } from "../students/open-recorded.ts";
import { openLibraries } from "./libraries.ts";
import { addOptimal } from "./optimal.ts";

type ReadLibrary = (onProgress: (progress: OpenProgress) => void) => Promise<LibrarySummary>;

interface How {
  /** An address of the page asked for it, and names what to show. */
  byLink?: boolean;
  imported?: OpenLibrary["imported"];
  /** The library that it takes the place of. */
  replaces?: string | null;
}

/** One library is opened at a time: what is dropped meanwhile waits for its turn. */
const turns = new Turns();

const open = (label: string, read: ReadLibrary, how: How = {}): Promise<boolean> =>
  turns.take(() => openNow(label, read, how));

/** Whether a library was opened. Never rejects: what goes wrong is the page's notice. */
async function openNow(label: string, read: ReadLibrary, how: How): Promise<boolean> {
  let underWay = true;
  const show = (opening: Progress): void => {
    // The last words of a worker may arrive after its answer.
    if (underWay) setUi({ opening });
  };
  show({ label, done: 0, total: 0, unit: "records" });
  try {
    const library = await read(Comlink.proxy(show));
    // Without a tokenizer there are no token counts; the decision says so.
    await models.takeShipped(library.link).catch(describeFault);
    await models.ensureTokenizers().catch(describeFault);
    const { byLink = false, imported = null, replaces = null } = how;
    openLibraries.take(library, { byLink, imported, replaces });
    performance.mark("library-open");
    return true;
  } catch (error) {
    setUi({ notice: isAbort(error) ? { kind: "info", text: "Opening was stopped." } : faultNotice(error) });
    return false;
  } finally {
    underWay = false;
    setUi({ opening: null });
  }
}

/** Ends an opening that is under way; what was open before stays. */
export function stopOpening(): void {
  if (getUi().opening === null) return;
  // The opening says why a worker could not start.
  libraryWorker()
    .stopOpening()
    .catch(() => undefined);
}

/** Opens a shipped library; where it is open, shows it from the start. */
async function openShipped(name: ShippedLibrary, byLink: boolean): Promise<void> {
  const { libraries, opening, place } = getUi();
  const folder = shippedName(shippedLink(name));
  if (opening !== null || folder === null) return;
  if (libraries.some(({ summary }) => summary.link.library === name)) {
    navigate({ ...HOME, ...shippedLink(name) }, place.library === null ? "replace" : "push");
    return;
  }
  await open(
    `Opening ${SHIPPED_TITLES[folder]}…`,
    (onProgress) => libraryWorker().openShipped(name, shippedBase(folder), onProgress),
    { byLink },
  );
}

export const openSample = (byLink = false): Promise<void> => openShipped("sample", byLink);

/** Opens libraries behind addresses, parted by white space. */
export async function openAddresses(text: string, byLink = false): Promise<void> {
  try {
    const addresses = text.split(/\s+/).filter(Boolean).map(checkAddress);
    if (addresses.length === 0) return;
    await open("Asking the server…", (onProgress) => libraryWorker().openAddresses(addresses, onProgress), {
      byLink,
    });
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/**
 * Opens files of the folder that the worker shares, or a folder in it, whose path ends with a slash (`/` alone for all
 * of it): the records in it, or what other programs recorded there, as when it is dropped. `again` says the environment.
 */
export async function openShared(
  paths: readonly string[],
  byLink = false,
  again: { environment: string; replaces: string } | null = null,
): Promise<void> {
  try {
    const worker = sharedFolder();
    const environment = again?.environment ?? null;
    await open(
      "Asking the worker…",
      (onProgress) => libraryWorker().openShared(worker, [...paths], environment, onProgress),
      {
        byLink,
        replaces: again?.replaces ?? null,
        imported: { from: [...paths], environment },
      },
    );
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Opens what a link leads into, where a page can do that by itself. */
export function openLinked({ library, disk, addresses }: LibraryLink): Promise<void> {
  if (disk.length > 0) return openShared(disk, true);
  if (addresses.length > 0) return openAddresses(addresses.join(" "), true);
  const name = shippedLibrary({ library });
  return name === null ? Promise.resolve() : openShipped(name, true);
}

/** Whether a folder is a model: it has weights, or a config.json that speaks of one (others may be anybody's). */
async function isModel({ files }: FolderFiles): Promise<boolean> {
  if ([...files.keys()].some(isWeights)) return true;
  const file = files.get("config.json");
  const config = file === undefined ? "" : await (await wholeFile(file)).text();
  return /"(model_type|architectures)"\s*:/.test(config);
}

const names = (files: readonly PathFile[]): string => {
  const shown = files.slice(0, 3).map(({ path }) => path);
  return files.length > 3 ? `${shown.join(", ")} and ${files.length - 3} more` : shown.join(", ");
};

/**
 * Records make a library; folders with a config.json and weights (or a .zip of one) make models; both may come at once.
 * Results of an experiment are drawn behind the students of the evidence test. Optimal actions are of the library that is open, or that comes with them. A what-if record is opened in the library that is open, or that comes with it. Everything else is imported, as `gcopd import` does, when no records came with it.
 */
export async function openDropped(files: PathFile[]): Promise<void> {
  try {
    const records: PathFile[] = [];
    const others: PathFile[] = [];
    const results: PathFile[] = [];
    for (const file of files) {
      if (await isRecordedResults(file)) results.push(file);
      else (isRecordFile(file) && !(await isForeign(file)) ? records : others).push(file);
    }
    const folders: FolderFiles[] = [];
    for (const folder of await modelFolders(others, unpackArchive))
      if (await isModel(folder)) folders.push(folder);
    const ofModels = new Set<FolderFile>(folders.flatMap((folder) => [...folder.files.values()]));
    const rest = others.filter(({ path, file }) => !ofModels.has(file) && !/\.zip$/i.test(path));
    const { own, folder, scores, left, whatIfs, optimal } = await ownFiles(records);
    if (own.length === 0 && (scores.length > 0 || left.length > 0)) {
      throw new InputError(
        scores.length > 0
          ? "lists of teacher scores: open them together with the episodes that they belong to"
          : "the index of a file: open it together with that file",
        { file: scores[0]?.name ?? left[0]!.path },
      );
    }
    rest.push(...left);
    let failed = false;
    if (own.length > 0) {
      const opened = await open("Opening your files…", (onProgress) =>
        libraryWorker().openFiles({ records: own, folder, scores }, onProgress),
      );
      failed = !opened;
      const { notice } = getUi();
      if (rest.length > 0 && notice?.kind !== "error") {
        const text = [notice?.text, `Not used beside the records: ${names(rest)}.`].filter(Boolean).join(" ");
        setUi({ notice: { kind: "info", ...notice, text } });
      }
    } else if (rest.length > 0 && folders.length === 0) {
      failed = !(await importFiles(rest));
    } else if (
      folders.length === 0 &&
      whatIfs.length + optimal.length + results.length === 0 &&
      files.length > 0
    ) {
      throw new InputError("expected a model folder with config.json and weights in it", {
        file: names(files),
      });
    }
    for (const folder of folders) {
      const role = ROLES.find((name) => folder.name.toLowerCase().includes(name));
      if (role === undefined) setUi({ pendingFolder: folder });
      else await models.open(role, folder);
    }
    // What came with the records belongs to no other library.
    if (failed) return;
    if (whatIfs.length > 1) {
      throw new InputError("several what-if records: open one at a time", {
        file: names(whatIfs),
      });
    }
    for (const file of whatIfs) await openWhatIf(file);
    for (const file of optimal) await addOptimal(file);
    for (const file of results) {
      await openRecorded(file);
      setUi({ notice: { kind: "info", text: `The students of ${file.path} are drawn in Evidence now.` } });
    }
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Records with the index that lies beside each, and lists of scores; what belongs to none of them is left. */
async function ownFiles(files: readonly PathFile[]): Promise<{
  own: OwnFiles["records"];
  folder: OwnFiles["folder"];
  scores: File[];
  left: PathFile[];
  whatIfs: PathFile[];
  optimal: PathFile[];
}> {
  const byPath = new Map(files.map((each) => [each.path, each]));
  const sidecars = new Set<PathFile>();
  const own: OwnFiles["records"] = [];
  const used: PathFile[] = [];
  const scores: File[] = [];
  const left: PathFile[] = [];
  const whatIfs: PathFile[] = [];
  const optimal: PathFile[] = [];
  for (const { path } of files) {
    const sidecar = byPath.get(indexFileName(path));
    if (sidecar !== undefined) sidecars.add(sidecar);
  }
  for (const each of files) {
    if (sidecars.has(each)) continue;
    const what = await firstLine(each);
    if (what === "index") left.push(each);
    else if (what === "what-if") whatIfs.push(each);
    else if (what === "optimal") optimal.push(each);
    else if (what === "scores") scores.push(each.file);
    else {
      used.push(each);
      const sidecar = byPath.get(indexFileName(each.path))?.file;
      own.push(sidecar === undefined ? { file: each.file } : { file: each.file, sidecar });
    }
  }
  const folder = commonFolder(used).join("/");
  return { own, folder: folder === "" ? null : folder, scores, left, whatIfs, optimal };
}

/** Imports other programs' recordings. */
export function importFiles(files: PathFile[]): Promise<boolean> {
  return open("Looking at your files…", (onProgress) => libraryWorker().import(files, onProgress, {}), {
    imported: { from: files, environment: null },
  });
}

const isPaths = (from: readonly (PathFile | string)[]): from is string[] =>
  from.every((each) => typeof each === "string");

/** Imports the recordings of an open library again, as those of an environment that they do not name themselves. */
export async function importAgain(library: string, environment: string): Promise<void> {
  const from = libraryOf(getUi().libraries, library)?.imported?.from;
  if (from === undefined) return;
  if (isPaths(from)) return openShared(from, false, { environment, replaces: library });
  await open(
    "Looking at your files…",
    (onProgress) => libraryWorker().import(from, onProgress, { environment }),
    { imported: { from, environment }, replaces: library },
  );
}
