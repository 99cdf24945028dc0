/**
 * Runs of the page over its reloads: what they were, their events, last checkpoint and student, in IndexedDB. Large files
 * of a checkpoint lie in the origin's file system, and their record names them.
 */
import type { TokenizerTexts } from "../../../../text/index.ts";
import type { FolderFile } from "../../../data/files/blob-folder.ts";
import { isOriginFile, originFiles } from "../../../data/files/origin-files.ts";
import type { Shipped } from "../../../url/library-link.ts";
import type { ModelOrigin } from "../../store.ts";
import type { Run } from "../run.ts";
import { database } from "./database.ts";

/** What is kept of a run; its figures are made again from its events. */
export type KeptRun = Omit<Run, "figures" | "stream"> & { plan: unknown };

const { within } = database("gcopd-runs", 2, { runs: "id", checkpoints: "id", students: "id" });

export const keepRun = (run: KeptRun): Promise<unknown> =>
  within("runs", "readwrite", (store) => store.put(run));

export const keptRuns = (): Promise<KeptRun[]> =>
  within<KeptRun[]>("runs", "readonly", (store) => store.getAll());

export const keptRun = (id: string): Promise<KeptRun | undefined> =>
  within<KeptRun | undefined>("runs", "readonly", (store) => store.get(id));

/** What a record has in place of a file of the origin's file system: its name there. */
interface Named {
  origin: string;
}

/** Files as they are written down; `openFiles` has the files themselves. */
export type Recorded<File extends FolderFile = FolderFile> = ReadonlyMap<string, File | Named>;

/** A checkpoint: the files of its model folder, its state and its manifest. */
export interface KeptCheckpoint {
  /** The run's id and its step in eight digits, with a slash between; of an earlier version the run's id alone. */
  id: string;
  files: Recorded<Blob>;
  /** Only of an earlier version, which wrote no manifest: its state. */
  state?: unknown;
}

type StudentRecord = Omit<KeptStudent, "files"> & { files: Recorded | null };

const isNamed = (file: FolderFile | Named): file is Named => "origin" in file;

const recorded = <File extends FolderFile>(files: Recorded<File>): Recorded<File> =>
  new Map([...files].map(([path, file]) => [path, isOriginFile(file) ? { origin: file.name } : file]));

/** The files of a record; one that is not there any more is missing. */
export async function openFiles<File extends FolderFile>(
  files: Recorded<File>,
): Promise<Map<string, File | Blob>> {
  const found = new Map<string, File | Blob>();
  for (const [path, file] of files) {
    const here = isNamed(file) ? await originFiles.open(file.origin) : file;
    if (here !== null) found.set(path, here);
  }
  return found;
}

const namesOf = ({ files }: { files: Recorded | null }): string[] =>
  [...(files?.values() ?? [])].filter(isNamed).map(({ origin }) => origin);

const checkpointRecords = (of?: IDBKeyRange): Promise<KeptCheckpoint[]> =>
  within("checkpoints", "readonly", (store) => store.getAll(of));
const studentRecords = (): Promise<StudentRecord[]> =>
  within("students", "readonly", (store) => store.getAll());

/** The names of all files that records name. */
async function namedFiles(): Promise<Set<string>> {
  return new Set([...(await checkpointRecords()), ...(await studentRecords())].flatMap(namesOf));
}

/** Removes the files that nothing names or has: those of records that are gone, and of tabs that ended while they wrote. */
export const sweepFiles = (): Promise<void> => originFiles.sweep(namedFiles);

/** All that a run has. */
const ofRun = (run: string): IDBKeyRange => IDBKeyRange.bound(run, `${run}0`, false, true);

export const keepCheckpoint = (checkpoint: KeptCheckpoint): Promise<unknown> =>
  within("checkpoints", "readwrite", (store) =>
    store.put({ ...checkpoint, files: recorded(checkpoint.files) }),
  );

/** Takes a checkpoint away that this thread has no use for. */
export async function dropCheckpoint(id: string): Promise<void> {
  const kept = await within<KeptCheckpoint | undefined>("checkpoints", "readonly", (store) => store.get(id));
  await within("checkpoints", "readwrite", (store) => store.delete(id));
  const names = kept === undefined ? [] : namesOf(kept);
  if (names.length > 0) await originFiles.sweep(namedFiles, names);
}

/** Those of a run, the newest first. */
export const keptCheckpointsOf = async (run: string): Promise<KeptCheckpoint[]> =>
  (await checkpointRecords(ofRun(run))).reverse();

export const hasCheckpoint = (run: string): Promise<boolean> =>
  within("checkpoints", "readonly", (store) => store.count(ofRun(run))).then((count) => count > 0);

/** A student: what a run made, or what runs began with. */
export interface KeptStudent {
  /** The run's, or one of its own. */
  id: string;
  name: string;
  origin: ModelOrigin;
  /** Optimizer steps. */
  steps: number;
  /** Steps that it has of runs of the page, by run. */
  taken: Readonly<Record<string, number>>;
  /** Null: that of `shipped`. */
  tokenizer: TokenizerTexts | null;
  /** The kept student that a revert goes back to; null: that of `shipped`. */
  opened: string | null;
  /** The shipped library whose models stood for what is null; the sample when absent. */
  shipped?: Shipped;
  /** What it went through, for its folder. */
  log: Blob | null;
  /** Null: those of the run's checkpoint. */
  files: ReadonlyMap<string, FolderFile> | null;
  /** Its path below the folder that the worker shares, where it lies there. */
  shared?: string;
}

export const keepStudent = (student: KeptStudent): Promise<unknown> =>
  within("students", "readwrite", (store) =>
    store.put({ ...student, files: student.files && recorded(student.files) }),
  );

export async function keptStudent(id: string): Promise<KeptStudent | undefined> {
  const kept = await within<StudentRecord | undefined>("students", "readonly", (store) => store.get(id));
  return kept && { ...kept, files: kept.files && (await openFiles(kept.files)) };
}

/** Takes a run away with its checkpoint and student, and the students that only it went back to. */
export async function dropKept(id: string): Promise<void> {
  await within("checkpoints", "readwrite", (store) => store.delete(ofRun(id)));
  for (const store of ["runs", "students"] as const)
    await within(store, "readwrite", (each) => each.delete(id));
  const [students, runs] = await Promise.all([
    studentRecords(),
    within("runs", "readonly", (store) => store.getAllKeys()),
  ]);
  const wanted = new Set<IDBValidKey | null>([...runs, ...students.map(({ opened }) => opened)]);
  for (const student of students)
    if (!wanted.has(student.id)) await within("students", "readwrite", (store) => store.delete(student.id));
  await sweepFiles();
}
