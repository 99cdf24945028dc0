/** Runs of the page over its reloads: what they were, their events, last checkpoint and student, in IndexedDB. */
import type { TokenizerTexts } from "../../../../text/index.ts";
import type { FolderFile } from "../../../data/files/blob-folder.ts";
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

/** A checkpoint: the files of its model folder, its state and its manifest. */
export interface KeptCheckpoint {
  /** The run's id and its step in eight digits, with a slash between; of an earlier version the run's id alone. */
  id: string;
  files: Map<string, Blob>;
  /** Only of an earlier version, which wrote no manifest: its state. */
  state?: unknown;
}

/** All that a run has. */
const ofRun = (run: string): IDBKeyRange => IDBKeyRange.bound(run, `${run}0`, false, true);

export const keepCheckpoint = (checkpoint: KeptCheckpoint): Promise<unknown> =>
  within("checkpoints", "readwrite", (store) => store.put(checkpoint));

export const dropCheckpoint = (id: string): Promise<unknown> =>
  within("checkpoints", "readwrite", (store) => store.delete(id));

/** Those of a run, the newest first. */
export async function keptCheckpointsOf(run: string): Promise<KeptCheckpoint[]> {
  const kept = await within<KeptCheckpoint[]>("checkpoints", "readonly", (store) => store.getAll(ofRun(run)));
  return kept.reverse();
}

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
  within("students", "readwrite", (store) => store.put(student));

export const keptStudent = (id: string): Promise<KeptStudent | undefined> =>
  within<KeptStudent | undefined>("students", "readonly", (store) => store.get(id));

/** Takes a run away with its checkpoint and student, and the students that only it went back to. */
export async function dropKept(id: string): Promise<void> {
  await within("checkpoints", "readwrite", (store) => store.delete(ofRun(id)));
  for (const store of ["runs", "students"] as const)
    await within(store, "readwrite", (each) => each.delete(id));
  const [students, runs] = await Promise.all([
    within("students", "readonly", (store) => store.getAll()),
    within("runs", "readonly", (store) => store.getAllKeys()),
  ]);
  const wanted = new Set<IDBValidKey | null>([...runs, ...students.map(({ opened }) => opened)]);
  for (const student of students)
    if (!wanted.has(student.id)) await within("students", "readwrite", (store) => store.delete(student.id));
}
