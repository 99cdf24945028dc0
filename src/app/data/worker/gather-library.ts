/**
 * The ways into a library: own files, other programs' recordings, a folder of the worker's disk. Each ends in the records,
 * the scores that were recorded beside them, and how the library is called and found again.
 */
import { byteChunks } from "../../../formats/bytes.ts";
import { blobFiles, type ImportFiles, runImport, subfolder } from "../../../formats/import/index.ts";
import { sampleDigest } from "../../../formats/indexed/identity.ts";
import { indexFileName } from "../../../formats/indexed/index.ts";
import { readRecords } from "../../../formats/read.ts";
import type { LibraryLink } from "../../url/library-link.ts";
import {
  type OpenOptions,
  openRecordFile,
  type RecordInput,
  spooled,
} from "../files/internal/record-file.ts";
import {
  commonFolder,
  isRecordFile,
  type LinesKind,
  linesKind,
  type NamedBlob,
  withoutCommonFolder,
} from "../files/path-files.ts";
import { type SharedSource, sharedAddress, sharedImportFiles, withToken } from "../files/shared-files.ts";
import type { LibrarySummary } from "../model.ts";
import { importedLines, type OnProgress } from "./opening.ts";
import { RecordLibrary } from "./record-library.ts";
import { RecordedScores } from "./recorded-scores.ts";

/** How a library is called and found again, and what a person should know of its opening, a sentence each. */
export type About = Pick<LibrarySummary, "title" | "origin" | "imported" | "link" | "notes">;

export interface Gathered {
  records: RecordLibrary;
  scores: RecordedScores;
  about: About;
}

/** Where progress is reported, and what stops it. */
export interface Gathering {
  signal: AbortSignal;
  tell: OnProgress;
}

/** What an import cannot read from the recordings themselves. */
export interface ImportChoice {
  environment?: string;
}

/** `link: null`: of files that were given by hand, their digest makes it. */
type Named = Omit<About, "link" | "notes"> & { link: LibraryLink | null; notes?: readonly string[] };

/**
 * Files of the workbench's own format as one library. `scores` are lines of `{ id, logprobs }`.
 *
 * @throws InputError for a file that cannot be read and for records that do not go together; AbortError when stopped
 */
export async function gatherFiles(
  inputs: readonly RecordInput[],
  scores: readonly { name: string; blob: Blob }[],
  about: Omit<Named, "imported">,
  { signal, tell, fetch }: Gathering & Pick<OpenOptions, "fetch">,
): Promise<Gathered> {
  const options = { signal, onProgress: toldAs(tell), ...(fetch === undefined ? {} : { fetch }) };
  const files = [];
  for (const input of inputs) files.push(await openRecordFile(input, options));
  const recorded = new RecordedScores();
  for (const { name, blob } of scores) await readScores(byteChunks(blob.stream()), name, recorded, signal);
  return gathered(new RecordLibrary(files), recorded, { ...about, imported: null });
}

/**
 * Other programs' recordings, as `gcopd import` reads them.
 *
 * @throws InputError when the format is not known or the first fault is met; AbortError when stopped
 */
export async function gatherImport(
  entries: readonly NamedBlob[],
  gathering: Gathering & ImportChoice,
): Promise<Gathered> {
  const { folder, files } = withoutCommonFolder(entries);
  const name = folder !== "" ? folder : files.length === 1 ? files[0]!.path : `${files.length} files`;
  return imported(blobFiles(files), name, null, gathering);
}

/**
 * A folder of the worker's disk as if it had been dropped: the records of our own format in it, read by ranges, with
 * lists of scores; or, where there are none, other programs' recordings. `folder` is its path below the shared one.
 *
 * @throws as `gatherFiles` and `gatherImport` do
 */
export async function gatherFolder(
  source: SharedSource,
  folder: string,
  link: LibraryLink,
  gathering: Gathering & ImportChoice,
): Promise<Gathered> {
  const { signal, tell } = gathering;
  const name = folder.split("/").at(-1) || "the shared folder";
  const onListed = (done: number): void => tell({ label: `Listing ${name}`, done, total: 0, unit: "files" });
  const files = await sharedImportFiles(source, folder, { signal, onListed });
  const paths = (await files.list()).map(({ path }) => path);
  const kinds = new Map<string, LinesKind>();
  for (const path of paths.filter((each) => isRecordFile({ path: each })))
    kinds.set(path, await linesKind(files.open(path), path));
  const of = (kind: LinesKind): string[] => paths.filter((path) => kinds.get(path) === kind);
  const own = of("records");
  if (own.length === 0) {
    const inner = commonFolder(await files.list());
    return imported(subfolder(files, inner.join("/")), inner.at(-1) ?? name, link, gathering);
  }
  const options: OpenOptions = { signal, fetch: withToken(source), onProgress: toldAs(tell) };
  const opened = [];
  for (const path of own) {
    const address = sharedAddress(source, folder === "" ? path : `${folder}/${path}`);
    opened.push(await openRecordFile({ kind: "address", address }, options));
  }
  const scores = of("scores");
  const recorded = new RecordedScores();
  for (const path of scores) await readScores(files.open(path), path, recorded, signal);
  const used = new Set([...own, ...own.map(indexFileName), ...scores]);
  const left = paths.filter((path) => !used.has(path));
  const notes = left.length === 0 ? [] : [`Not used beside the records: ${few(left)}.`];
  const title = folder === "" ? name : `${folder}/`;
  return gathered(new RecordLibrary(opened), recorded, { title, origin: "own", imported: null, link, notes });
}

async function imported(
  files: ImportFiles,
  name: string,
  link: LibraryLink | null,
  { signal, tell, environment }: Gathering & ImportChoice,
): Promise<Gathered> {
  const choice = environment === undefined ? { signal } : { signal, environment };
  const { importer, records, report } = await runImport(files, choice);
  const recorded = new RecordedScores();
  const file = await spooled(importedLines(records, recorded, name, tell), name, null, { signal });
  const title = `${name} (${importer.name})`;
  return gathered(new RecordLibrary([file]), recorded, { title, origin: "own", imported: report, link });
}

async function gathered(
  records: RecordLibrary,
  scores: RecordedScores,
  { link, notes: said = [], ...about }: Named,
): Promise<Gathered> {
  const notes = [...said, ...records.files.flatMap((file) => file.notes)];
  const strangers = scores.count === 0 ? 0 : scores.strangers(records.episodeDecisions());
  if (strangers > 0)
    notes.push(`${strangers} of ${scores.count} recorded score lists name no decision of these episodes.`);
  const found = link ?? { library: `own-${await digestOf(records)}`, disk: [], addresses: [] };
  return { records, scores, about: { ...about, link: found, notes } };
}

const toldAs =
  (tell: OnProgress): NonNullable<OpenOptions["onProgress"]> =>
  ({ file, bytes, total }) =>
    tell({ label: `Indexing ${file}`, done: bytes, total: total ?? 0, unit: "bytes" });

async function readScores(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  into: RecordedScores,
  signal: AbortSignal,
): Promise<void> {
  for await (const { record } of readRecords(chunks, { file, signal, kind: "score-output" }))
    into.add(record, file);
}

const few = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");

/** Twelve hexadecimal digits of what the files hold, in any order of them: see `sampleDigest`. */
async function digestOf({ files }: RecordLibrary): Promise<string> {
  const each = await Promise.all(
    files.map(async ({ reader }) => `${reader.size} ${await sampleDigest(reader)}`),
  );
  const bytes = new TextEncoder().encode(each.sort().join("\n"));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest.subarray(0, 6), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
