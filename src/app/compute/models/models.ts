/**
 * Teacher and student. The page owns their folders (as blobs, which cost it nothing); the compute worker holds them
 * opened on a device and can be ended and restarted at any time.
 */
import * as Comlink from "comlink";
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import type { WeightChoice } from "../../../tensor/index.ts";
import type { TokenizerTexts } from "../../../text/index.ts";
import { describeFault, faultNotice, isAbort } from "../../base/faults.ts";
import { countOf } from "../../base/plural.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { tokenizerTexts, withTokenizer } from "../../data/files/model-folder.ts";
import { keptDecisions } from "../../data/kept-decisions.ts";
import type { RoleTexts } from "../../data/library/role-tokenizers.ts";
import { sampleModel, sampleTokenizer } from "../../data/library/sample.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { shippedBase } from "../../data/shipped-base.ts";
import { offerUndo } from "../../data/undo.ts";
import { type Shipped, shippedName } from "../../url/library-link.ts";
import { type ComputeClient, startComputeWorker } from "../clients.ts";
import { isComputing } from "../computing.ts";
import { getUi, type ModelOrigin, ROLES, type Role, setUi } from "../store.ts";
import type { ComputeChoice, ModelsJob } from "../worker/compute-service.ts";
import { memory, memoryLimit, plannedPasses, useMemory } from "./memory.ts";
import { withRun } from "./run-log.ts";
import { shippedScores } from "./shipped-scores.ts";
import { type StudentSteps, studentHasRun, studentWentBack } from "./taken-back.ts";

export interface Opened {
  folder: FolderFiles;
  tokenizer: TokenizerTexts;
  origin: ModelOrigin;
  /** The shipped library that a model of origin `sample` belongs to. */
  shipped?: Shipped;
  steps: number;
  /** A student's steps that were taken in this page. */
  taken?: StudentSteps;
  /** The run of this page that made it last. */
  run?: string;
}

/** The run of this page that made the present student; null where none did. */
export const useStudentRun = create<{ id: string | null }>(() => ({ id: null }));

/** The shipped library that was shown last: where the user opened no model, its own stand. */
let shipped: Shipped = "sample";
/** What the user has opened or trained; null means the shipped library's. */
const folders: Record<Role, Opened | null> = { teacher: null, student: null };
/** The student as it was opened, before any training here: what "revert" goes back to. */
let openedStudent: Opened | null = null;
/** The tokenizers that the workers have. */
let tokenizers: RoleTexts | null = null;
let compute: Promise<ComputeClient> | null = null;
/** A student of the visit before may be on its way: no model is read before it is here. */
let restoring: Promise<unknown> = Promise.resolve();
let choice: ComputeChoice = "webgpu";

export function computeWorker(): Promise<ComputeClient> {
  compute ??= (async () => {
    const client = startComputeWorker();
    try {
      const device = await client.api.start(choice);
      const { port1, port2 } = new MessageChannel();
      await libraryWorker().connect(Comlink.transfer(port1, [port1]));
      await client.api.connect(Comlink.transfer(port2, [port2]));
      if (tokenizers !== null) await client.api.setTokenizers(tokenizers);
      setUi({ device });
      return client;
    } catch (error) {
      client.end();
      compute = null;
      throw error;
    }
  })();
  return compute;
}

/** Ends the compute worker at once, whatever it does. Folders stay; models are opened again when they are needed. */
export function endComputeWorker(): void {
  const ended = compute;
  compute = null;
  // What the ended worker was asked for never answers.
  queue = Promise.resolve();
  setUi({ models: { teacher: null, student: null }, modelLoading: {} });
  void ended?.then((client) => client.end());
}

/** Takes another device; models are opened there when they are needed. While a model is at work, the device stays. */
export async function chooseDevice(kind: ComputeChoice): Promise<void> {
  if (isComputing() || (kind === choice && compute !== null)) return;
  choice = kind;
  endComputeWorker();
  try {
    await computeWorker();
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

const shippedTexts = new Map<Shipped, Promise<TokenizerTexts>>();

/** The tokenizer of a role's model. */
export async function roleTokenizer(role: Role): Promise<TokenizerTexts> {
  const opened = folders[role];
  if (opened !== null) return opened.tokenizer;
  return shippedTokenizer(shipped);
}

/** The tokenizer of a shipped library's models. */
export function shippedTokenizer(name: Shipped): Promise<TokenizerTexts> {
  const known = shippedTexts.get(name);
  if (known !== undefined) return known;
  const asked = sampleTokenizer(shippedBase(name));
  shippedTexts.set(name, asked);
  asked.catch(() => shippedTexts.delete(name));
  return asked;
}

/** What decides scores beside the shipped models: the user's own, and the format of weights. */
const besideShipped = (): unknown[] => [
  ...ROLES.map((role) => (folders[role]?.origin === "sample" ? null : folders[role])),
  memory().weights,
];

/**
 * Takes the models of a shipped library that is shown now, where the user opened none of their own, with what they
 * scored before. While a model is at work, those before stay.
 */
export async function takeShippedModels(link: { library: string | null }): Promise<void> {
  const name = shippedName(link);
  if (name === null || name === shipped || isComputing()) return;
  const beside = besideShipped();
  const roles = ROLES.filter((_, n) => beside[n] === null);
  if (roles.length > 0) shippedScores.set(shipped, { scores: getUi().scores, beside });
  shipped = name;
  for (const role of roles) {
    setFolder(role, null);
    if (role === "student") openedStudent = null;
    setUi((ui) => ({ models: { ...ui.models, [role]: null }, scores: {} }));
  }
  await ensureTokenizers();
  const known = shippedScores.get(name);
  if (shipped !== name || known?.beside.some((each, n) => each !== besideShipped()[n])) return;
  setUi(({ scores }) => ({ scores: { ...known?.scores, ...scores } }));
  shippedScores.delete(name);
}

/** Gives the workers the tokenizers of both models as they are now. Throws `InputError` for one that cannot be read. */
export async function ensureTokenizers(): Promise<void> {
  const [teacher, student] = await Promise.all([roleTokenizer("teacher"), roleTokenizer("student")]);
  if (tokenizers?.teacher === teacher && tokenizers.student === student) return;
  const texts = { teacher, student };
  const tokenizerFit = await libraryWorker().setTokenizers(texts);
  tokenizers = texts;
  if (compute !== null) await (await compute).api.setTokenizers(texts);
  // Token counts of all decisions that were read are of the tokenizers before.
  keptDecisions.forget();
  setUi({ place: { ...getUi().place }, scores: {}, tokenizerFit });
}

/** Models are opened one after the other: the worker does one thing at a time. */
let queue: Promise<unknown> = Promise.resolve();

/** The shipped models, once they were asked for, by library and role. */
const samples = new Map<string, Promise<FolderFiles>>();

async function folderOf(role: Role): Promise<Opened> {
  await restoring;
  return folders[role] ?? sampleOf(role);
}

function setFolder(role: Role, opened: Opened | null): void {
  folders[role] = opened;
  if (role === "student") useStudentRun.setState({ id: opened?.run ?? null });
}

async function sampleOf(role: Role, of: Shipped = shipped): Promise<Opened> {
  const key = `${of}/${role}`;
  let folder = samples.get(key);
  if (folder === undefined) {
    folder = sampleModel(shippedBase(of), role);
    samples.set(key, folder);
    folder.catch(() => samples.delete(key));
  }
  const tokenizer = await shippedTokenizer(of);
  return { folder: await folder, tokenizer, origin: "sample", shipped: of, steps: 0 };
}

/** What the folder of a role's model is called; null for the sample's. */
export const modelFolderName = (role: Role): string | null => folders[role]?.folder.name ?? null;

/** Where a role's model is from: the folder that the user opened or trained, or the name of the shipped library. */
export function modelSource(role: Role): FolderFiles | Shipped {
  const opened = folders[role];
  return opened === null || opened.origin === "sample" ? shipped : opened.folder;
}

/** Path of a role's model below the folder that the worker shares; null where it was opened from elsewhere. */
export const sharedModelPath = (role: Role): string | null => folders[role]?.folder.shared ?? null;

/** Both models as they are, for a plan of what a job with them needs. */
export async function modelsJob(
  kind: ModelsJob["kind"],
): Promise<ModelsJob & { teacher: FolderFiles; student: FolderFiles }> {
  const [job, student] = await Promise.all([teacherJob(), folderOf("student")]);
  return { ...job, kind, student: student.folder };
}

/** The same of the teacher, which scores alone. */
export async function teacherJob(): Promise<ModelsJob & { teacher: FolderFiles }> {
  const { folder } = await folderOf("teacher");
  return { kind: "score", teacher: folder, student: null, weights: memory().weights, limit: memoryLimit() };
}

/** Takes another format for the teacher's weights; it is opened in it when it is needed. */
export function chooseTeacherWeights(weights: WeightChoice): void {
  if (isComputing() || weights === memory().weights) return;
  useMemory.setState({ weights });
  setUi((ui) => ({ models: { ...ui.models, teacher: null }, scores: {} }));
}

/** Opens the role's model on the device if it is not there yet. */
export function ensureModel(role: Role): Promise<ComputeClient> {
  const opening = queue.then(() => openIfNeeded(role));
  queue = opening.catch(() => undefined);
  return opening;
}

async function openIfNeeded(role: Role): Promise<ComputeClient> {
  await ensureTokenizers();
  const client = await computeWorker();
  if (getUi().models[role] !== null) return client;
  let underWay = true;
  const loading = (done: number, total: number): void => {
    // The last words of a worker may arrive after its answer.
    if (!underWay) return;
    const cancel = (): void => void client.api.abort();
    const shown = { label: `Opening the ${role}`, done, total, unit: "bytes", cancel };
    setUi((ui) => ({ modelLoading: { ...ui.modelLoading, [role]: shown } }));
  };
  loading(0, 0);
  try {
    const opened = await folderOf(role);
    const { info, steps } = await client.api.load(
      role,
      opened.folder,
      { weights: memory().weights, passes: plannedPasses()[role] },
      Comlink.proxy(({ done, total }) => loading(done, total)),
    );
    setFolder(role, opened);
    if (role === "student") openedStudent ??= opened;
    setUi((ui) => ({ models: { ...ui.models, [role]: { info, origin: opened.origin, steps } } }));
    return client;
  } finally {
    underWay = false;
    setUi((ui) => ({ modelLoading: { ...ui.modelLoading, [role]: undefined } }));
  }
}

/** Closes the teacher where a run has no use for it; it is opened again when it is needed. */
export async function closeTeacher(): Promise<void> {
  if (getUi().models.teacher === null) return;
  await (await computeWorker()).api.closeTeacher();
  setUi((ui) => ({ models: { ...ui.models, teacher: null } }));
}

/** Makes the way back to a role's model as it is now, with what was scored by it. */
function wayBack(role: Role): () => Promise<void> {
  const [opened, openedFirst, shippedThen] = [folders[role], openedStudent, shipped];
  const { models, scores } = getUi();
  const wasOpen = models[role] !== null;
  return async () => {
    if (isComputing()) throw new InputError("a model is at work: stop it, then undo");
    // A shipped model gives way to that of the shipped library that is shown now, and so do its scores.
    const gaveWay = shipped !== shippedThen && (opened?.origin ?? "sample") === "sample";
    if (role === "student") {
      studentWentBack(folders.student?.taken ?? {}, opened?.taken ?? {});
      openedStudent = gaveWay ? null : openedFirst;
    }
    setFolder(role, gaveWay ? null : opened);
    await ensureTokenizers();
    setUi((ui) => ({ models: { ...ui.models, [role]: null }, scores: gaveWay ? {} : scores }));
    if (wasOpen) await ensureModel(role);
  };
}

/** Lets the user say whose tokenizer a folder without one has. Throws `InputError` for a folder that holds no model. */
export async function askForTokenizer(role: Role | "other", folder: FolderFiles): Promise<void> {
  await (await computeWorker()).api.checkModel(folder);
  setUi({ pendingTokenizer: { role, folder } });
}

/**
 * Makes a folder of the user's the model of a role, with its own tokenizer. One without a tokenizer waits until the user
 * says whose it has. On a fault the one before stays, and the fault is shown.
 */
export async function openModel(role: Role, folder: FolderFiles): Promise<void> {
  const before = folders[role];
  const goBack = wayBack(role);
  try {
    if (isComputing()) throw new InputError("a model is at work: stop it, then open another one");
    const tokenizer = await tokenizerTexts(folder);
    if (tokenizer === null) {
      await askForTokenizer(role, folder);
      return;
    }
    setFolder(role, { folder, tokenizer, origin: "own", steps: 0 });
    setUi((ui) => ({ models: { ...ui.models, [role]: null } }));
    await ensureModel(role);
    if (role === "student") openedStudent = folders.student;
    setUi({ scores: {} });
    offerUndo(`The ${role} is now ${folder.name}`, goBack, role);
  } catch (error) {
    setFolder(role, before);
    const notice = isAbort(error)
      ? ({ kind: "info", text: `Opening the ${role} was stopped: the one before stays.` } as const)
      : faultNotice(error);
    setUi((ui) => ({ models: { ...ui.models, [role]: null }, notice }));
    // The sample's may be out of reach; it is asked for again with the model.
    await ensureTokenizers().catch(describeFault);
  }
}

/**
 * After training: the student's new folder, as the worker has it open already. `record` is what was done to it, `run`
 * the run of this page and how many of its steps are taken.
 */
export function studentTrained(
  folder: FolderFiles,
  steps: number,
  record: object,
  run: { id: string; done: number },
): void {
  offerUndo(
    `The student was updated: it has ${countOf(steps, "optimizer step")} now`,
    wayBack("student"),
    "student",
  );
  const tokenizer = folders.student?.tokenizer;
  if (tokenizer === undefined) throw new Error("no student was open");
  setFolder("student", {
    tokenizer,
    folder: withRun(folder, folders.student?.folder, record),
    origin: "updated",
    steps,
    taken: { ...folders.student?.taken, [run.id]: run.done },
    run: run.id,
  });
  studentHasRun(run.id);
  setUi((ui) => {
    const { student } = ui.models;
    return student === null
      ? {}
      : { models: { ...ui.models, student: { ...student, origin: "updated", steps } } };
  });
}

/** The student was lost with a failed or cancelled run: it is opened again, as it was before, when it is needed. */
export function studentLost(): void {
  setUi((ui) => ({ models: { ...ui.models, student: null } }));
}

/** Back to the student as it was opened; not while a model is at work. */
export async function revertStudent(): Promise<void> {
  if (isComputing()) {
    setUi({
      notice: faultNotice(new InputError("a model is at work: stop it, then revert to the loaded student")),
    });
    return;
  }
  const goBack = wayBack("student");
  studentWentBack(folders.student?.taken ?? {}, openedStudent?.taken ?? {});
  setFolder("student", openedStudent);
  studentLost();
  try {
    await ensureModel("student");
    offerUndo("The student is as it was opened", goBack, "student");
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/**
 * The student, and the one that it was opened as: what is kept of them. Null: that of the library `shipped`, which says
 * nothing of a student of the user's own.
 */
export function studentState(): { student: Opened | null; opened: Opened | null; shipped: Shipped } {
  return { student: folders.student, opened: openedStudent, shipped: openedStudent?.shipped ?? shipped };
}

/** Takes the student of an earlier visit, which is read while models wait; null leaves the shipped one. */
export async function restoreStudent(
  read: Promise<ReturnType<typeof studentState> | null>,
): Promise<Opened | null> {
  const taking = (async () => {
    const state = await read;
    if (state === null || state.student === null) return null;
    openedStudent = state.opened ?? (await sampleOf("student", state.shipped));
    setFolder("student", state.student);
    if (tokenizers !== null) await ensureTokenizers();
    return state.student;
  })();
  restoring = taking.catch(() => undefined);
  return taking;
}

/**
 * Where each role's model is from; the sample's until another is opened. Those of another shipped library are models like
 * any other: a worker has no copy of them.
 */
export function modelOrigins(): Record<Role, ModelOrigin> {
  const of = (role: Role): ModelOrigin => {
    const { origin = "sample", shipped: of = shipped } = folders[role] ?? {};
    return origin === "sample" && of !== "sample" ? "own" : origin;
  };
  return { teacher: of("teacher"), student: of("student") };
}

/** A role's folder as a run elsewhere reads it: the student's with the tokenizer, neither with optimizer state. */
export async function modelFolder(role: Role): Promise<FolderFiles> {
  if (role === "student") {
    const student = await studentFolder({ optimizer: false });
    if (student !== null) return student;
  }
  return (await folderOf(role)).folder;
}

/** The student's folder with its tokenizer; without optimizer state unless it is asked for. */
export async function studentFolder(options: { optimizer: boolean }): Promise<FolderFiles | null> {
  if (folders.student === null) return null;
  const { folder, tokenizer } = folders.student;
  const files = new Map(folder.files);
  if (!options.optimizer) files.delete("optimizer.safetensors");
  return withTokenizer({ name: "student", files }, tokenizer);
}
