import type { InferenceSession, Tensor } from "onnxruntime-web";
import { InputError } from "../../core/errors.ts";
import type { EngineInfo, FolderReader, ScoreRequest, Scorer, WorkOptions } from "../../core/ports.ts";
import { findOnnxExport, type OnnxExport } from "./export.ts";
import { type DecoderGraph, readDecoderGraph } from "./graph.ts";
import { fromHalf } from "./log-softmax.ts";
import { type OnnxScores, ResponseRows, type Wanted } from "./response-rows.ts";

/** What is used of the package, so that a page loads its megabytes of WebAssembly only when an export is opened. */
export type OnnxRuntime = Pick<typeof import("onnxruntime-web"), "InferenceSession" | "Tensor">;

export interface OpenOnnxOptions extends WorkOptions {
  /** `webgpu`, or `cpu` for WebAssembly. */
  device?: "webgpu" | "cpu";
  /** Adapter as reported; shown beside figures. */
  adapter?: string;
  /** Which graph, where a folder has several. */
  model?: string;
  /** Most prompt tokens of one run. Default 512, fewer where their logits would pass 256 MiB. */
  prefill?: number;
}

/** Logits of one run: the runtime gives those of every token that went in. */
const MOST_LOGIT_BYTES = 2 ** 28;
const PREFILL = 512;
/** One file goes to the runtime as one array. */
const LARGEST_FILE = 2 ** 31 - 1;

/**
 * A frozen model that ONNX Runtime computes: a check on our own engine, and a way to use exports that people have.
 *
 * The prompt goes through in chunks whose keys and values stay on the device; only the logits of response rows are
 * read back. The runtime wants each file in memory whole while the model is opened.
 */
export class OnnxScorer implements Scorer {
  readonly info: EngineInfo;

  private constructor(
    private readonly ort: OnnxRuntime,
    private readonly session: InferenceSession,
    private readonly graph: DecoderGraph,
    private readonly files: OnnxExport,
    private readonly prefill: number,
    info: Omit<EngineInfo, "dtype" | "vocabulary">,
  ) {
    this.info = {
      ...info,
      dtype: `${graph.cacheType === "float16" ? "f16" : "f32"} cache (ONNX Runtime)`,
      vocabulary: graph.vocabulary ?? 0,
    };
  }

  /** Opens an export (see `findOnnxExport`). Every fault of it is an InputError that names the file. */
  static async open(
    ort: OnnxRuntime,
    folder: FolderReader,
    options: OpenOnnxOptions = {},
  ): Promise<OnnxScorer> {
    const { device = "webgpu", adapter = "", signal, onProgress } = options;
    const files = await findOnnxExport(folder, options.model);
    const place = `${folder.name}/${files.model}`;
    const names = [files.model, ...files.data];
    const sizes = await Promise.all(names.map((name) => folder.size(name)));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const loaded: Uint8Array[] = [];
    let done = 0;
    for (const [i, name] of names.entries()) {
      signal?.throwIfAborted();
      const size = sizes[i]!;
      if (size > LARGEST_FILE)
        throw new InputError(
          `${size} bytes in one file; ONNX Runtime in a page takes at most ${LARGEST_FILE}: export it with smaller data files or quantized weights`,
          { file: `${folder.name}/${name}` },
        );
      loaded.push(await folder.read(name, 0, size));
      done += size;
      onProgress?.({ done, total, unit: "bytes" });
    }
    const [graphBytes, ...data] = loaded;
    const onDevice = device === "webgpu";
    let session: InferenceSession;
    try {
      session = await ort.InferenceSession.create(graphBytes!, {
        executionProviders: [onDevice ? "webgpu" : "wasm"],
        externalData: data.map((bytes, i) => ({ path: baseName(files.data[i]!), data: bytes })),
        ...(onDevice && { preferredOutputLocation: "gpu-buffer" as const }),
        // Its warnings are for those who write exporters.
        logSeverityLevel: 3,
      });
    } catch (error) {
      throw new InputError(`ONNX Runtime cannot open this export: ${oneLine(error)}`, { file: place });
    }
    try {
      const graph = readDecoderGraph(session, files.headSize, place);
      const rowBytes = 4 * (graph.vocabulary ?? 2 ** 18);
      const prefill = Math.max(
        1,
        Math.min(options.prefill ?? PREFILL, Math.floor(MOST_LOGIT_BYTES / rowBytes)),
      );
      return new OnnxScorer(ort, session, graph, files, prefill, {
        model: folder.name,
        device,
        adapter,
        parameters: null,
      });
    } catch (error) {
      await session.release();
      throw error;
    }
  }

  /** Longest sequence that the model takes, prompt and response together, in tokens. */
  get maxPositions(): number {
    return this.files.maxPositions ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Natural-log probabilities at temperature 1. Progress counts tokens.
   *
   * @param options `hidden`: what `headLogprobs` needs, here the log-probabilities of the whole vocabulary
   */
  async score(requests: readonly ScoreRequest[], options: Wanted & WorkOptions = {}): Promise<OnnxScores[]> {
    const results: OnnxScores[] = [];
    const total = requests.reduce((sum, r) => sum + r.promptIds.length + r.responseIds.length, 0);
    let done = 0;
    for (const [n, request] of requests.entries()) {
      this.#check(request, n);
      const scores = await this.#one(request, options, (tokens) =>
        options.onProgress?.({ done: done + tokens, total, unit: "tokens" }),
      );
      done += request.promptIds.length + request.responseIds.length;
      options.onProgress?.({ done, total, unit: "tokens" });
      results.push({ id: request.id, ...scores });
    }
    return results;
  }

  /** [ids] log-probabilities of single tokens, each under a row of `hidden` [ids · vocabulary]: no pass is made. */
  async headLogprobs(hidden: Float32Array, ids: readonly number[]): Promise<Float32Array> {
    const vocabulary = hidden.length / ids.length;
    // A token of another model's larger vocabulary is never written.
    return Float32Array.from(ids, (id, i) =>
      id < vocabulary ? hidden[i * vocabulary + id]! : Number.NEGATIVE_INFINITY,
    );
  }

  dispose(): void {
    void this.session.release();
  }

  #check({ promptIds, responseIds }: ScoreRequest, index: number): void {
    const place = { file: this.info.model };
    if (promptIds.length === 0)
      throw new InputError(`sequence ${index + 1} has an empty prompt; one token is needed`, place);
    const length = promptIds.length + responseIds.length;
    if (length > this.maxPositions)
      throw new InputError(
        `sequence ${index + 1} has ${length} tokens, the model takes ${this.maxPositions}`,
        place,
      );
    const limit = this.graph.vocabulary ?? Number.POSITIVE_INFINITY;
    for (const ids of [promptIds, responseIds])
      for (const id of ids)
        if (!Number.isInteger(id) || id < 0 || id >= limit)
          throw new InputError(
            `token id ${id} of sequence ${index + 1} is not in the vocabulary of ${limit}`,
            place,
          );
  }

  async #one(
    { promptIds, responseIds }: ScoreRequest,
    { signal, ...wanted }: Wanted & WorkOptions,
    onTokens: (tokens: number) => void,
  ): Promise<Omit<OnnxScores, "id">> {
    const rows = new ResponseRows(responseIds, wanted, this.info.model);
    if (responseIds.length === 0) return rows.scores;
    const ids = [...promptIds, ...responseIds.slice(0, -1)];
    /** The row that predicts the first response token. */
    const first = promptIds.length - 1;
    const cache = new Map<string, Tensor>();
    try {
      for (const { past } of this.graph.cache) cache.set(past, this.#empty());
      let at = 0;
      while (at < ids.length) {
        signal?.throwIfAborted();
        const end = Math.min(at < first ? first : ids.length, at + this.prefill);
        const logits = await this.#advance(ids.slice(at, end), at, cache);
        try {
          if (at >= first) await this.#read(logits, at - first, rows);
        } finally {
          logits.dispose();
        }
        at = end;
        onTokens(at);
      }
      return rows.scores;
    } finally {
      for (const tensor of cache.values()) tensor.dispose();
    }
  }

  /** Runs tokens at positions at, at+1, … and leaves their keys and values in `cache`. Returns the logits [1,n,V]. */
  async #advance(ids: readonly number[], at: number, cache: Map<string, Tensor>): Promise<Tensor> {
    const { Tensor } = this.ort;
    const whole = (values: readonly number[]) =>
      new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
    const positions = Array.from(ids, (_, i) => at + i);
    const feeds: Record<string, Tensor> = {
      input_ids: whole(ids),
      attention_mask: whole(new Array<number>(at + ids.length).fill(1)),
      ...(this.graph.takesPositions && { position_ids: whole(positions) }),
      ...Object.fromEntries(cache),
    };
    let outputs: Awaited<ReturnType<InferenceSession["run"]>>;
    try {
      outputs = await this.session.run(feeds);
    } catch (error) {
      throw new Error(`ONNX Runtime failed at token ${at + 1}: ${oneLine(error)}`);
    }
    for (const { past, present } of this.graph.cache) {
      cache.get(past)?.dispose();
      cache.set(past, outputs[present] as Tensor);
    }
    return outputs["logits"] as Tensor;
  }

  async #read(logits: Tensor, from: number, to: ResponseRows): Promise<void> {
    const [, rows = 0, vocabulary = 0] = logits.dims;
    const data = await logits.getData();
    const values = data instanceof Float32Array ? data : fromHalf(new Uint16Array(bufferOf(data)));
    for (let row = 0; row < rows; row++)
      to.add(from + row, values.subarray(row * vocabulary, (row + 1) * vocabulary));
  }

  #empty(): Tensor {
    const { cacheType, keyValueHeads, headSize } = this.graph;
    const data = cacheType === "float32" ? new Float32Array(0) : new Uint16Array(0);
    return new this.ort.Tensor(cacheType, data, [1, keyValueHeads, 0, headSize]);
  }
}

/** The bytes of f16 data, which some engines give as Uint16Array and newer ones as Float16Array. */
function bufferOf(data: Tensor.DataType): ArrayBuffer {
  if (!ArrayBuffer.isView(data)) throw new Error("the logits are not numbers");
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").trim();
}
