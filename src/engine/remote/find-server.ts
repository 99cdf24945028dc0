import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { ScoreRequest, ScoreResult } from "../../core/ports.ts";
import { type Exchange, readAt } from "./exchange.ts";
import { openai, openaiChat, type ResponseCodec } from "./openai.ts";
import type { Protocol } from "./protocol.ts";
import type { Answer, Server } from "./server.ts";
import { sglang, sglangScoring } from "./sglang.ts";
import { vllm, vllmScoring } from "./vllm.ts";

/** What answers at an address. */
export interface FoundServer {
  /** For people: `vLLM 0.32.0`, `SGLang 0.5.9`, `a plain OpenAI completions API`, or chat API. */
  kind: string;
  /** The served model's name. */
  model: string;
  /** Longest sequence that it takes, prompt and response together, in tokens; null where it does not tell. */
  maxPositions: number | null;
  protocol(codec: ResponseCodec): Protocol;
  /** How it is asked for log-probabilities of a given response; null where it cannot be. */
  scoring: Exchange<ScoreRequest, ScoreResult> | null;
}

const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), max_model_len: z.unknown().optional() })).min(1),
});
const versionSchema = z.looseObject({ version: z.string() });
const modelInfoSchema = z.looseObject({ model_path: z.string() });

/**
 * Asks a server once what it is and what it serves.
 *
 * @param named the model, where a server serves several
 * @param key of the config that names it
 * @throws InputError when it does not answer, lists no models, or not the one that is named
 */
export async function findServer(
  server: Server,
  named?: string,
  signal?: AbortSignal,
  key = "policy_model",
): Promise<FoundServer> {
  const path = "/v1/models";
  const { status, json } = await server.ask(path, undefined, { signal });
  if (status !== 200)
    throw server.fault(path, `status ${status}; expected the list of models of an OpenAI API`);
  const models = readAt(server, path, modelsSchema, json).data;
  const model = chosen(
    server,
    models.map(({ id }) => id),
    named,
    key,
  );
  const { max_model_len: longest } = models.find(({ id }) => id === model)!;
  const maxPositions = typeof longest === "number" ? longest : null;
  const optional = async <T>(of: string, schema: z.ZodType<T>, tryAgain = false): Promise<T | null> => {
    let answer: Answer;
    try {
      answer = await server.ask(of, undefined, { signal, tryAgain });
    } catch (error) {
      // A gateway may keep what it does not know to itself, and let completions through.
      if (error instanceof InputError) return null;
      throw error;
    }
    return answer.status === 200 ? (schema.safeParse(answer.json).data ?? null) : null;
  };
  if ((await optional("/get_model_info", modelInfoSchema)) !== null) {
    // Its scheduler answers this one, which is not there for a moment after the start.
    const told = await optional("/get_server_info", versionSchema, true);
    const kind = told === null ? "SGLang" : `SGLang ${told.version}`;
    return { kind, model, maxPositions, protocol: () => sglang, scoring: sglangScoring };
  }
  const version = await optional("/version", versionSchema);
  // Others have a /version too; the length of a model's context is in vLLM's list alone.
  if (version !== null && models.some(({ max_model_len }) => typeof max_model_len === "number"))
    return {
      kind: `vLLM ${version.version}`,
      model,
      maxPositions,
      protocol: () => vllm(model),
      scoring: vllmScoring(model),
    };
  const completions = await server.ask("/v1/completions", { model, prompt: "a", max_tokens: 1 }, { signal });
  const isChat = completions.status === 404 || completions.status === 405;
  return {
    kind: `a plain OpenAI ${isChat ? "chat" : "completions"} API`,
    model,
    maxPositions,
    protocol: (codec) => (isChat ? openaiChat(model, codec) : openai(model, codec)),
    scoring: null,
  };
}

function chosen(server: Server, models: readonly string[], named: string | undefined, key: string): string {
  const list = models.slice(0, 5).map((id) => JSON.stringify(id));
  const all = `${list.join(", ")}${models.length > list.length ? ", …" : ""}`;
  if (named !== undefined && !models.includes(named))
    throw new InputError(`${server.base} does not serve ${JSON.stringify(named)}, but ${all}`, { key });
  if (named === undefined && models.length > 1)
    throw new InputError(`missing; ${server.base} serves ${all}`, { key });
  return named ?? models[0]!;
}
