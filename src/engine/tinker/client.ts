/** Tinker's API as SkyRL's server speaks it: operations are promised at once, and their results polled. */
import { z } from "zod";
import { DeviceError, InputError } from "../../core/errors.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import type { Answer, Server } from "../remote/server.ts";
import type { Datum } from "./datum.ts";

const API = "/api/v1";
/** A poll is given up, and made again, before Node's `fetch` or the server would end it. */
const POLL_MS = 60_000;
/** A session that is silent for five minutes loses its models. */
const HEARTBEAT_MS = 10_000;

const capabilitiesSchema = z.looseObject({
  supported_models: z.array(z.looseObject({ model_name: z.string() })).min(1),
});
const sessionSchema = z.looseObject({ session_id: z.string() });
const promiseSchema = z.looseObject({ request_id: z.string() });
const createdSchema = z.looseObject({ model_id: z.string(), request_id: z.string() });
const passSchema = z.looseObject({
  loss_fn_outputs: z.array(z.looseObject({ logprobs: z.looseObject({ data: z.array(z.number()) }) })),
});
const stepSchema = z.looseObject({ metrics: z.record(z.string(), z.number()) });
const savedSchema = z.looseObject({ path: z.string() });
const samplerSchema = z.looseObject({ sampling_session_id: z.string() });
const sampleSchema = z.looseObject({
  sequences: z
    .array(
      z.looseObject({
        stop_reason: z.enum(["stop", "length"]),
        tokens: z.array(z.int().min(0)),
        logprobs: z.array(z.number()).nullish(),
      }),
    )
    .length(1),
});
const refusalSchema = z.looseObject({
  detail: z.union([
    z.string(),
    z
      .array(z.looseObject({ msg: z.string(), loc: z.array(z.union([z.string(), z.number()])) }))
      .min(1)
      .transform(([first]) => `${first!.loc.join(".")}: ${first!.msg}`),
  ]),
});

export type Drawn = z.infer<typeof sampleSchema>["sequences"][number];

/** Adam's parameters, as the API names them. */
export interface AdamParams {
  learning_rate: number;
  beta1: number;
  beta2: number;
  eps: number;
  weight_decay: number;
}

/** A server's names of the models that it trains. */
export async function servedModels(server: Server, signal?: AbortSignal): Promise<string[]> {
  const path = `${API}/get_server_capabilities`;
  const { status, json } = await server.ask(path, undefined, { signal });
  if (status !== 200) throw server.fault(path, `status ${status}; expected the capabilities of Tinker's API`);
  const file = `${server.base}${path}`;
  return checkedBy(capabilitiesSchema, json, { file }).supported_models.map((model) => model.model_name);
}

/**
 * Deletes a checkpoint that a server keeps.
 *
 * @returns null once it is gone, else why the server keeps it; `NO_DELETING` where it has no such call
 */
export async function deleteCheckpoint(server: Server, path: string): Promise<string | null> {
  const [, run, id] = /^tinker:\/\/([\w-]+)\/([\w./-]+)$/.exec(path) ?? [];
  if (run === undefined || id === undefined) return `${path} is no path of Tinker's API`;
  try {
    const route = `${API}/training_runs/${run}/checkpoints/${id}`;
    const { status, json } = await server.ask(route, undefined, { method: "DELETE", tryAgain: false });
    if (status === 200 || status === 204) return null;
    const said = refusalSchema.safeParse(json).data?.detail;
    if (status === 404 && /checkpoint/i.test(said ?? "")) return null;
    if (status === 404 || status === 405 || status === 501) return NO_DELETING;
    return server.fault(route, `status ${status}${said === undefined ? "" : `: ${said}`}`).message;
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
}

export const NO_DELETING = "it has no call to delete them";

/**
 * A session, kept alive until `close`.
 *
 * An answer that was lost, or that shows that the server lost a model, is a `DeviceError`: what the operation did is not
 * known. What the server refuses is an `InputError`. Both name server and request.
 */
export class TinkerClient {
  /** Whether the result of an operation is asked for again when no answer comes. */
  asksAgain = true;
  #heart: NodeJS.Timeout | undefined;

  private constructor(
    readonly server: Server,
    readonly session: string,
  ) {
    this.#heart = setInterval(() => {
      // A beat that is lost says nothing: the next operation does. It is not tried again, so that nothing waits for it.
      this.#request("/session_heartbeat", { session_id: session }, z.unknown(), false).catch(() => undefined);
    }, HEARTBEAT_MS);
    this.#heart.unref();
  }

  static async open(server: Server, signal?: AbortSignal): Promise<TinkerClient> {
    const body = { tags: ["gcopd"], user_metadata: {}, sdk_version: "0.24.1" };
    // A session that nobody uses costs nothing.
    const { session_id } = await request(server, "/create_session", body, sessionSchema, true, signal);
    return new TinkerClient(server, session_id);
  }

  close(): void {
    clearInterval(this.#heart);
  }

  /** Makes a model with a new adapter of a rank, or with all weights of its own where that is 0. */
  async createModel(
    baseModel: string,
    rank: number,
    seed: number,
    signal?: AbortSignal,
  ): Promise<TinkerModel> {
    const body = { session_id: this.session, base_model: baseModel, lora_config: { rank, seed } };
    const { model_id, request_id } = await this.#request("/create_model", body, createdSchema, false, signal);
    await this.result("/create_model", request_id, z.unknown(), signal);
    return new TinkerModel(this, model_id);
  }

  /**
   * Starts an operation. Its result is asked for apart.
   *
   * @param again whether it may be sent again when its answer is lost
   */
  async promise(route: string, body: object, again: boolean, signal?: AbortSignal): Promise<string> {
    return (await this.#request(route, body, promiseSchema, again, signal)).request_id;
  }

  /** The result of an operation, however long it takes. */
  async result<T>(route: string, id: string, schema: z.ZodType<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      const answer = await answered(
        () =>
          this.server.poll(`${API}/retrieve_future`, { request_id: id }, POLL_MS, {
            signal,
            tryAgain: this.asksAgain,
          }),
        signal,
      );
      if (answer !== null && answer.status !== 408) return read(this.server, route, answer, schema);
      // A server that hangs answers nothing else either.
      if (answer === null)
        await answered(
          () => this.server.ask(`${API}/healthz`, undefined, { signal, tryAgain: this.asksAgain }),
          signal,
        );
    }
  }

  #request<T>(route: string, body: object, schema: z.ZodType<T>, again: boolean, signal?: AbortSignal) {
    return request(this.server, route, body, schema, again, signal);
  }
}

async function request<T>(
  server: Server,
  route: string,
  body: object,
  schema: z.ZodType<T>,
  again: boolean,
  signal?: AbortSignal,
): Promise<T> {
  const answer = await answered(
    () => server.ask(`${API}${route}`, body, { signal, tryAgain: again }),
    signal,
  );
  return read(server, route, answer, schema);
}

/** A server that gives no answer is a fault of the device: the run can go on from what was confirmed. */
async function answered<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof InputError ? new DeviceError(error.message, "server") : error;
  }
}

function read<T>(server: Server, route: string, { status, json }: Answer, schema: z.ZodType<T>): T {
  if (status === 200) return checkedBy(schema, json, { file: `${server.base}${API}${route}` });
  const said = refusalSchema.safeParse(json).data?.detail;
  const refused = server.fault(`${API}${route}`, `status ${status}${said === undefined ? "" : `: ${said}`}`);
  // It was started again, or has unloaded the model.
  if (status >= 500 || /not (found|loaded)/i.test(said ?? ""))
    throw new DeviceError(refused.message, "server");
  throw refused;
}

/** One model of a session. Its operations are numbered, and done in their order. */
export class TinkerModel {
  /** Whether an operation that is sent again with its number is the same one. */
  retries = false;
  #next = 0;
  #samplers = 0;
  #draws = 0;

  constructor(
    readonly client: TinkerClient,
    readonly id: string,
  ) {}

  async #run<T>(
    route: string,
    body: object,
    schema: z.ZodType<T>,
    again: boolean,
    signal?: AbortSignal,
  ): Promise<T> {
    const numbered = { model_id: this.id, ...body, seq_id: this.#next++ };
    const id = await this.client.promise(route, numbered, again || this.retries, signal);
    return this.client.result(route, id, schema, signal);
  }

  /** Log-probabilities of all tokens but the first of each sequence. */
  forward(data: readonly Datum[], signal?: AbortSignal): Promise<number[][]> {
    return this.#pass("/forward", "forward_input", { data, loss_fn: "cross_entropy" }, true, signal);
  }

  /** Adds the gradient of the loss `importance_sampling` to what was added since the last step. */
  async addGradient(data: readonly Datum[], signal?: AbortSignal): Promise<void> {
    const input = { data, loss_fn: "importance_sampling" };
    await this.#pass("/forward_backward", "forward_backward_input", input, false, signal);
  }

  async #pass(
    route: string,
    key: string,
    input: { data: readonly Datum[]; loss_fn: string },
    again: boolean,
    signal?: AbortSignal,
  ): Promise<number[][]> {
    const { loss_fn_outputs } = await this.#run(route, { [key]: input }, passSchema, again, signal);
    const lengths = input.data.map(({ loss_fn_inputs }) => loss_fn_inputs.target_tokens.data.length);
    const logprobs = loss_fn_outputs.map((output) => output.logprobs.data);
    if (logprobs.length !== lengths.length || logprobs.some((values, n) => values.length !== lengths[n]))
      throw this.client.server.fault(
        `${API}${route}`,
        `log-probabilities of ${logprobs.map((values) => values.length).join(", ")} tokens; expected ${lengths.join(", ")}`,
        "loss_fn_outputs",
      );
    return logprobs;
  }

  /** An update by the gradient that was added. @returns the gradient's global L2 norm, as the server uses it */
  async step(adam_params: AdamParams, signal?: AbortSignal): Promise<number> {
    return this.#normOf(await this.#run("/optim_step", { adam_params }, stepSchema, false, signal));
  }

  #normOf({ metrics }: z.infer<typeof stepSchema>): number {
    const key = Object.keys(metrics).find((name) => /(^|[/.])grad_norm$/.test(name));
    if (key !== undefined) return metrics[key]!;
    const told = Object.keys(metrics).join(", ") || "nothing";
    throw this.client.server.fault(`${API}/optim_step`, `expected grad_norm, received ${told}`, "metrics");
  }

  /** Sends one step at a learning rate of 0 twice, with one number. @returns whether the server took it for one */
  async probeRetries(adam_params: AdamParams, signal?: AbortSignal): Promise<boolean> {
    const body = { model_id: this.id, adam_params, seq_id: this.#next++ };
    const ids = [
      await this.client.promise("/optim_step", body, false, signal),
      await this.client.promise("/optim_step", body, false, signal),
    ];
    for (const id of ids) await this.client.result("/optim_step", id, z.unknown(), signal);
    return ids[0] === ids[1];
  }

  /** Keeps weights and optimizer state on the server. @returns the path to load them by */
  async save(name: string, signal?: AbortSignal): Promise<string> {
    return (await this.#run("/save_weights", { path: name }, savedSchema, false, signal)).path;
  }

  /** Takes over weights and optimizer state; the first operation of a model. */
  async load(path: string, signal?: AbortSignal): Promise<void> {
    await this.#run("/load_weights", { path, optimizer: true }, z.unknown(), false, signal);
  }

  /** The present weights as a file that can be downloaded. @returns its path on the server */
  async export(name: string, signal?: AbortSignal): Promise<string> {
    await this.#run("/save_weights_for_sampler", { path: name }, savedSchema, false, signal);
    return `${API}/training_runs/${this.id}/checkpoints/${name}/download`;
  }

  /** The present weights to sample from. @returns the id of a sampling session */
  async sampler(signal?: AbortSignal): Promise<string> {
    const body = { sampling_session_seq_id: this.#samplers++ };
    return (await this.#run("/save_weights_for_sampler", body, samplerSchema, false, signal))
      .sampling_session_id;
  }

  /** Draws one response from a sampling session. It changes nothing, so that it may be sent again. */
  async sample(
    sampler: string,
    prompt: readonly number[],
    sampling_params: object,
    signal?: AbortSignal,
  ): Promise<Drawn> {
    const body = {
      sampling_session_id: sampler,
      seq_id: this.#draws++,
      num_samples: 1,
      prompt: { chunks: [{ type: "encoded_text", tokens: prompt }] },
      sampling_params,
    };
    const id = await this.client.promise("/asample", body, true, signal);
    return (await this.client.result("/asample", id, sampleSchema, signal)).sequences[0]!;
  }

  async unload(signal?: AbortSignal): Promise<void> {
    const id = await this.client.promise("/unload_model", { model_id: this.id }, false, signal);
    await this.client.result("/unload_model", id, z.unknown(), signal);
  }
}
