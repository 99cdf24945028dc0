/** The compute worker: `ComputeService` and training runs behind comlink. */
import * as Comlink from "comlink";
import type { EngineInfo, ScoreRequest } from "../../core/ports.ts";
import { checkTokenizerFits, loadTokenizer, type Tokenizer, type TokenizerTexts } from "../../text/index.ts";
import { BlobFolderWriter, type FolderFiles } from "../library/blob-folder.ts";
import type { DeviceState, Role } from "../state/store.ts";
import { ComputeService, type OnWork } from "./compute-service.ts";
import type { LibraryApi } from "./library.worker.ts";
import { type RunEvent, runTraining, type TrainingPlan } from "./training-run.ts";
import { installErrorTransfer } from "./transfer.ts";

installErrorTransfer();

const service = new ComputeService();
let library: Comlink.Remote<LibraryApi> | null = null;
let tokenizer: Tokenizer | null = null;
let stop: AbortController | null = null;

function opened<T>(value: T | null, what: string): T {
  if (value === null) throw new Error(`the compute worker has no ${what}`);
  return value;
}

const api = {
  start: (choice: "webgpu" | "cpu"): Promise<DeviceState> => service.start(choice),

  /** The library worker's own port, so that records need not pass through the page. */
  connect(port: MessagePort): void {
    library = Comlink.wrap<LibraryApi>(port);
  },

  setTokenizer(texts: TokenizerTexts): void {
    tokenizer = loadTokenizer(texts);
  },

  async load(role: Role, folder: FolderFiles, onWork: OnWork): Promise<{ info: EngineInfo; steps: number }> {
    const loaded = await service.load(role, folder, onWork);
    if (tokenizer !== null) {
      checkTokenizerFits(tokenizer, { name: loaded.info.model, vocabulary: loaded.info.vocabulary });
    }
    return loaded;
  },

  score: (role: Role, requests: ScoreRequest[], onWork: OnWork) => service.score(role, requests, onWork),

  /** Trains the student. Resolves to its folder, optimizer state included, when it ends or is stopped. */
  train(plan: TrainingPlan, emit: (event: RunEvent) => void) {
    stop = new AbortController();
    const stopSignal = stop.signal;
    return service.run(async (signal) => {
      const teacher = service.model("teacher");
      const student = service.takeStudent();
      const { finished } = await runTraining({
        plan,
        records: opened(library, "library"),
        tokenizer: opened(tokenizer, "tokenizer"),
        teacher,
        student,
        signal,
        stop: stopSignal,
        emit,
      });
      service.keepStudent(student);
      const writer = new BlobFolderWriter("student");
      await student.save(writer, { optimizer: true });
      return { folder: opened(writer.folder, "saved student"), steps: student.steps, finished };
    });
  },

  /** Ends a training run after its present step. */
  stop(): void {
    stop?.abort();
  },

  abort: () => service.abort(),
};

export type ComputeApi = typeof api;

Comlink.expose(api);
