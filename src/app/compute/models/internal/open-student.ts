/** Students of runs, opened as the student of the page: what this browser kept, or what the worker has on its disk. */
import { z } from "zod";
import { InputError } from "../../../../core/errors.ts";
import { parseJsonText } from "../../../../core/json.ts";
import { checkedBy } from "../../../../core/record/describe-issue.ts";
import { faultNotice, isAbort } from "../../../base/faults.ts";
import type { FolderFiles } from "../../../data/files/blob-folder.ts";
import { withTokenizer } from "../../../data/files/model-folder.ts";
import { checkAtRest } from "../../computing.ts";
import type { Run } from "../../runs/run.ts";
import { worker } from "../../runs/worker-client.ts";
import { setUi } from "../../store.ts";
import { keptStudentsOf, tokenizerOf } from "../kept-student.ts";
import { models } from "../models.ts";

/** A student that a run has. */
export interface RunStudent {
  /** Folder below the run's output; empty for a run of the page. */
  folder: string;
  /** "after step 12". */
  label: string;
  /** Its optimizer steps; null where that is not known. */
  step: number | null;
  /** Size of its files. */
  bytes: number;
  /** Why it cannot be opened here, and where its weights are; null where it can. */
  elsewhere: string | null;
}

const WEIGHTS = /\.safetensors$/;
/** In place of weights that a server with Tinker's API keeps, and what it says of them. */
const SERVED = "tinker.json";
const servedSchema = z.object({ server: z.string(), path: z.string() });
/** The weights of a PEFT adapter, which are no model. */
const ADAPTER = "adapter_model.safetensors";
/** Holds the tokenizer of a job's students, beside them. */
const TOKENIZER = "tokenizer";

/** The students that a run has now, the newest first. */
export async function studentsOf(run: Run): Promise<RunStudent[]> {
  const { id, where, state, figures } = run;
  if (where === "page") {
    return (await keptStudentsOf(id)).map(({ folder: { files }, step }) => ({
      folder: "",
      label: step === null ? "as it was kept" : `after step ${step}`,
      step,
      bytes: [...files.values()].reduce((sum, { size }) => sum + size, 0),
      elsewhere: null,
    }));
  }
  const folders = new Map<string, { names: string[]; bytes: number }>();
  for (const { path, bytes } of await worker.results(run)) {
    const slash = path.lastIndexOf("/");
    const folder = folders.get(path.slice(0, Math.max(0, slash))) ?? { names: [], bytes: 0 };
    folder.names.push(path.slice(slash + 1));
    folder.bytes += bytes;
    folders.set(path.slice(0, Math.max(0, slash)), folder);
  }
  const students: RunStudent[] = [];
  for (const [folder, { names, bytes }] of folders) {
    const isModel = names.includes("config.json") && names.some((name) => WEIGHTS.test(name));
    const elsewhere = isModel ? null : await weightsElsewhere(run, folder, names);
    if (!isModel && elsewhere === null) continue;
    const digits = /^checkpoints\/step-0*(\d+)$/.exec(folder)?.[1];
    const isEnd = folder === "student";
    const label = digits !== undefined ? `after step ${digits}` : isEnd ? "at its end" : folder;
    const step = digits !== undefined ? Number(digits) : isEnd && state === "done" ? figures.done : null;
    students.push({ folder, label, step, bytes, elsewhere });
  }
  return students.sort((a, b) => (a.folder < b.folder ? 1 : -1));
}

/** Where the weights of a student are whose folder has no whole model; null for a folder of no student. */
async function weightsElsewhere(run: Run, folder: string, names: readonly string[]): Promise<string | null> {
  if (names.includes(ADAPTER))
    return `an adapter for the model that the run began from: save ${ADAPTER} and adapter_config.json from the files below. With \`merge\` the run writes a whole model`;
  if (!names.includes(SERVED)) return null;
  const text = await (await worker.file(run, `${folder}/${SERVED}`)).text();
  const { server, path } = checkedBy(servedSchema, parseJsonText(text, { file: SERVED }), { file: SERVED });
  return `its weights are on the server ${server}, as ${path}`;
}

/** Makes it the student of the page. A fault is shown, and the student before stays. */
export async function openStudentOf(run: Run, { folder, label, step }: RunStudent): Promise<void> {
  try {
    checkAtRest("open another one");
    const files = run.where === "page" ? await keptFolder(run, step) : await fetchedFolder(run, folder);
    await models.open("student", { ...files, name: `${run.id} ${label}` });
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
  return withTokenizer(found.folder, await tokenizerOf(found.kept));
}

/** The files of a folder of the job's results, and of its tokenizer where the folder has none. */
async function fetchedFolder(run: Run, folder: string): Promise<FolderFiles> {
  const { id } = run;
  const results = await worker.results(run);
  const below = (parent: string) =>
    results.flatMap(({ path, bytes }) => {
      const name = path.slice(parent.length + 1);
      return path === `${parent}/${name}` && !name.includes("/") ? [{ path, name, bytes }] : [];
    });
  const own = below(folder);
  const names = new Set(own.map(({ name }) => name));
  const wanted = [...own, ...below(TOKENIZER).filter(({ name }) => !names.has(name))];
  if (own.length === 0) throw new InputError("the job no longer has this folder", { file: folder });
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
      const blob = await worker.file(run, path, controller.signal);
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
