/** The compute worker: `ComputeService` and training runs behind comlink. */
import "../../base/without-eval.ts";
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
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { blobFolder, type FolderFiles } from "../../data/files/blob-folder.ts";
import type { LibraryApi } from "../../data/library/library.worker.ts";
import { type RoleTexts, RoleTokenizers } from "../../data/library/role-tokenizers.ts";
import { connectGames } from "../games/connected-games.ts";
import type { BatchView } from "../runs/batch.ts";
import type { DeviceState, Role } from "../store.ts";
import {
  type ComputeChoice,
  ComputeService,
  type ModelsJob,
  type ModelsPlan,
  type OnWork,
  type OpenOptions,
  type Wanted,
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

installErrorTransfer();

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

const service = new ComputeService();
let library: Comlink.Remote<LibraryApi> | null = null;
let tokenizers: RoleTokenizers | null = null;
let stop: AbortController | null = null;
let batch: BatchTokens | null = null;
/** The run that it is of, and what decodes it. */
let batchOf: { id: string; codec: TextCodec } | null = null;
let measuring: AbortController | null = null;

function opened<T>(value: T | null, what: string): T {
  if (value === null) throw new Error(`the compute worker has no ${what}`);
  return value;
}

/** The student's tokenizer writes what a run reads. Throws `InputError` when the teacher that it asks reads other ids. */
function trainingCodec({ endOfTurn, method }: Pick<TrainingPlan, "endOfTurn" | "method">): TextCodec {
  const roles = opened(tokenizers, "tokenizers");
  const sameIds = teacherOf(method) !== "named" || roles.student === roles.teacher;
  const unshared = sameIds ? [] : [roles.training()];
  return textCodec(roles.student, { unshared, endOfTurn });
}

const api = {
  start: (choice: ComputeChoice): Promise<DeviceState> => service.start(choice),

  device: () => service.device(),

  probeDevice: () => service.probe(),

  /** The library worker's own port, so that records need not pass through the page. */
  connect(port: MessagePort): void {
    library = Comlink.wrap<LibraryApi>(port);
  },

  /** The games worker's own port, so that episodes need not pass through the page. */
  connectGames: (port: MessagePort): void => connectGames(port),

  setTokenizers(texts: RoleTexts): void {
    tokenizers = new RoleTokenizers(texts);
  },

  async load(
    role: Role,
    folder: FolderFiles,
    options: OpenOptions,
    onWork: OnWork,
  ): Promise<{ info: EngineInfo; steps: number }> {
    const loaded = await service.load(role, folder, options, onWork);
    if (tokenizers !== null) {
      checkTokenizerFits(tokenizers[role], { name: loaded.info.model, vocabulary: loaded.info.vocabulary });
    }
    return loaded;
  },

  planScoring: (job: ModelsJob, lengths: Record<Role, RunLengths>) => service.plan(job, lengths),

  planOther: (...asked: Parameters<ComputeService["planOther"]>) => service.planOther(...asked),

  /** Measures what the run will read, and plans its memory. A new call ends the one before with an AbortError. */
  async planTraining(job: ModelsJob, run: PlanToMeasure): Promise<ModelsPlan & { work: RunWork }> {
    measuring?.abort();
    const mine = new AbortController();
    measuring = mine;
    const { work, ...lengths } = await trainingLengths(run, {
      records: opened(library, "library").tasks,
      codec: trainingCodec(run),
      signal: mine.signal,
    });
    return { ...(await service.plan(job, lengths)), work };
  },

  takePasses: (passes: ModelsPlan["passes"]) => service.takePasses(passes),

  checkModel: (folder: FolderFiles) => service.checkModel(folder),
  loadOther: (folder: FolderFiles, weights: WeightChoice, onWork: OnWork) =>
    service.loadOther(folder, weights, onWork),

  closeOther: () => service.closeOther(),
  closeTeacher: () => service.closeTeacher(),

  score: (role: Role | "other", requests: ScoreRequest[], wanted: Wanted, onWork: OnWork) =>
    service.score(role, requests, wanted, onWork),

  headLogprobs: (...asked: Parameters<ComputeService["headLogprobs"]>) => service.headLogprobs(...asked),

  /** Plays what is missing of a collection or an evaluation. */
  playLive(run: LiveRunAsk, emit: LiveRunWork["emit"]): Promise<void> {
    const { role } = run.plan;
    const codec = textCodec(opened(tokenizers, "tokenizers")[role]);
    return service.run((signal) => playLiveRun({ run, sampler: service.writer(role), codec, signal, emit }));
  },

  /**
   * Draws a model's response to the present decision of an episode that is played in the page.
   *
   * @throws InputError for a prompt over the environment's limit
   */
  async respond(
    role: Role,
    { task, prompt, evidenceIds, decision, seed }: PresentDecision,
  ): Promise<Written> {
    const codec = textCodec(opened(tokenizers, "tokenizers")[role]);
    const { message, earlier } = prompt;
    const place = { episode: task.episode, decision };
    const { ids, cut } =
      evidenceIds === null
        ? codec.prompt({ prompt: message, earlier }, task.environment, place)
        : { ids: evidenceIds, cut: 0 };
    const request = drawRequest(task, ids, seed, codec);
    return writtenBy({ message, cut, request }, await service.sample(role, request), codec);
  },

  /**
   * Does a small part of a run, to tell its time. The student is reopened from its folder and given back: what was
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
    return service.run(async (signal) => {
      const model = await service.openProbed(student, signal);
      let frozen: Teacher | null = null;
      try {
        if (own !== null) frozen = await service.openOwn(own, signal);
        return await probeTraining(run, {
          records: opened(library, "library").tasks,
          codec: trainingCodec(run),
          teacher: frozen ?? service.model("teacher"),
          student: model,
          signal,
          tell,
        });
      } finally {
        frozen?.dispose();
        model.dispose();
      }
    });
  },

  /**
   * Trains the student. Resolves to its folder, optimizer state included, when it ends or is stopped.
   *
   * @param own the frozen teacher where it is not the one that is open
   */
  train(plan: TrainingPlan, own: FolderFiles | null, emit: (event: RunEvent) => void) {
    stop = new AbortController();
    batch = null;
    const codec = trainingCodec(plan);
    batchOf = { id: plan.id, codec };
    const stopSignal = stop.signal;
    return service.run(async (signal) => {
      let frozen = own === null ? null : await service.openOwn(own, signal);
      const teacher = frozen ?? (teacherOf(plan.method) === "none" ? null : service.model("teacher"));
      const { student: taken, start } = service.takeStudent();
      const { student, folder, finished } = await runTraining({
        plan,
        records: opened(library, "library").tasks,
        codec,
        teacher,
        student: taken,
        start,
        reopen: async () => {
          const open = await service.reopen();
          if (own === null) return open;
          frozen = await service.openOwn(own, signal);
          return frozen;
        },
        openStudent: (checkpoint) =>
          checkpoint === null
            ? service.openStudent(blobFolder(start), "continue")
            : service.openStudent(checkpoint, "require"),
        signal,
        stop: stopSignal,
        emit,
        onBatch: (latest) => {
          batch = latest;
        },
      }).finally(() => frozen?.dispose());
      const { steps } = service.keepStudent(student, folder);
      return { folder, steps, finished };
    });
  },

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
    const openFrozen = (signal: AbortSignal) => (own === null ? null : service.openOwn(own, signal));
    return service.run(async (signal) => {
      let frozen = await openFrozen(signal);
      try {
        await trainCell({
          ...cell,
          records: opened(library, "library").tasks,
          codec: trainingCodec(cell.plan),
          teacher: frozen ?? (teacherOf(method) === "none" ? null : service.model("teacher")),
          student: await service.openProbed(parent, signal),
          start: parent,
          reopen: async () => {
            const open = await service.reopen();
            frozen = await openFrozen(signal);
            return frozen ?? open;
          },
          openStudent: (checkpoint) =>
            checkpoint === null
              ? service.openProbed(parent, signal)
              : service.openStudent(checkpoint, "require"),
          signal,
          stop: new AbortController().signal,
          emit,
          onBatch: () => undefined,
        });
      } finally {
        frozen?.dispose();
      }
    });
  },

  /** The tokens of the latest step, with their texts; null before the first. */
  latestBatch(id: string): BatchView | null {
    if (batch === null || batchOf?.id !== id) return null;
    const { codec } = batchOf;
    const { step, decisions } = batch;
    return {
      step,
      decisions: decisions.map((decision) => ({
        ...decision,
        pieces: decision.ids.map((id) => codec.decode([id])),
      })),
    };
  },

  /** Ends a training run after its present step. */
  stop(): void {
    stop?.abort();
  },

  abort: () => service.abort(),
};

export type ComputeApi = typeof api;

Comlink.expose(api);
