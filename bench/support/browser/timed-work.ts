/** Work that is opened once and timed again and again: the same code in Node and in a page's Web Worker. */
import type { FolderReader, ScoreRequest, Scorer } from "../../../src/core/ports.ts";
import { isWebGpu, ModelScorer } from "../../../src/engine/native/index.ts";
import { AdamW, type Backend } from "../../../src/tensor/index.ts";
import { sizeNamed } from "../options.ts";
import { randomModel } from "../random-model.ts";
import {
  decodingTimes,
  randomPrompts,
  randomSequences,
  type SequenceSizes,
  trainingStep,
} from "../random-work.ts";
import { randomOnnxFolder } from "./onnx-random-model.ts";

/** A model folder, as a path in the repository, and its files. */
export interface ModelFiles {
  path: string;
  files: readonly string[];
}

/** `model`: a size of `QWEN3_SIZES`, given random weights. */
export type Work =
  | { kind: "folder"; model: ModelFiles; requests: ScoreRequest[] }
  | { kind: "onnx"; model: ModelFiles; requests: ScoreRequest[] }
  /** In the format of the products of what was opened before. */
  | ({ kind: "onnx-random"; model: string } & SequenceSizes)
  | ({ kind: "score"; model: string } & SequenceSizes)
  | ({ kind: "step"; model: string } & SequenceSizes)
  | { kind: "decode"; model: string; count: number; prompt: number; tokens: number };

export interface OpenedWork {
  adapter: string;
  software: boolean;
  /** Format of the operands of products. */
  operands: "f32" | "f16";
}

export interface TimedRun {
  seconds: number;
  /** What came out, to be compared between places: log-probabilities, or the norm of the gradient. */
  values: number[];
}

/** Where work is done. */
export interface Place {
  openBackend(): Promise<Backend>;
  folder(model: ModelFiles): FolderReader;
  /** Absent where ONNX Runtime cannot run. */
  openOnnx?(folder: FolderReader): Promise<Scorer>;
}

type Opened = OpenedWork & { run(): Promise<TimedRun>; close(): void };

/** Works that are open in one place, by names that the caller gives. All arguments and results are plain JSON. */
export class TimedWorks {
  readonly #open = new Map<string, Opened>();
  #latest: "f32" | "f16" = "f32";

  constructor(private readonly place: Place) {}

  async open(name: string, work: Work): Promise<OpenedWork> {
    const opened = await this.#start(work);
    this.#open.set(name, opened);
    const { adapter, software, operands } = opened;
    return { adapter, software, operands };
  }

  run(name: string): Promise<TimedRun> {
    return this.#open.get(name)!.run();
  }

  async close(name: string): Promise<void> {
    this.#open.get(name)!.close();
    this.#open.delete(name);
  }

  async #start(work: Work): Promise<Opened> {
    if (work.kind === "onnx")
      return onnxScoring(await this.place.openOnnx!(this.place.folder(work.model)), work.requests, "f32");
    if (work.kind === "onnx-random") {
      const config = sizeNamed(work.model);
      const folder = randomOnnxFolder(config, this.#latest, work.context + work.response);
      const requests = randomSequences(config, work).map((sequence, n) => ({ id: String(n), ...sequence }));
      return onnxScoring(await this.place.openOnnx!(folder), requests, this.#latest);
    }
    const backend = await this.place.openBackend();
    this.#latest = backend.compute;
    const { run, close } = await this.#ours(backend, work);
    return {
      ...{ adapter: backend.description, software: !isWebGpu(backend) || backend.software },
      operands: backend.compute,
      run,
      close: () => {
        close();
        backend.dispose();
      },
    };
  }

  async #ours(
    backend: Backend,
    work: Exclude<Work, { kind: "onnx" | "onnx-random" }>,
  ): Promise<Pick<Opened, "run" | "close">> {
    if (work.kind === "folder") {
      // Kept prefixes would leave nothing to do the second time.
      const scorer = await ModelScorer.open(backend, this.place.folder(work.model), { prefixBytes: 0 });
      return { run: () => timedScoring(scorer, work.requests), close: () => scorer.dispose() };
    }
    const config = sizeNamed(work.model);
    const model = await randomModel(backend, config, work.kind === "step" ? "f32" : backend.compute);
    const close = () => model.dispose();
    if (work.kind === "decode") {
      const prompts = randomPrompts(config, {
        prompt: work.prompt,
        maxTokens: work.tokens,
        temperature: 0,
      });
      return {
        close,
        run: async () => {
          const { tokens, firstLogprobs } = await decodingTimes(model, prompts(work.count));
          return { seconds: tokens / 1000, values: firstLogprobs };
        },
      };
    }
    const sequences = randomSequences(config, work);
    if (work.kind === "score")
      return {
        close,
        run: () => timed(async () => (await model.score(sequences)).flatMap((row) => [...row])),
      };
    const optimizer = new AdamW(model);
    return {
      close: () => {
        optimizer.dispose();
        close();
      },
      run: () =>
        timed(async () => {
          const { gradNorm } = await trainingStep(model, optimizer, sequences);
          // The update itself is only encoded by then.
          await backend.sync();
          return [gradNorm];
        }),
    };
  }
}

const onnxScoring = (scorer: Scorer, requests: readonly ScoreRequest[], operands: "f32" | "f16"): Opened => ({
  ...{ adapter: "ONNX Runtime's", software: false, operands },
  run: () => timedScoring(scorer, requests),
  close: () => scorer.dispose(),
});

async function timed(work: () => Promise<number[]>): Promise<TimedRun> {
  const start = performance.now();
  const values = await work();
  return { seconds: (performance.now() - start) / 1000, values };
}

const timedScoring = (scorer: Scorer, requests: readonly ScoreRequest[]): Promise<TimedRun> =>
  timed(async () => (await scorer.score(requests)).flatMap(({ logprobs }) => [...logprobs]));
