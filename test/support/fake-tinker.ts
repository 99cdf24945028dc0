/**
 * A server on loopback that answers as SkyRL 0.3.0's server with Tinker's API does: its keys and messages were recorded
 * there. Its numbers come from our plain TypeScript model, a LoRA adapter over it by the chain rule, and an AdamW that is
 * written here as optax has it. `npm run conformance -- skyrl` holds it to the real one.
 */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { uniforms } from "../../src/core/seeded.ts";
import { openFolder } from "../../src/engine/native/node-folder.ts";
import { createReferenceBackend, LanguageModel } from "../../src/tensor/index.ts";
import { writeSafetensors } from "../../src/tensor/safetensors.ts";

/** SkyRL's, which its API does not let choose. */
const ALPHA = 32;
const ADAPTED = /(self_attn\.[qkvo]_proj|mlp\.(gate|up|down)_proj)\.weight$/;

/** What becomes of a request in place of its answer. */
export type TinkerFault =
  /** It is carried out, and its answer is lost. */
  | "lost"
  /** The server is started again before it. */
  | "restart"
  /** It is answered, and the server is gone. */
  | "gone"
  | { status: number; detail: string };

export interface FakeTinkerOptions {
  /** Folder of the base model. */
  base: string;
  /** As the capabilities name it. */
  name?: string;
  /** A mean over sequences and over their tokens (SkyRL's JAX backend), or sums (FSDP, Megatron). */
  gradient?: "mean" | "sum" | "mean of all tokens";
  /** A training request with the number of an earlier one is that one, as in later versions. */
  sameNumberIsSame?: boolean;
  /** Clips gradients at 1 and has β, ε and weight decay of its own. */
  ownOptimizer?: boolean;
  /** Added to each log-probability: a model that is computed wrongly. */
  error?: number;
  /** A step at a learning rate of 0 is taken at this one. */
  atRateZero?: number;
  /** Added to each log-probability once more with each `/forward`, and with every second one. */
  drift?: number;
  noise?: number;
  /** Where gradients are means: the most tokens that a sequence's mean counts. */
  countsAtMost?: number;
  /** First factors of a new adapter, by PEFT's names, in place of random ones. */
  adapter?: ReadonlyMap<string, Float32Array>;
  /** Deletes checkpoints, as later versions do. */
  deletes?: boolean;
  /** Polls of each future that are told to come again. */
  late?: number;
  /** Asked before each request but polls and heartbeats; `count` counts those of the route from 1. */
  fault?: (route: string, count: number) => TinkerFault | null;
}

interface Tensor {
  shape: readonly number[];
  values: Float64Array;
}

interface Model {
  rank: number;
  /** What is trained: parameters, or the factors of adapters. */
  trained: Map<string, Tensor>;
  moments: Map<string, { m: Float64Array; v: Float64Array }>;
  count: number;
  /** Since the last step. */
  pending: Datum[];
  /** Number of a request → its future. */
  numbers: Map<number, string>;
}

interface Datum {
  model_input: { chunks: { tokens: number[] }[] };
  loss_fn_inputs: Record<
    "target_tokens" | "weights" | "logprobs" | "advantages",
    { data: number[] } | undefined
  >;
}

/** The keys of all requests; each has some of them. */
interface Body {
  request_id: string;
  base_model: string;
  lora_config: { rank: number; seed: number };
  model_id: string;
  seq_id: number;
  forward_input: { data: Datum[] };
  forward_backward_input: { data: Datum[] };
  adam_params: Adam;
  path?: string;
  sampling_session_id: string;
  prompt: { chunks: { tokens: number[] }[] };
  sampling_params: { max_tokens: number; temperature: number; seed: number; stop: number[] };
}

interface Result {
  status: number;
  json: unknown;
}

export class FakeTinker {
  /** Routes in the order in which they were asked, without polls and heartbeats. */
  readonly asked: string[] = [];
  readonly #counts = new Map<string, number>();
  readonly #polls = new Map<string, number>();
  #forwards = 0;
  #models = new Map<string, Model>();
  #samplers = new Map<string, string>();
  #futures = new Map<string, Result>();
  readonly #kept = new Map<string, Omit<Model, "pending" | "numbers">>();
  readonly #exports = new Map<string, Buffer>();
  #next = 0;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly options: FakeTinkerOptions,
    private readonly model: LanguageModel,
    private readonly base: ReadonlyMap<string, Tensor>,
  ) {}

  url = "";
  close: () => Promise<void> = async () => undefined;

  static async start(options: FakeTinkerOptions): Promise<FakeTinker> {
    const model = await LanguageModel.load(createReferenceBackend(), openFolder(options.base));
    const base = new Map<string, Tensor>();
    for (const [name, t] of model.parameters)
      base.set(name, { shape: t.shape, values: Float64Array.from(await model.backend.read(t)) });
    const fake = new FakeTinker(options, model, base);
    const server = createServer((request, response) => void fake.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    fake.close = () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    return fake;
  }

  /** As after a kill: checkpoints are there, models and what was asked for are not. */
  restart(): void {
    this.#models = new Map();
    this.#futures = new Map();
  }

  /** Models that are loaded. */
  get loaded(): number {
    return this.#models.size;
  }

  /** Paths of the checkpoints that it keeps. */
  get kept(): string[] {
    return [...this.#kept.keys()];
  }

  /** Weights of a model as they are now, the adapter added; of the only one that is loaded when no id is given. */
  weights(id?: string): Map<string, Float64Array> {
    const model = id === undefined ? [...this.#models.values()].at(-1)! : this.#models.get(id)!;
    return new Map([...this.base].map(([name, tensor]) => [name, this.#effective(model, name, tensor)]));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += chunk;
    const path = (request.url ?? "").replace("/api/v1", "");
    const route = request.method === "DELETE" ? `DELETE ${path}` : path;
    const body: Body = JSON.parse(text === "" ? "{}" : text);
    const quiet = ["/retrieve_future", "/session_heartbeat", "/healthz"].includes(route);
    let fault: TinkerFault | null = null;
    if (!quiet) {
      this.asked.push(route);
      const count = (this.#counts.get(route) ?? 0) + 1;
      this.#counts.set(route, count);
      fault = this.options.fault?.(route, count) ?? null;
    }
    if (fault === "restart") this.restart();
    const refused = fault !== null && typeof fault === "object" ? fault : null;
    const turn = this.#turn.then(() =>
      refused === null
        ? this.#answer(route, body)
        : { status: refused.status, json: { detail: refused.detail } },
    );
    this.#turn = turn.catch(() => undefined);
    const answer = await turn;
    if (fault === "lost") {
      request.socket.destroy();
      return;
    }
    if (answer.json instanceof Buffer) {
      response.writeHead(answer.status, { "Content-Type": "application/octet-stream" });
      response.end(answer.json);
      return;
    }
    response.writeHead(answer.status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(answer.json), () => {
      if (fault === "gone") void this.close();
    });
  }

  async #answer(route: string, body: Body): Promise<Result> {
    const ok = (json: unknown): Result => ({ status: 200, json });
    const missing = (detail: string): Result => ({ status: 404, json: { detail } });
    if (route === "/healthz") return ok({ status: "ok" });
    if (route === "/get_server_capabilities")
      return ok({ supported_models: [{ model_name: this.options.name ?? this.options.base }] });
    if (route === "/create_session")
      return ok({
        type: "create_session",
        ...{ info_message: null, warning_message: null, error_message: null },
        session_id: `session_${this.#id()}`,
      });
    if (route === "/session_heartbeat") return ok({ type: "session_heartbeat" });
    if (route === "/retrieve_future" && this.#isLate(body.request_id))
      return { status: 408, json: { detail: "Timeout waiting for result" } };
    if (route === "/retrieve_future")
      return this.#futures.get(body.request_id) ?? missing("Future not found");
    if (route === "/create_model") return this.#create(body);
    const deleted = /^DELETE \/training_runs\/(\w+)\/checkpoints\/(weights\/[\w-]+)$/.exec(route);
    if (deleted !== null && this.options.deletes === true)
      return this.#kept.delete(`tinker://${deleted[1]}/${deleted[2]}`)
        ? { status: 204, json: Buffer.alloc(0) }
        : missing(`Checkpoint not found: ${deleted[1]}/${deleted[2]}`);
    if (route.startsWith("DELETE ")) return missing("Not Found");
    const archive = /^\/training_runs\/(\w+)\/checkpoints\/([\w-]+)\/download$/.exec(route);
    if (archive !== null) {
      const bytes = this.#exports.get(`${archive[1]}/${archive[2]}`);
      return bytes === undefined ? missing(`Checkpoint not found: ${archive[1]}/${archive[2]}`) : ok(bytes);
    }
    const promised = (id: string) =>
      ok(
        route === "/unload_model"
          ? { request_id: id, model_id: body.model_id }
          : { future_id: id, status: "pending", request_id: id },
      );
    const future = (result: Result): string => {
      const id = this.#id();
      this.#futures.set(id, result);
      return id;
    };
    if (route === "/asample") {
      const model = this.#models.get(this.#samplers.get(body.sampling_session_id) ?? "");
      if (model === undefined) return missing("Sampling session not found");
      return promised(future(ok(await this.#sample(model, body))));
    }
    const { model_id: id, seq_id: number } = body;
    const model = this.#models.get(id);
    if (model === undefined) {
      const detail = `Model ${id} not loaded (likely stale request from previous server)`;
      return promised(future({ status: 400, json: { detail } }));
    }
    const same = model.numbers.get(number);
    if (this.options.sameNumberIsSame === true && same !== undefined) return promised(same);
    const result = await this.#operation(route, id, model, body);
    if (result.status !== 200) return result;
    const made = future(result);
    model.numbers.set(number, made);
    return promised(made);
  }

  #isLate(future: string): boolean {
    const polls = (this.#polls.get(future) ?? 0) + 1;
    this.#polls.set(future, polls);
    return polls <= (this.options.late ?? 0);
  }

  #id(): string {
    this.#next += 1;
    return String(this.#next);
  }

  #create({ base_model, lora_config: { rank, seed } }: Body): Result {
    const id = `model_${this.#id()}`;
    const request_id = this.#id();
    const uniform = uniforms(seed);
    const trained = new Map<string, Tensor>();
    for (const [name, { shape, values }] of this.base) {
      if (rank === 0) trained.set(name, { shape, values: values.slice() });
      else if (ADAPTED.test(name)) {
        const [outs = 0, ins = 0] = shape;
        const given = (factor: string) => this.options.adapter?.get(peftName(name, factor));
        const first = () => (2 * uniform() - 1) * Math.sqrt(6 / ins);
        const a =
          trained.get(firstFactor(name))?.values ??
          Float64Array.from(given("A") ?? { length: rank * ins }, (value) => Number(value ?? first()));
        trained.set(firstFactor(name), { shape: [rank, ins], values: a });
        const b = Float64Array.from(given("B") ?? new Float64Array(outs * rank));
        trained.set(`${name} B`, { shape: [outs, rank], values: b });
      }
    }
    const moments = new Map(
      [...trained].map(([name, { values }]) => [
        name,
        { m: new Float64Array(values.length), v: new Float64Array(values.length) },
      ]),
    );
    this.#models.set(id, { rank, trained, moments, count: 0, pending: [], numbers: new Map() });
    const made = { model_id: id, base_model };
    this.#futures.set(request_id, {
      status: 200,
      json: {
        ...made,
        lora_config: { rank, alpha: ALPHA, seed, train_attn: true, train_mlp: true, train_unembed: false },
      },
    });
    return { status: 200, json: { ...made, lora_config: { rank, seed }, status: "created", request_id } };
  }

  async #operation(route: string, id: string, model: Model, body: Body): Promise<Result> {
    const ok = (json: object): Result => ({ status: 200, json });
    switch (route) {
      case "/forward":
        this.#forwards += 1;
        return ok(await this.#forward(model, body.forward_input.data));
      case "/forward_backward": {
        const { data } = body.forward_backward_input;
        model.pending.push(...data);
        return ok(await this.#forward(model, data));
      }
      case "/optim_step":
        return ok({ metrics: await this.#step(model, body.adam_params) });
      case "/save_weights": {
        const path = `tinker://${id}/weights/${body.path}`;
        this.#kept.set(path, structuredClone({ ...model, pending: [], numbers: new Map() }));
        return ok({ path, type: "save_weights" });
      }
      case "/load_weights": {
        const { path = "" } = body;
        const kept = this.#kept.get(path);
        const [, run, name] = /^tinker:\/\/(\w+)\/weights\/([\w-]+)$/.exec(path) ?? [];
        if (kept === undefined)
          return { status: 404, json: { detail: `Checkpoint not found: ${run}/${name}` } };
        Object.assign(model, structuredClone(kept));
        return ok({ type: "load_weights" });
      }
      case "/save_weights_for_sampler": {
        const type = "save_weights_for_sampler";
        if (body.path !== undefined) {
          this.#exports.set(`${id}/${body.path}`, await this.#archive(model));
          return ok({ path: `tinker://${id}/${body.path}`, type, sampling_session_id: null });
        }
        const session = `sampling_${this.#id()}`;
        this.#samplers.set(session, id);
        return ok({ path: null, type, sampling_session_id: session });
      }
      case "/unload_model":
        this.#models.delete(id);
        return ok({ model_id: id, status: "unloaded", type: "unload_model" });
      default:
        return { status: 404, json: { detail: "Not Found" } };
    }
  }

  #effective({ rank, trained }: Model, name: string, { shape, values }: Tensor): Float64Array {
    if (rank === 0) return trained.get(name)!.values;
    const a = trained.get(firstFactor(name))?.values;
    const b = trained.get(`${name} B`)?.values;
    if (a === undefined || b === undefined) return values;
    const [outs = 0, ins = 0] = shape;
    const sum = values.slice();
    for (let out = 0; out < outs; out += 1)
      for (let k = 0; k < rank; k += 1)
        for (let n = 0; n < ins; n += 1)
          sum[out * ins + n]! += (ALPHA / rank) * b[out * rank + k]! * a[k * ins + n]!;
    return sum;
  }

  #use(model: Model): void {
    for (const [name, tensor] of this.base)
      this.model.backend.write(
        this.model.parameters.get(name)!,
        Float32Array.from(this.#effective(model, name, tensor)),
      );
    this.model.forgetPrefixes();
  }

  async #forward(model: Model, data: Datum[]): Promise<object> {
    this.#use(model);
    const scores = await this.model.scoreDistributions(data.map(sequenceOf), {}, {});
    const { error = 0, drift = 0, noise = 0 } = this.options;
    const off = error + drift * this.#forwards + noise * (this.#forwards % 2);
    const told = (values: ArrayLike<number>) => ({
      data: Array.from(values),
      dtype: "float32",
      shape: [values.length],
    });
    return {
      loss_fn_output_type: "scalar",
      loss_fn_outputs: scores.map(({ logprobs }, n) => {
        const moved = logprobs.map((value) => value + off);
        return { elementwise_loss: told(lossOf(data[n]!, moved)), logprobs: told(moved) };
      }),
      metrics: {},
    };
  }

  async #step(model: Model, adam: Adam): Promise<object> {
    const gradients = await this.#gradients(model);
    let squares = 0;
    for (const values of gradients.values()) for (const value of values) squares += value * value;
    const norm = Math.sqrt(squares);
    const own = this.options.ownOptimizer === true;
    const scale = own ? Math.min(1, 1 / (norm + 1e-6)) : 1;
    const { beta1, beta2, eps, weight_decay } = own
      ? { beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0 }
      : adam;
    const rate = adam.learning_rate === 0 ? (this.options.atRateZero ?? 0) : adam.learning_rate;
    model.count += 1;
    for (const [name, { values }] of model.trained) {
      const { m, v } = model.moments.get(name)!;
      const g = gradients.get(name)!;
      for (let n = 0; n < values.length; n += 1) {
        const slope = scale * g[n]!;
        m[n] = beta1 * m[n]! + (1 - beta1) * slope;
        v[n] = beta2 * v[n]! + (1 - beta2) * slope * slope;
        const first = m[n]! / (1 - beta1 ** model.count);
        const second = Math.sqrt(v[n]! / (1 - beta2 ** model.count));
        values[n]! -= rate * (first / (second + eps) + weight_decay * values[n]!);
      }
    }
    model.pending = [];
    return { "skyrl.ai/grad_norm": norm, "skyrl.ai/learning_rate": adam.learning_rate };
  }

  /** Of what is trained, by all that was added since the last step. */
  async #gradients(model: Model): Promise<Map<string, Float64Array>> {
    const { pending, trained, rank } = model;
    const zeros = () =>
      new Map([...trained].map(([name, { values }]) => [name, new Float64Array(values.length)]));
    if (pending.length === 0) return zeros();
    this.#use(model);
    this.model.zeroGradients();
    const { countsAtMost = Number.POSITIVE_INFINITY } = this.options;
    const masked = (datum: Datum) =>
      Math.min(
        countsAtMost,
        datum.loss_fn_inputs.weights!.data.reduce((sum, weight) => sum + weight, 0),
      );
    const all = pending.reduce((sum, datum) => sum + masked(datum), 0);
    const { gradient = "mean" } = this.options;
    await this.model.backward(pending.map(sequenceOf), (n, logprobs) => {
      const datum = pending[n]!;
      const divisor = { mean: pending.length * masked(datum), sum: 1, "mean of all tokens": all }[gradient];
      // The derivative of −ρ A in log p is itself.
      return Float32Array.from(lossOf(datum, logprobs), (loss) => loss / divisor);
    });
    const found = new Map<string, Float64Array>();
    for (const [name, { shape }] of this.base) {
      const g = Float64Array.from(await this.model.backend.read(this.model.gradients.get(name)!));
      if (rank === 0) found.set(name, g);
      const a = trained.get(firstFactor(name))?.values;
      const b = trained.get(`${name} B`)?.values;
      if (a === undefined || b === undefined) continue;
      const [outs = 0, ins = 0] = shape;
      const da = found.get(firstFactor(name)) ?? new Float64Array(a.length);
      const db = new Float64Array(b.length);
      for (let out = 0; out < outs; out += 1)
        for (let k = 0; k < rank; k += 1)
          for (let n = 0; n < ins; n += 1) {
            const slope = (ALPHA / rank) * g[out * ins + n]!;
            db[out * rank + k]! += slope * a[k * ins + n]!;
            da[k * ins + n]! += slope * b[out * rank + k]!;
          }
      found.set(firstFactor(name), da);
      found.set(`${name} B`, db);
    }
    return found;
  }

  async #sample(model: Model, { prompt, sampling_params }: Body): Promise<object> {
    this.#use(model);
    const { max_tokens: maxTokens, temperature, seed, stop: stopIds } = sampling_params;
    const [drawn] = await this.model.generateAll([
      {
        ...{ promptIds: prompt.chunks.flatMap(({ tokens }) => tokens), maxTokens, temperature, stopIds },
        ...{ uniform: uniforms(seed), drawable: [[0, this.model.config.vocabularySize]] },
      },
    ]);
    const { ids, logprobs, stopped } = drawn!;
    const sequence = {
      stop_reason: stopped ? "stop" : "length",
      tokens: ids,
      logprobs: Array.from(logprobs),
    };
    return { sequences: [sequence], prompt_logprobs: null };
  }

  async #archive({ rank, trained }: Model): Promise<Buffer> {
    const named = [...this.base.keys()].flatMap((name) => {
      if (rank === 0) return [{ ...trained.get(name)!, dtype: "F32", name }];
      const [a, b] = [trained.get(firstFactor(name)), trained.get(`${name} B`)];
      if (a === undefined || b === undefined) return [];
      return [
        { ...a, dtype: "F32", name: peftName(name, "A") },
        { ...b, dtype: "F32", name: peftName(name, "B") },
      ];
    });
    const bytes: Uint8Array[] = [];
    for await (const part of writeSafetensors(named, (n) => [
      new Uint8Array(Float32Array.from(named[n]!.values).buffer),
    ]))
      bytes.push(part);
    const json = (value: object) => Buffer.from(JSON.stringify(value));
    const config = { peft_type: "LORA", r: rank, lora_alpha: ALPHA, target_modules: null, use_rslora: false };
    return gzipSync(
      tarOf(
        rank === 0
          ? {
              "config.json": readFileSync(join(this.options.base, "config.json")),
              "model.safetensors": Buffer.concat(bytes),
            }
          : { "adapter_config.json": json(config), "adapter_model.safetensors": Buffer.concat(bytes) },
      ),
    );
  }
}

interface Adam {
  learning_rate: number;
  beta1: number;
  beta2: number;
  eps: number;
  weight_decay: number;
}

/** SkyRL has one first factor for q, k and v, which read the same, and one for gate and up. */
const firstFactor = (parameter: string): string =>
  `${parameter.replace(/\.[qkv]_proj/, ".qkv_proj").replace(/\.(gate|up)_proj/, ".gate_up_proj")} A`;

const peftName = (parameter: string, factor: string): string =>
  `base_model.model.${parameter.replace(/\.weight$/, "")}.lora_${factor}.weight`;

/** All of its tokens but the first are its targets. */
function sequenceOf({ model_input, loss_fn_inputs }: Datum): { promptIds: number[]; responseIds: number[] } {
  const tokens = model_input.chunks.flatMap((chunk) => chunk.tokens);
  return { promptIds: tokens.slice(0, 1), responseIds: loss_fn_inputs.target_tokens!.data };
}

/** Loss of each token: `importance_sampling` where there are advantages, else `cross_entropy`. */
function lossOf({ loss_fn_inputs }: Datum, logprobs: ArrayLike<number>): number[] {
  const { weights, logprobs: old, advantages } = loss_fn_inputs;
  return Array.from(logprobs, (logprob, n) => {
    const weight = weights!.data[n]!;
    if (weight === 0) return 0;
    if (advantages === undefined) return -weight * logprob;
    return -weight * Math.exp(logprob - old!.data[n]!) * advantages.data[n]!;
  });
}

/** As Python writes it: a folder first, and a header of times before each file. */
function tarOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const entry = (name: string, type: string, content: Buffer) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write(type, 156);
    return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
  };
  const times = Buffer.from("28 mtime=1763924304.2183452\n");
  return Buffer.concat([
    entry("./", "5", Buffer.alloc(0)),
    ...Object.entries(files).flatMap(([name, content]) => [
      entry("././@PaxHeader", "x", times),
      entry(`./${name}`, "0", content),
    ]),
    Buffer.alloc(1024),
  ]);
}
