/**
 * Teacher and student. The page owns their folders (as blobs, which cost it nothing); the compute worker holds them
 * opened on a device and can be ended and started anew at any time.
 */
import * as Comlink from "comlink";
import { InputError } from "../../core/errors.ts";
import type { TokenizerTexts } from "../../text/index.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import { tokenizerTexts } from "../library/model-folder.ts";
import { isComputing } from "../state/computing.ts";
import { getUi, type ModelOrigin, type Role, setUi } from "../state/store.ts";
import { type ComputeClient, libraryWorker, startComputeWorker } from "../workers/clients.ts";
import { sampleModel, sampleTokenizer } from "../workers/sample.ts";
import { faultNotice } from "./faults.ts";
import { sampleBase } from "./sample-base.ts";

interface Opened {
  folder: FolderFiles;
  origin: ModelOrigin;
  steps: number;
}

/** What the user has opened or trained; null means the sample's. */
const folders: Record<Role, Opened | null> = { teacher: null, student: null };
/** The student as it was opened, before any training here: what "revert" goes back to. */
let openedStudent: Opened | null = null;
let tokenizer: TokenizerTexts | null = null;
let compute: Promise<ComputeClient> | null = null;
let choice: "webgpu" | "cpu" = "webgpu";

export function computeWorker(): Promise<ComputeClient> {
  compute ??= (async () => {
    const client = startComputeWorker();
    try {
      const device = await client.api.start(choice);
      const { port1, port2 } = new MessageChannel();
      await libraryWorker().connect(Comlink.transfer(port1, [port1]));
      await client.api.connect(Comlink.transfer(port2, [port2]));
      if (tokenizer !== null) await client.api.setTokenizer(tokenizer);
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

/** Takes another device; models are opened there when they are needed. */
export async function chooseDevice(kind: "webgpu" | "cpu"): Promise<void> {
  if (kind === choice && compute !== null) return;
  choice = kind;
  endComputeWorker();
  try {
    await computeWorker();
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** The tokenizer of the opened models, or the sample's when nothing else was opened. */
export async function ensureTokenizer(): Promise<TokenizerTexts> {
  if (tokenizer === null) {
    tokenizer = await sampleTokenizer(sampleBase());
    await spreadTokenizer(tokenizer);
  }
  return tokenizer;
}

async function spreadTokenizer(texts: TokenizerTexts): Promise<void> {
  await libraryWorker().setTokenizer(texts);
  if (compute !== null) await (await compute).api.setTokenizer(texts);
  // Token counts of the shown decision are of the tokenizer before.
  setUi({ place: { ...getUi().place }, scores: {} });
}

/** Models are opened one after the other: the worker does one thing at a time. */
let queue: Promise<unknown> = Promise.resolve();

/** Opens the role's model on the device if it is not there yet. */
export function ensureModel(role: Role): Promise<ComputeClient> {
  const opening = queue.then(() => openIfNeeded(role));
  queue = opening.catch(() => undefined);
  return opening;
}

async function openIfNeeded(role: Role): Promise<ComputeClient> {
  await ensureTokenizer();
  const client = await computeWorker();
  if (getUi().models[role] !== null) return client;
  let underWay = true;
  const loading = (done: number, total: number): void => {
    // The last words of a worker may arrive after its answer.
    if (!underWay) return;
    const shown = { label: `Opening the ${role}`, done, total, unit: "parameters" };
    setUi((ui) => ({ modelLoading: { ...ui.modelLoading, [role]: shown } }));
  };
  loading(0, 0);
  try {
    const opened = folders[role] ?? {
      folder: await sampleModel(sampleBase(), role),
      origin: "sample" as const,
      steps: 0,
    };
    const { info, steps } = await client.api.load(
      role,
      opened.folder,
      Comlink.proxy(({ done, total }) => loading(done, total)),
    );
    folders[role] = opened;
    if (role === "student") openedStudent ??= opened;
    setUi((ui) => ({ models: { ...ui.models, [role]: { info, origin: opened.origin, steps } } }));
    return client;
  } finally {
    underWay = false;
    setUi((ui) => ({ modelLoading: { ...ui.modelLoading, [role]: undefined } }));
  }
}

/** Makes a folder of the user's the model of a role. On a fault the one before stays, and the fault is shown. */
export async function openModel(role: Role, folder: FolderFiles): Promise<void> {
  const before = folders[role];
  const tokenizerBefore = tokenizer;
  try {
    if (isComputing()) throw new InputError("a model is at work: stop it, then open another one");
    const texts = await tokenizerTexts(folder);
    const other = folders[role === "teacher" ? "student" : "teacher"];
    if (texts !== null) {
      if (tokenizer !== null && other !== null && other.origin !== "sample") {
        await (role === "teacher"
          ? libraryWorker().compareTokenizers(texts, tokenizer)
          : libraryWorker().compareTokenizers(tokenizer, texts));
      }
      tokenizer = texts;
      await spreadTokenizer(texts);
    }
    folders[role] = { folder, origin: "own", steps: 0 };
    setUi((ui) => ({ models: { ...ui.models, [role]: null } }));
    await ensureModel(role);
    if (role === "student") openedStudent = folders.student;
    setUi({
      notice: { kind: "info", text: `The ${role} is now ${folder.name}.` },
      scores: {},
    });
  } catch (error) {
    folders[role] = before;
    if (tokenizer !== tokenizerBefore && tokenizerBefore !== null) {
      tokenizer = tokenizerBefore;
      await spreadTokenizer(tokenizerBefore);
    }
    setUi((ui) => ({ models: { ...ui.models, [role]: null }, notice: faultNotice(error) }));
  }
}

/** After training: the student's new folder, as the worker has it open already. */
export function studentTrained(folder: FolderFiles, steps: number): void {
  folders.student = { folder, origin: "updated", steps };
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

/** Back to the student as it was opened. */
export async function revertStudent(): Promise<void> {
  folders.student = openedStudent;
  studentLost();
  try {
    await ensureModel("student");
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** The student's folder with its tokenizer; without optimizer state unless it is asked for. */
export async function studentFolder(options: { optimizer: boolean }): Promise<FolderFiles | null> {
  const folder = folders.student?.folder;
  if (folder === undefined) return null;
  const files = new Map(folder.files);
  if (!options.optimizer) files.delete("optimizer.safetensors");
  const texts = await ensureTokenizer();
  const add = (name: string, text: string | undefined): void => {
    if (text !== undefined && !files.has(name)) files.set(name, new Blob([text]));
  };
  add("tokenizer.json", texts.tokenizerJson);
  add("tokenizer_config.json", texts.tokenizerConfigJson);
  add("chat_template.jinja", texts.chatTemplate);
  return { name: "student", files };
}
