/** A server on loopback that answers as vLLM 0.32.0, SGLang 0.5.9 or a plain OpenAI API of completions or chat does, or fails. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export type StubKind = "vllm" | "sglang" | "openai" | "chat";

/** One question that the stub was asked. */
export interface Asked {
  path: string;
  authorization: string | undefined;
  body: Record<string, unknown>;
}

/** What becomes of a completion instead of an answer. */
export type Fault =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  | "cut"
  | "hang"
  /** The answer with some of its keys replaced. */
  | { change: (answer: Record<string, unknown>) => unknown };

export interface StubOptions {
  kind: StubKind;
  models?: readonly string[];
  key?: string;
  /** What every optional question about the server gets in place of its answer; null for no answer at all. */
  optional?: { status: number; headers?: Record<string, string> } | null;
  /** Ids, or for a plain API the text, of the response to a request. */
  respond?: (body: Record<string, unknown>) => { ids: number[]; text: string; stop: "stop" | "length" };
  /** [ids] log-probability of each id after those before it; the first counts for nothing. */
  score?: (ids: readonly number[]) => readonly number[] | Promise<readonly number[]>;
  /** Ids of a text, special tokens included; a server without it has no such route. */
  tokenize?: (text: string) => readonly number[];
  version?: string;
  /** No completion is answered until so many are under way. */
  together?: number;
  /** What happens to the completions, in their order; all later ones are answered. */
  faults?: readonly (Fault | null)[];
}

export interface Stub {
  url: string;
  asked: Asked[];
  /** Most completions that were under way at the same time. */
  most(): number;
  close(): Promise<void>;
}

export async function startStub(options: StubOptions): Promise<Stub> {
  const asked: Asked[] = [];
  const faults = [...(options.faults ?? [])];
  let [now, most] = [0, 0];
  let answerAll = (): void => {};
  const together = new Promise<void>((resolve) => {
    answerAll = resolve;
  });
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const { authorization } = request.headers;
    if (options.key !== undefined && authorization !== `Bearer ${options.key}`)
      return send(response, 401, { error: "Unauthorized" });
    const { optional } = options;
    if (optional !== undefined && ["/version", "/get_model_info", "/get_server_info"].includes(path)) {
      if (optional !== null) send(response, optional.status, {}, optional.headers);
      return;
    }
    const listed = listing(options, path);
    if (listed !== undefined)
      return send(response, listed === null ? 404 : 200, listed ?? { detail: "Not Found" });
    const body = JSON.parse(await textOf(request));
    if (path === "/tokenize") {
      const tokens = options.tokenize?.(body.prompt);
      return tokens === undefined
        ? send(response, 404, { detail: "Not Found" })
        : send(response, 200, { tokens, count: tokens.length, max_model_len: 2048 });
    }
    asked.push({ path, authorization, body });
    now += 1;
    most = Math.max(most, now);
    if (now === (options.together ?? 1)) answerAll();
    await together;
    now -= 1;
    const fault = faults.shift() ?? null;
    if (fault === "hang") return;
    if (fault === "cut") {
      request.socket.destroy();
      return;
    }
    if (fault !== null && "status" in fault)
      return send(response, fault.status, fault.body ?? {}, fault.headers);
    const answer = scoresAsked(body)
      ? await scored(options, body)
      : ANSWERS[options.kind](options.respond?.(body) ?? SOME, body);
    send(response, 200, fault === null ? answer : fault.change(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    most: () => most,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The answers to questions about the server; null for not found, undefined for a completion. */
function listing(
  { kind, models = ["served"], version }: StubOptions,
  path: string,
): object | null | undefined {
  switch (path) {
    case "/v1/models":
      return {
        object: "list",
        data: models.map((id) => ({
          id,
          object: "model",
          owned_by: kind,
          ...(kind === "openai" || kind === "chat" ? {} : { max_model_len: 2048 }),
        })),
      };
    case "/version":
      return kind === "vllm" ? { version: version ?? "0.32.0" } : null;
    case "/get_server_info":
      return kind === "sglang" ? { version: version ?? "0.5.9", status: "ready" } : null;
    case "/get_model_info":
      return kind === "sglang" ? { model_path: "/models/served", is_generation: true } : null;
    case "/v1/completions":
      return kind === "chat" ? null : undefined;
    default:
      return undefined;
  }
}

const scoresAsked = (body: Record<string, unknown>): boolean =>
  body.prompt_logprobs !== undefined || body.logprob_start_len !== undefined;

/** Log-probabilities of what was given, in the form that the real servers gave them in. */
async function scored(
  { kind, score = (ids) => ids.map((id) => -id / 8) }: StubOptions,
  body: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const ids = z.array(z.int()).parse(kind === "sglang" ? body.input_ids : body.prompt);
  const logprobs = await score(ids);
  if (kind === "vllm") {
    const of = (id: number, n: number) => ({ [id]: { logprob: logprobs[n], rank: 1, decoded_token: "a" } });
    return {
      id: "cmpl-1",
      object: "text_completion",
      model: body.model,
      choices: [
        {
          index: 0,
          text: "a",
          logprobs: null,
          finish_reason: "length",
          stop_reason: null,
          prompt_logprobs: ids.map((id, n) => (n === 0 ? null : of(id, n))),
        },
      ],
      usage: { prompt_tokens: ids.length, total_tokens: ids.length + 1, completion_tokens: 1 },
    };
  }
  const start = z.int().parse(body.logprob_start_len);
  return {
    text: "",
    output_ids: [],
    meta_info: {
      finish_reason: { type: "length", length: 0 },
      prompt_tokens: ids.length,
      cached_tokens: 0,
      completion_tokens: 0,
      weight_version: "default",
      input_token_logprobs: ids.slice(start).map((id, n) => [n === 0 ? null : logprobs[start + n], id, null]),
    },
  };
}

type Drawn = ReturnType<NonNullable<StubOptions["respond"]>>;

const SOME: Drawn = { ids: [1], text: "a", stop: "length" };

const ANSWERS: Record<StubKind, (drawn: Drawn, body: Record<string, unknown>) => Record<string, unknown>> = {
  vllm: ({ ids, text, stop }, body) => ({
    id: "cmpl-1",
    object: "text_completion",
    model: body.model,
    choices: [
      {
        index: 0,
        text,
        logprobs: {
          text_offset: ids.map((_, n) => n),
          token_logprobs: ids.map((_, n) => -0.5 * (n + 1)),
          tokens: ids.map(String),
        },
        finish_reason: stop,
        stop_reason: stop === "stop" ? ids.at(-1) : null,
        token_ids: ids,
      },
    ],
  }),
  sglang: ({ ids, text, stop }) => ({
    text,
    output_ids: ids,
    meta_info: {
      finish_reason:
        stop === "stop" ? { type: "stop", matched: ids.at(-1) } : { type: "length", length: ids.length },
      output_token_logprobs: ids.map((id, n) => [-0.5 * (n + 1), id, null]),
      completion_tokens: ids.length,
    },
  }),
  openai: ({ text, stop }, body) => ({
    object: "text_completion",
    model: body.model,
    choices: [{ index: 0, text, finish_reason: stop }],
  }),
  chat: ({ ids, text, stop }, body) => ({
    object: "chat.completion",
    model: body.model,
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: stop }],
    usage: { prompt_tokens: 3, completion_tokens: ids.length },
  }),
};

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
