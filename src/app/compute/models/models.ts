/**
 * Teacher and student. The page owns their folders (as blobs, which cost it nothing); the compute worker holds them
 * opened on a device and can be ended and restarted at any time.
 */
import * as Comlink from "comlink";
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { countOf } from "../../../core/plural.ts";
import type { WeightChoice } from "../../../tensor/index.ts";
import type { TokenizerTexts } from "../../../text/index.ts";
import { describeFault, faultNotice, isAbort } from "../../base/faults.ts";
import { Turns } from "../../base/turns.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { tokenizerTexts, withTokenizer } from "../../data/files/model-folder.ts";
import { keptDecisions } from "../../data/kept-decisions.ts";
import type { RoleTexts } from "../../data/library/role-tokenizers.ts";
import { sampleModel, sampleTokenizer } from "../../data/library/sample.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { shippedBase } from "../../data/shipped-base.ts";
import { undoList } from "../../data/undo.ts";
import { type Shipped, shippedName } from "../../url/library-link.ts";
import { type ComputeClient, startComputeWorker } from "../clients.ts";
import { checkAtRest, isDeviceBusy, isModelAtWork } from "../computing.ts";
import { getUi, type ModelOrigin, ROLES, type Role, setUi } from "../store.ts";
import type { ComputeChoice, ModelsWorkload } from "../worker/compute-service.ts";
import { ComputeLife } from "./internal/compute-life.ts";
import { FolderToCome } from "./internal/folder-to-come.ts";
import { withRun } from "./internal/run-log.ts";
import { shippedScores } from "./internal/shipped-scores.ts";
import { memory, memoryLimit, useMemory } from "./memory.ts";
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

/** The run of this page that made the present student, null where none did, and the student's optimizer steps. */
export const useStudentRun = create<{ id: string | null; steps: number }>(() => ({ id: null, steps: 0 }));

/** Each role's model of the user's own, also while it waits to be opened on the device; null where it has none. */
export const useOwnModels = create<Record<Role, Opened | null>>(() => ({ teacher: null, student: null }));

/** Milliseconds that a model has to stop by itself. */
const GRACE_MS = 1500;

const page = {
  startCompute: () => startComputeWorker(),
  library: () => libraryWorker(),
  shippedModel: (of: Shipped, role: Role) => sampleModel(shippedBase(of), role),
  shippedTokenizer: (of: Shipped) => sampleTokenizer(shippedBase(of)),
};

export class Models {
  /** The shipped library that was shown last: its models are open where the user opened none. */
  #shipped: Shipped = "sample";
  readonly #folders: Record<Role, Opened | null> = { teacher: null, student: null };
  /** The student as it was opened, before any training here: what "revert" goes back to. */
  #openedStudent: Opened | null = null;
  /** What a role goes back to where none of the folders that are being opened for it can be. */
  #before: Partial<Record<Role, { opened: Opened | null; goBack: () => Promise<void> }>> = {};
  /** The tokenizers that the workers have. */
  #tokenizers: RoleTexts | null = null;
  #compute: ComputeLife | null = null;
  /** That of the trained student, while it is kept. */
  #keeping: FolderToCome | null = null;
  /** A student of the visit before may be on its way: no model is read before it is here. */
  #restoring: Promise<unknown> = Promise.resolve();
  #device: ComputeChoice = "webgpu";
  /** Models are opened one after the other: the worker does one thing at a time. */
  #turns = new Turns();
  /** The shipped libraries' tokenizers and models, once they were asked for. */
  readonly #shippedTexts = new Map<string, Promise<TokenizerTexts>>();
  readonly #shippedModels = new Map<string, Promise<FolderFiles>>();

  constructor(private readonly clients: typeof page) {}

  async worker(): Promise<ComputeClient> {
    return (await this.#started()).client;
  }

  /** The worker once its device is open; the one in its place where it is left meanwhile. */
  async #started(): Promise<ComputeLife> {
    this.#compute ??= new ComputeLife(this.clients.startCompute(), (client) => this.#start(client));
    const compute = this.#compute;
    const client = await Promise.race([compute.started, compute.over]);
    return client === null ? this.#started() : compute;
  }

  async #start(client: ComputeClient): Promise<ComputeClient> {
    // Another worker may have taken its place: then it was ended.
    const isPresent = (): boolean => this.#compute?.client === client;
    try {
      const device = await client.api.start(this.#device);
      const { port1, port2 } = new MessageChannel();
      await this.clients.library().connect(Comlink.transfer(port1, [port1]));
      await client.api.connect(Comlink.transfer(port2, [port2]));
      if (this.#tokenizers !== null) await client.api.setTokenizers(this.#tokenizers);
      if (isPresent()) setUi({ device });
      return client;
    } catch (error) {
      if (isPresent()) {
        this.#compute = null;
        client.end();
      }
      throw error;
    }
  }

  /**
   * Ends the compute worker at once, whatever it does. Folders stay; models are opened again when they are needed. Whoever
   * waits for one, or behind one, gets an `AbortError`.
   */
  endWorker(): void {
    this.#turns = new Turns();
    this.#before = {};
    this.#end();
  }

  /** @param isLeft whether another worker takes its place, which goes on with what is being opened */
  #end(isLeft = false): void {
    const ended = this.#compute;
    this.#compute = null;
    this.#keeping?.giveUp(new InputError("the compute worker ended while the student was being kept"));
    setUi({ models: { teacher: null, student: null }, modelLoading: {} });
    if (isLeft) ended?.leave();
    else ended?.end();
  }

  /**
   * Ends the worker of a device that failed, so that the next work opens another. While a student is written there the
   * worker stays: memory that was refused to a pass takes nothing from the student, and a device that is lost fails its
   * keeping, which ends the worker then.
   */
  endFailed(): void {
    if (this.#keeping === null) this.endWorker();
  }

  /**
   * Asks what computes to stop, and ends its worker where it has not in time, once a student is kept that is written there.
   *
   * @param goesOn whether what was to be stopped is still at it
   * @param end ends the worker
   * @returns true where the worker was ended: what it was asked for never answers then
   */
  async stopWork(goesOn: () => boolean, end = (): void => this.endWorker()): Promise<boolean> {
    // A worker that could not start, or was ended meanwhile, has nothing to stop.
    this.worker()
      .then(({ api }) => api.abort())
      .catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
    if (goesOn()) await this.#keeping?.folder.catch(() => undefined);
    if (!goesOn()) return false;
    end();
    return true;
  }

  /**
   * Takes another device. Models are opened there when they are needed; one that was being opened is opened there at once.
   * While a model is at work, the device stays.
   */
  async chooseDevice(kind: ComputeChoice): Promise<void> {
    if (isModelAtWork() || (kind === this.#device && this.#compute !== null)) return;
    this.#device = kind;
    this.#end(true);
    try {
      await this.worker();
    } catch (error) {
      if (!isAbort(error)) setUi({ notice: faultNotice(error) });
    }
  }

  /** The tokenizer of a role's model. */
  async tokenizer(role: Role): Promise<TokenizerTexts> {
    return this.#folders[role]?.tokenizer ?? this.shippedTokenizer(this.#shipped);
  }

  /** The tokenizer of a shipped library's models. */
  shippedTokenizer(of: Shipped): Promise<TokenizerTexts> {
    return askedOnce(this.#shippedTexts, of, () => this.clients.shippedTokenizer(of));
  }

  /** A student that is being kept is no shipped one any more. */
  #originOf(role: Role): ModelOrigin {
    if (role === "student" && this.#keeping !== null) return "updated";
    return this.#folders[role]?.origin ?? "sample";
  }

  /** What decides scores beside the shipped models: the user's own, and the format of weights. */
  #besideShipped(): unknown[] {
    const own = ROLES.map((role) => (this.#originOf(role) === "sample" ? null : this.#folders[role]));
    return [...own, memory().weights];
  }

  /**
   * Takes the models of a shipped library that is shown now, where the user opened none of their own, with what they
   * scored before. While a model computes, those before stay.
   */
  async takeShipped(link: { library: string | null }): Promise<void> {
    const name = shippedName(link);
    if (name === null || name === this.#shipped || isDeviceBusy()) return;
    const beside = this.#besideShipped();
    const roles = ROLES.filter((_, n) => beside[n] === null);
    if (roles.length > 0) shippedScores.set(this.#shipped, { scores: getUi().scores, beside });
    this.#shipped = name;
    for (const role of roles) {
      this.#setFolder(role, null);
      if (role === "student") this.#openedStudent = null;
      setUi((ui) => ({ models: { ...ui.models, [role]: null }, scores: {} }));
    }
    await this.ensureTokenizers();
    const known = shippedScores.get(name);
    if (this.#shipped !== name || known?.beside.some((each, n) => each !== this.#besideShipped()[n])) return;
    setUi(({ scores }) => ({ scores: { ...known?.scores, ...scores } }));
    shippedScores.delete(name);
  }

  /** Gives the workers the tokenizers of both models as they are now. Throws `InputError` for one that cannot be read. */
  async ensureTokenizers(): Promise<void> {
    const [teacher, student] = await Promise.all([this.tokenizer("teacher"), this.tokenizer("student")]);
    if (this.#tokenizers?.teacher === teacher && this.#tokenizers.student === student) return;
    const texts = { teacher, student };
    const tokenizerFit = await this.clients.library().tasks.setTokenizers(texts);
    this.#tokenizers = texts;
    // Heard before anything that is asked for later. Not waited for: a library opens before the device is found.
    this.#compute?.started.then(({ api }) => api.setTokenizers(texts)).catch(() => undefined);
    // Token counts of all decisions that were read are of the tokenizers before.
    keptDecisions.forget();
    setUi({ place: { ...getUi().place }, scores: {}, tokenizerFit });
  }

  async #folderOf(role: Role): Promise<Opened> {
    await this.#restoring;
    return this.#folders[role] ?? this.#shippedOf(role);
  }

  #setFolder(role: Role, opened: Opened | null): void {
    this.#folders[role] = opened;
    delete this.#before[role];
    if (role === "student") useStudentRun.setState({ id: opened?.run ?? null, steps: opened?.steps ?? 0 });
    useOwnModels.setState({ [role]: opened?.origin === "own" ? opened : null });
  }

  async #shippedOf(role: Role, of = this.#shipped): Promise<Opened> {
    const ask = () => this.clients.shippedModel(of, role);
    const folder = await askedOnce(this.#shippedModels, `${of}/${role}`, ask);
    const tokenizer = await this.shippedTokenizer(of);
    return { folder, tokenizer, origin: "sample", shipped: of, steps: 0 };
  }

  /** What the user has opened or trained; null means the shipped library's. */
  opened(role: Role): Opened | null {
    return this.#folders[role];
  }

  /** Where a role's model is from: the folder that the user opened or trained, or the name of the shipped library. */
  source(role: Role): FolderFiles | Shipped {
    const opened = this.#folders[role];
    return opened === null || opened.origin === "sample" ? this.#shipped : opened.folder;
  }

  /** Both models as they are, for a plan of what work with them needs. */
  async workload(
    kind: ModelsWorkload["kind"],
  ): Promise<ModelsWorkload & { teacher: FolderFiles; student: FolderFiles }> {
    const [teacher, student] = await Promise.all([this.teacherWorkload(), this.#folderOf("student")]);
    return { ...teacher, kind, student: student.folder };
  }

  /** The same of the teacher, which scores alone. */
  async teacherWorkload(): Promise<ModelsWorkload & { teacher: FolderFiles }> {
    const { folder } = await this.#folderOf("teacher");
    return { kind: "score", teacher: folder, student: null, weights: memory().weights, limit: memoryLimit() };
  }

  /** Takes another format for the teacher's weights; it is opened in it when it is needed. */
  chooseTeacherWeights(weights: WeightChoice): void {
    if (isModelAtWork() || weights === memory().weights) return;
    useMemory.setState({ weights });
    setUi((ui) => ({ models: { ...ui.models, teacher: null }, scores: {} }));
  }

  /** Opens the role's model on the device if it is not there yet. */
  ensure(role: Role): Promise<ComputeClient> {
    const turns = this.#turns;
    return turns.take(() => this.#openIfNeeded(role, turns));
  }

  /** Opens a role's model after a change that stands whatever becomes of it: one that is stopped is opened when it is needed. */
  async #openAgain(role: Role): Promise<void> {
    try {
      await this.ensure(role);
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  /** @param turns those that it waited in; the end of a worker replaces them and calls off whatever waits in them */
  async #openIfNeeded(role: Role, turns: Turns): Promise<ComputeClient> {
    const checkTurn = (): void => {
      if (turns !== this.#turns) throw new DOMException("the compute worker was ended", "AbortError");
    };
    checkTurn();
    await this.ensureTokenizers();
    checkTurn();
    const { client, over } = await this.#started();
    if (getUi().models[role] !== null) return client;
    let underWay = true;
    const end = (): void => {
      // Another worker may have taken its place.
      if (this.#compute?.client === client) this.#end();
    };
    const loading = (done: number, total: number): void => {
      // The last words of a worker may arrive after its answer.
      if (!underWay) return;
      const cancel = (): void => void this.stopWork(() => underWay, end);
      const shown = { label: `Opening the ${role}`, done, total, unit: "bytes", cancel };
      setUi((ui) => ({ modelLoading: { ...ui.modelLoading, [role]: shown } }));
    };
    loading(0, 0);
    try {
      const loaded = await Promise.race([this.#load(role, client, loading), over]);
      if (loaded === null) return this.#openIfNeeded(role, turns);
      const { wanted, opened, weights, info, steps } = loaded;
      // Another one, or another format, may have been chosen meanwhile.
      const isWanted = wanted === (this.#folders[role] ?? this.#shipped);
      if (!isWanted || (role === "teacher" && weights !== memory().weights))
        return this.#openIfNeeded(role, turns);
      this.#folders[role] = opened;
      if (role === "student") this.#openedStudent ??= opened;
      setUi((ui) => ({ models: { ...ui.models, [role]: { info, origin: opened.origin, steps } } }));
      return client;
    } finally {
      underWay = false;
      setUi((ui) => ({ modelLoading: { ...ui.modelLoading, [role]: undefined } }));
    }
  }

  /** Has a worker open what is the role's model now. */
  async #load(role: Role, { api }: ComputeClient, onWork: (done: number, total: number) => void) {
    await this.#restoring;
    const [wanted, { weights }] = [this.#folders[role] ?? this.#shipped, memory()];
    const opened = await this.#folderOf(role);
    const told = Comlink.proxy(({ done, total }: { done: number; total: number }) => onWork(done, total));
    const loaded = await api.load(role, opened.folder, { weights, passes: memory().passes[role] }, told);
    return { wanted, opened, weights, ...loaded };
  }

  /** Closes the teacher where a run has no use for it; it is opened again when it is needed. */
  async closeTeacher(): Promise<void> {
    if (getUi().models.teacher === null) return;
    await (await this.worker()).api.closeTeacher();
    setUi((ui) => ({ models: { ...ui.models, teacher: null } }));
  }

  /** Makes the way back to a role's model as it is now, with what was scored by it. */
  #wayBack(role: Role): () => Promise<void> {
    const [opened, openedFirst, shippedThen] = [this.#folders[role], this.#openedStudent, this.#shipped];
    const { models, scores } = getUi();
    const wasOpen = models[role] !== null;
    return async () => {
      checkAtRest("undo");
      // A shipped model gives way to that of the shipped library that is shown now, and so do its scores.
      const gaveWay = this.#shipped !== shippedThen && (opened?.origin ?? "sample") === "sample";
      const had = this.#folders.student?.taken ?? {};
      if (role === "student") this.#openedStudent = gaveWay ? null : openedFirst;
      this.#setFolder(role, gaveWay ? null : opened);
      if (role === "student") studentWentBack(had, opened?.taken ?? {});
      await this.ensureTokenizers();
      setUi((ui) => ({ models: { ...ui.models, [role]: null }, scores: gaveWay ? {} : scores }));
      if (wasOpen) await this.#openAgain(role);
    };
  }

  /** Lets the user say whose tokenizer a folder without one has. Throws `InputError` for a folder that holds no model. */
  async askForTokenizer(role: Role | "other", folder: FolderFiles): Promise<void> {
    const { client, over } = await this.#started();
    if ((await Promise.race([client.api.checkModel(folder), over])) === null)
      return this.askForTokenizer(role, folder);
    setUi({ pendingTokenizer: { role, folder } });
  }

  /**
   * Makes a folder of the user's the model of a role, with its own tokenizer. One without a tokenizer waits until the
   * user says whose it has. On a fault the one before stays, and the fault is shown. Of folders that are opened at the
   * same time the last one counts.
   */
  async open(role: Role, folder: FolderFiles): Promise<void> {
    let begun: { opened: Opened; before: Opened | null } | null = null;
    try {
      checkAtRest("open another one");
      const tokenizer = await tokenizerTexts(folder);
      if (tokenizer === null) return await this.askForTokenizer(role, folder);
      const before = this.#before[role] ?? { opened: this.#folders[role], goBack: this.#wayBack(role) };
      const opened: Opened = { folder, tokenizer, origin: "own", steps: 0 };
      begun = { opened, before: before.opened };
      this.#setFolder(role, opened);
      this.#before[role] = before;
      setUi((ui) => ({ models: { ...ui.models, [role]: null } }));
      await this.ensure(role);
      if (this.#folders[role] !== opened) return;
      delete this.#before[role];
      if (role === "student") this.#openedStudent = opened;
      setUi({ scores: {} });
      undoList.offer(`The ${role} is now ${folder.name}`, before.goBack, role);
    } catch (error) {
      const notice = isAbort(error)
        ? ({ kind: "info", text: `Opening the ${role} was stopped: the one before stays.` } as const)
        : faultNotice(error);
      if (begun === null) return setUi({ notice });
      // The one that was chosen since speaks for itself.
      if (this.#folders[role] !== begun.opened) return;
      this.#setFolder(role, begun.before);
      setUi((ui) => ({ models: { ...ui.models, [role]: null }, notice }));
      // The sample's may be out of reach; it is asked for again with the model.
      await this.ensureTokenizers().catch(describeFault);
    }
  }

  /**
   * After training: the student's new folder, as the worker has it open already. While that is still written, the student
   * scores. `record` is what was done to it, `run` the run of this page and how many of its steps are taken.
   *
   * @throws what it could not be kept for; `studentLost` is for the caller
   */
  async studentTrained(
    kept: FolderFiles | Promise<FolderFiles>,
    steps: number,
    record: object,
    run: { id: string; done: number },
  ): Promise<void> {
    const before = this.#folders.student;
    if (before === null) throw new Error("no student was open");
    const goBack = this.#wayBack("student");
    // What was scored with the student before is of the student before.
    setUi(({ models: { student, ...others } }) => ({
      models: { ...others, student: student && { ...student, origin: "updated", steps } },
      scores: {},
    }));
    let folder: FolderFiles;
    try {
      if (kept instanceof Promise) {
        this.#keeping = new FolderToCome(kept);
        folder = await this.#keeping.folder;
      } else folder = kept;
    } catch (error) {
      setUi({ scores: {} });
      // Another shipped library was shown meanwhile: its student is here instead.
      if (before.origin === "sample" && before.shipped !== this.#shipped) {
        this.#setFolder("student", null);
        this.#openedStudent = null;
      }
      throw error;
    } finally {
      this.#keeping = null;
    }
    const label = `The student was updated: it has ${countOf(steps, "optimizer step")} now`;
    undoList.offer(label, goBack, "student");
    this.#setFolder("student", {
      tokenizer: before.tokenizer,
      folder: withRun(folder, before.folder, record),
      origin: "updated",
      steps,
      taken: { ...before.taken, [run.id]: run.done },
      run: run.id,
    });
    studentHasRun(run.id);
  }

  /** The student was lost with a failed or cancelled run: it is opened again, as it was before, when it is needed. */
  studentLost(): void {
    setUi((ui) => ({ models: { ...ui.models, student: null } }));
  }

  /** Back to the student as it was opened. @throws InputError while a model is at work */
  async toOpenedStudent(): Promise<void> {
    checkAtRest("revert to the loaded student");
    const had = this.#folders.student?.taken ?? {};
    this.#setFolder("student", this.#openedStudent);
    studentWentBack(had, this.#openedStudent?.taken ?? {});
    this.studentLost();
    await this.#openAgain("student");
  }

  /** The same as a change that can be taken back; a fault is shown. */
  async revertStudent(): Promise<void> {
    try {
      const goBack = this.#wayBack("student");
      await this.toOpenedStudent();
      undoList.offer("The student is as it was opened", goBack, "student");
    } catch (error) {
      setUi({ notice: faultNotice(error) });
    }
  }

  /**
   * The student, and the one that it was opened as: what is kept of them. Null: that of the library `shipped`, which
   * says nothing of a student of the user's own.
   */
  studentState(): { student: Opened | null; opened: Opened | null; shipped: Shipped } {
    const opened = this.#openedStudent;
    return { student: this.#folders.student, opened, shipped: opened?.shipped ?? this.#shipped };
  }

  /** Takes the student of an earlier visit, which is read while models wait; null leaves the one that is there. */
  async restoreStudent(read: Promise<ReturnType<Models["studentState"]> | null>): Promise<Opened | null> {
    const taking = (async () => {
      const state = await read;
      if (state === null || state.student === null) return null;
      const opened = state.opened ?? (await this.#shippedOf("student", state.shipped));
      // What the user opened since stays.
      if (this.source("student") !== this.#shipped) return null;
      this.#openedStudent = opened;
      this.#setFolder("student", state.student);
      if (this.#tokenizers !== null) await this.ensureTokenizers();
      return state.student;
    })();
    this.#restoring = taking.catch(() => undefined);
    return taking;
  }

  /**
   * Where each role's model is from; the sample's until another is opened. Those of another shipped library are models
   * like any other: a worker has no copy of them.
   */
  origins(): Record<Role, ModelOrigin> {
    const of = (role: Role): ModelOrigin => {
      const origin = this.#originOf(role);
      const { shipped: of = this.#shipped } = this.#folders[role] ?? {};
      return origin === "sample" && of !== "sample" ? "own" : origin;
    };
    return { teacher: of("teacher"), student: of("student") };
  }

  /** A role's folder as a run elsewhere reads it: the student's with the tokenizer, neither with optimizer state. */
  async folder(role: Role): Promise<FolderFiles> {
    const student = role === "student" ? await this.studentFolder({ optimizer: false }) : null;
    return student ?? (await this.#folderOf(role)).folder;
  }

  /** The student's folder with its tokenizer, once it is kept; without optimizer state unless it is asked for. */
  async studentFolder(options: { optimizer: boolean }): Promise<FolderFiles | null> {
    await this.#keeping?.folder;
    if (this.#folders.student === null) return null;
    const { folder, tokenizer } = this.#folders.student;
    const files = new Map(folder.files);
    if (!options.optimizer) files.delete("optimizer.safetensors");
    return withTokenizer({ name: "student", files }, tokenizer);
  }
}

/** What is asked for under a key, asked once; again where it failed. */
function askedOnce<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const before = known.get(key);
  if (before !== undefined) return before;
  const asked = ask();
  known.set(key, asked);
  asked.catch(() => known.delete(key));
  return asked;
}

export const models = new Models(page);
