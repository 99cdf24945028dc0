/** Students of runs, opened as the student of the page: what this browser kept, or what the worker has on its disk. */
import { InputError } from "../../core/errors.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import { withTokenizer } from "../library/model-folder.ts";
import type { Run } from "../runs/run.ts";
import { worker } from "../runs/worker-client.ts";
import { isComputing } from "../state/computing.ts";
import { setUi } from "../state/store.ts";
import { sampleTokenizer } from "../workers/sample.ts";
import { faultNotice, isAbort } from "./faults.ts";
import { keptStudentsOf } from "./kept-student.ts";
import { openModel } from "./models.ts";
import { sampleBase } from "./sample-base.ts";

/** A student that a run has. */
export interface RunStudent {
  /** Folder below the run's output; empty for a run of the page. */
  folder: string;
  /** "after step 12". */
  label: string;
  /** Its optimizer steps; null where that is not known. */
  step: number | null;
  /** Of its files. */
  bytes: number;
}

const WEIGHTS = /\.safetensors$/;
/** Holds the tokenizer of a job's students, beside them. */
const TOKENIZER = "tokenizer";

/** The students that a run has now, the newest first. */
export async function studentsOf({ id, where, state, figures }: Run): Promise<RunStudent[]> {
  if (where === "page") {
    return (await keptStudentsOf(id)).map(({ folder: { files }, step }) => ({
      folder: "",
      label: step === null ? "as it was kept" : `after step ${step}`,
      step,
      bytes: [...files.values()].reduce((sum, { size }) => sum + size, 0),
    }));
  }
  const folders = new Map<string, { names: string[]; bytes: number }>();
  for (const { path, bytes } of await worker.results(id)) {
    const slash = path.lastIndexOf("/");
    const folder = folders.get(path.slice(0, Math.max(0, slash))) ?? { names: [], bytes: 0 };
    folder.names.push(path.slice(slash + 1));
    folder.bytes += bytes;
    folders.set(path.slice(0, Math.max(0, slash)), folder);
  }
  return [...folders]
    .filter(([, { names }]) => names.includes("config.json") && names.some((name) => WEIGHTS.test(name)))
    .map(([folder, { bytes }]) => {
      const digits = /^checkpoints\/step-0*(\d+)$/.exec(folder)?.[1];
      if (digits !== undefined) return { folder, label: `after step ${digits}`, step: Number(digits), bytes };
      const isEnd = folder === "student";
      const step = isEnd && state === "done" ? figures.done : null;
      return { folder, label: isEnd ? "at its end" : folder, step, bytes };
    })
    .sort((a, b) => (a.folder < b.folder ? 1 : -1));
}

/** Makes it the student of the page. A fault is shown, and the student before stays. */
export async function openStudentOf(run: Run, { folder, label, step }: RunStudent): Promise<void> {
  try {
    if (isComputing()) throw new InputError("a model is at work: stop it, then open another one");
    const files = run.where === "page" ? await keptFolder(run, step) : await fetchedFolder(run, folder);
    await openModel("student", { ...files, name: `${run.id} ${label}` });
  } catch (error) {
    setUi({
      notice: isAbort(error)
        ? { kind: "info", text: "Fetching was stopped: the student before stays." }
        : faultNotice(error),
    });
  }
}

async function keptFolder({ id }: Run, step: number | null): Promise<FolderFiles> {
  const found = (await keptStudentsOf(id)).find((student) => student.step === step);
  if (found === undefined)
    throw new InputError("this browser keeps no student of the run any more", { file: id });
  return withTokenizer(found.folder, found.kept.tokenizer ?? (await sampleTokenizer(sampleBase())));
}

/** The files of a folder of the job's results, and of its tokenizer where the folder has none. */
async function fetchedFolder({ id }: Run, folder: string): Promise<FolderFiles> {
  const results = await worker.results(id);
  const below = (parent: string) =>
    results.flatMap(({ path, bytes }) => {
      const name = path.slice(parent.length + 1);
      return path === `${parent}/${name}` && !name.includes("/") ? [{ path, name, bytes }] : [];
    });
  const own = below(folder);
  const names = new Set(own.map(({ name }) => name));
  const wanted = [...own, ...below(TOKENIZER).filter(({ name }) => !names.has(name))];
  if (own.length === 0) throw new InputError("the job has this folder no more", { file: folder });
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const files = new Map<string, Blob>();
  let done = 0;
  const controller = new AbortController();
  const cancel = (): void => controller.abort();
  const show = (): void =>
    setUi((ui) => ({
      modelLoading: {
        ...ui.modelLoading,
        student: { label: `Fetching the student of ${id}`, done, total, unit: "bytes", cancel },
      },
    }));
  try {
    for (const { path, name, bytes } of wanted) {
      show();
      const blob = await (await worker.file(id, path, controller.signal)).blob();
      if (blob.size !== bytes)
        throw new InputError("has changed on the worker's disk while it was read: open it again", {
          file: path,
        });
      files.set(name, blob);
      done += bytes;
    }
  } finally {
    setUi((ui) => ({ modelLoading: { ...ui.modelLoading, student: undefined } }));
  }
  return { name: folder, files };
}
