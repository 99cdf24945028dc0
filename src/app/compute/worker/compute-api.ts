/** What the page asks of the compute worker: `ComputeService` with the records and tokenizers that a run needs. */
import * as Comlink from "comlink";
import type { DecisionPrompt } from "../../../core/environment/prompt/chat.ts";
import {
  type BatchTokens,
  drawRequest,
  type PlayTask,
  type RunProbe,
  type RunWork,
  type TextCodec,
  type Written,
  writtenBy,
} from "../../../core/loop/index.ts";
import { teacherOf } from "../../../core/method/index.ts";
import type { EngineInfo, ScoreRequest } from "../../../core/ports.ts";
import type { RunLengths } from "../../../engine/native/index.ts";
import type { WeightChoice } from "../../../tensor/index.ts";
import { checkTokenizerFits, textCodec } from "../../../text/index.ts";
import { telling } from "../../base/worker/telling.ts";
import { blobFolder, type FolderFiles } from "../../data/files/blob-folder.ts";
import { type RoleTexts, RoleTokenizers } from "../../data/library/role-tokenizers.ts";
import type { LibraryApi } from "../../data/library-client.ts";
import { connectGames } from "../games/internal/connected-games.ts";
import type { BatchView } from "../runs/internal/batch.ts";
import type { DeviceState, Role } from "../store.ts";
import type {
  ComputeChoice,
  ComputeService,
  ModelsPlan,
  ModelsWorkload,
  OnWork,
  OpenOptions,
  Wanted,
} from "./compute-service.ts";
import { type LiveRunAsk, type LiveRunWork, playLiveRun } from "./live-run.ts";
import type { Teacher } from "./scoring-engines.ts";
import { type CellAsk, type CellEvent, trainCell } from "./student-cell.ts";
import {
  type PlanToMeasure,
  type PlanToProbe,
  probeTraining,
  type RunEvent,
  runTraining,
  type TrainingPlan,
  trainingLengths,
} from "./training-run.ts";

/** A decision that a model is asked for. */
export interface PresentDecision {
  task: Pick<PlayTask, "episode" | "environment" | "maxTokens" | "sampling">;
  prompt: DecisionPrompt;
  /** The prompt with the evidence in it, as the teacher reads it; null where there is none. */
  evidenceIds: readonly number[] | null;
  /** From 0. */
  decision: number;
  seed: number;
}

function opened<T>(value: T | null, what: string): T {
  if (value === null) throw new Error(`the compute worker has no ${what}`);
  return value;
}

export class ComputeApi {
  readonly #service: ComputeService;
  #library: Pick<Comlink.Remote<LibraryApi>, "tasks"> | null = null;
  #tokenizers: RoleTokenizers | null = null;
  #stop: AbortController | null = null;
  #batch: BatchTokens | null = null;
  /** The run that it is of, and what decodes it. */
  #batchOf: { id: string; codec: TextCodec } | null = null;
  #measuring: AbortController | null = null;

  constructor(service: ComputeService) {
    this.#service = service;
  }

  start(choice: ComputeChoice): Promise<DeviceState> {
    return this.#service.start(choice);
  }

  device() {
    return this.#service.device();
  }

  probeDevice() {
    return this.#service.probe();
  }

  /** The library worker's own port, so that records need not pass through the page. */
  connect(port: MessagePort): void {
    this.#library = Comlink.wrap<LibraryApi>(port);
  }

  /** The games worker's own port, so that episodes need not pass through the page. */
  connectGames(port: MessagePort): void {
    connectGames(port);
  }

  setTokenizers(texts: RoleTexts): void {
    this.#tokenizers = new RoleTokenizers(texts);
  }

  async load(
    role: Role,
    folder: FolderFiles,
    options: OpenOptions,
    onWork: OnWork,
  ): Promise<{ info: EngineInfo; steps: number }> {
    const loaded = await this.#service.load(role, folder, options, onWork);
    if (this.#tokenizers !== null) {
      checkTokenizerFits(this.#tokenizers[role], {
        name: loaded.info.model,
        vocabulary: loaded.info.vocabulary,
      });
    }
    return loaded;
  }

  planScoring(job: ModelsWorkload, lengths: Record<Role, RunLengths>) {
    return this.#service.plan(job, lengths);
  }

  planOther(...asked: Parameters<ComputeService["planOther"]>) {
    return this.#service.planOther(...asked);
  }

  /** Measures what the run will read, and plans its memory. A new call ends the one before with an AbortError. */
  async planTraining(job: ModelsWorkload, run: PlanToMeasure): Promise<ModelsPlan & { work: RunWork }> {
    this.#measuring?.abort();
    const mine = new AbortController();
    this.#measuring = mine;
    const { work, ...lengths } = await trainingLengths(run, {
      records: opened(this.#library, "library").tasks,
      codec: this.#trainingCodec(run),
      signal: mine.signal,
    });
    return { ...(await this.#service.plan(job, lengths)), work };
  }

  takePasses(passes: ModelsPlan["passes"]): void {
    this.#service.takePasses(passes);
  }

  checkModel(folder: FolderFiles) {
    return this.#service.checkModel(folder);
  }

  loadOther(folder: FolderFiles, weights: WeightChoice, onWork: OnWork) {
    return telling(onWork, (tell) => this.#service.loadOther(folder, weights, tell));
  }

  closeOther(): void {
    this.#service.closeOther();
  }

  closeTeacher(): void {
    this.#service.closeTeacher();
  }

  score(role: Role | "other", requests: ScoreRequest[], wanted: Wanted, onWork: OnWork) {
    return telling(onWork, (tell) => this.#service.score(role, requests, wanted, tell));
  }

  headLogprobs(...asked: Parameters<ComputeService["headLogprobs"]>) {
    return this.#service.headLogprobs(...asked);
  }

  /** Plays what is missing of a collection or an evaluation. */
  playLive(run: LiveRunAsk, emit: LiveRunWork["emit"]): Promise<void> {
    const { role } = run.plan;
    const codec = textCodec(opened(this.#tokenizers, "tokenizers")[role]);
    return telling(emit, (tell) =>
      this.#service.run((signal) =>
        playLiveRun({ run, sampler: this.#service.writer(role), codec, signal, emit: tell }),
      ),
    );
  }

  /**
   * Draws a model's response to the present decision of an episode that is played in the page.
   *
   * @throws InputError for a prompt over the environment's limit
   */
  async respond(
    role: Role,
    { task, prompt, evidenceIds, decision, seed }: PresentDecision,
  ): Promise<Written> {
    const codec = textCodec(opened(this.#tokenizers, "tokenizers")[role]);
    const { message, earlier } = prompt;
    const place = { episode: task.episode, decision };
    const { ids, cut } =
      evidenceIds === null
        ? codec.prompt({ prompt: message, earlier }, task.environment, place)
        : { ids: evidenceIds, cut: 0 };
    const request = drawRequest(task, ids, seed, codec);
    return writtenBy({ message, cut, request }, await this.#service.sample(role, request), codec);
  }

  /**
   * Does a small part of a run to estimate its time. The student is reopened from its folder and given back: what was
   * open in its place is closed.
   *
   * @param own the frozen teacher where it is not the one that is open
   */
  probe(
    student: FolderFiles,
    own: FolderFiles | null,
    run: PlanToProbe,
    tell: (what: string) => void,
  ): Promise<RunProbe> {
    return this.#service.run(async (signal) => {
      const model = await this.#service.openProbed(student, signal);
      let frozen: Teacher | null = null;
      try {
        if (own !== null) frozen = await this.#service.openOwn(own, signal);
        return await probeTraining(run, {
          records: opened(this.#library, "library").tasks,
          codec: this.#trainingCodec(run),
          teacher: frozen ?? this.#service.model("teacher"),
          student: model,
          signal,
          tell,
        });
      } finally {
        frozen?.dispose();
        model.dispose();
      }
    });
  }

  /**
   * Trains the student. Resolves to its folder, optimizer state included, when it ends or is stopped; the folder is null
   * while a large student is still being kept, which `keptStudent` waits for: it can score meanwhile.
   *
   * @param own the frozen teacher where it is not the one that is open
   */
  train(plan: TrainingPlan, own: FolderFiles | null, emit: (event: RunEvent) => void) {
    this.#stop = new AbortController();
    this.#batch = null;
    const codec = this.#trainingCodec(plan);
    this.#batchOf = { id: plan.id, codec };
    const stopSignal = this.#stop.signal;
    const work = (tell: typeof emit) =>
      this.#service.run(async (signal) => {
        let frozen = own === null ? null : await this.#service.openOwn(own, signal);
        const teacher = frozen ?? (teacherOf(plan.method) === "none" ? null : this.#service.model("teacher"));
        const { student: taken, start } = await this.#service.takeStudent();
        const { student, folder, finished } = await runTraining({
          plan,
          records: opened(this.#library, "library").tasks,
          codec,
          teacher,
          student: taken,
          start,
          keepLastBeside: true,
          reopen: async () => {
            const open = await this.#service.reopen();
            if (own === null) return open;
            frozen = await this.#service.openOwn(own, signal);
            return frozen;
          },
          openStudent: (checkpoint) =>
            checkpoint === null
              ? this.#service.openStudent(blobFolder(start), "continue")
              : this.#service.openStudent(checkpoint, "require"),
          signal,
          stop: stopSignal,
          emit: tell,
          onBatch: (latest) => {
            this.#batch = latest;
          },
        }).finally(() => frozen?.dispose());
        const { steps } = this.#service.keepStudent(student, folder);
        return { folder: folder instanceof Promise ? null : folder, steps, finished };
      });
    return telling(emit, work);
  }

  /**
   * The folder of the student that was trained last, optimizer state included, once it is kept.
   *
   * @throws what it could not be kept for: the device was lost meanwhile, say
   */
  keptStudent(): Promise<FolderFiles> {
    return this.#service.keptStudent();
  }

  /**
   * Trains a student of a comparison, from its parent's folder. What was open in its place is closed.
   *
   * @param own the frozen teacher where it is not the one that is open
   */
  trainCell(
    parent: FolderFiles,
    own: FolderFiles | null,
    cell: CellAsk,
    emit: (event: CellEvent) => void,
  ): Promise<void> {
    const { method } = cell.plan;
    const openFrozen = (signal: AbortSignal) => (own === null ? null : this.#service.openOwn(own, signal));
    const work = (tell: typeof emit) =>
      this.#service.run(async (signal) => {
        let frozen = await openFrozen(signal);
        try {
          await trainCell({
            ...cell,
            records: opened(this.#library, "library").tasks,
            codec: this.#trainingCodec(cell.plan),
            teacher: frozen ?? (teacherOf(method) === "none" ? null : this.#service.model("teacher")),
            student: await this.#service.openProbed(parent, signal),
            start: parent,
            reopen: async () => {
              const open = await this.#service.reopen();
              frozen = await openFrozen(signal);
              return frozen ?? open;
            },
            openStudent: (checkpoint) =>
              checkpoint === null
                ? this.#service.openProbed(parent, signal)
                : this.#service.openStudent(checkpoint, "require"),
            signal,
            stop: new AbortController().signal,
            emit: tell,
            onBatch: () => undefined,
          });
        } finally {
          frozen?.dispose();
        }
      });
    return telling(emit, work);
  }

  /** The tokens of the latest step, with their texts; null before the first. */
  latestBatch(id: string): BatchView | null {
    if (this.#batch === null || this.#batchOf?.id !== id) return null;
    const { codec } = this.#batchOf;
    const { step, decisions } = this.#batch;
    return {
      step,
      decisions: decisions.map((decision) => ({
        ...decision,
        pieces: decision.ids.map((id) => codec.decode([id])),
      })),
    };
  }

  /** Ends a training run after its present step. */
  stop(): void {
    this.#stop?.abort();
  }

  abort(): void {
    this.#service.abort();
  }

  /** The student's tokenizer writes what a run reads. Throws `InputError` when the teacher that it asks reads other ids. */
  #trainingCodec({ endOfTurn, method }: Pick<TrainingPlan, "endOfTurn" | "method">): TextCodec {
    const roles = opened(this.#tokenizers, "tokenizers");
    const sameIds = teacherOf(method) !== "named" || roles.student === roles.teacher;
    const unshared = sameIds ? [] : [roles.training()];
    return textCodec(roles.student, { unshared, endOfTurn });
  }
}
