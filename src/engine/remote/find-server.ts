import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { openai, type ResponseCodec } from "./openai.ts";
import { type Protocol, readAnswer } from "./protocol.ts";
import type { Answer, Server } from "./server.ts";
import { sglang } from "./sglang.ts";
import { vllm } from "./vllm.ts";

/** What answers at an address. */
export interface FoundServer {
  /** For people: `vLLM 0.32.0`, `SGLang`, `a plain OpenAI completions API`. */
  kind: string;
  /** The served model's name. */
  model: string;
  protocol(codec: ResponseCodec): Protocol;
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
 * @throws InputError when it does not answer, lists no models, or not the one that is named
 */
export async function findServer(server: Server, named?: string, signal?: AbortSignal): Promise<FoundServer> {
  const path = "/v1/models";
  const { status, json } = await server.ask(path, undefined, { signal });
  if (status !== 200)
    throw server.fault(path, `status ${status}; expected the list of models of an OpenAI API`);
  const models = readAt(server, path, modelsSchema, json).data;
  const model = chosen(
    server,
    models.map(({ id }) => id),
    named,
  );
  const optional = async <T>(of: string, schema: z.ZodType<T>): Promise<T | null> => {
    let answer: Answer;
    try {
      answer = await server.ask(of, undefined, { signal, tryAgain: false });
    } catch (error) {
      // A gateway may keep what it does not know to itself, and let completions through.
      if (error instanceof InputError) return null;
      throw error;
    }
    return answer.status === 200 ? (schema.safeParse(answer.json).data ?? null) : null;
  };
  if ((await optional("/get_model_info", modelInfoSchema)) !== null)
    return { kind: "SGLang", model, protocol: () => sglang };
  const version = await optional("/version", versionSchema);
  // Others have a /version too; the length of a model's context is in vLLM's list alone.
  if (version !== null && models.some(({ max_model_len }) => typeof max_model_len === "number"))
    return { kind: `vLLM ${version.version}`, model, protocol: () => vllm(model) };
  return {
    kind: "a plain OpenAI completions API",
    model,
    protocol: (codec) => openai(model, codec),
  };
}

function chosen(server: Server, models: readonly string[], named: string | undefined): string {
  const list = models.slice(0, 5).map((id) => JSON.stringify(id));
  const all = `${list.join(", ")}${models.length > list.length ? ", …" : ""}`;
  if (named !== undefined && !models.includes(named))
    throw new InputError(`${server.base} does not serve ${JSON.stringify(named)}, but ${all}`, {
      key: "policy_model",
    });
  if (named === undefined && models.length > 1)
    throw new InputError(`missing; ${server.base} serves ${all}`, { key: "policy_model" });
  return named ?? models[0]!;
}

/** `readAnswer`, with the address in the message. */
export function readAt<T>(server: Server, path: string, schema: z.ZodType<T>, json: unknown): T {
  return located(server, path, () => readAnswer(schema, json));
}

/** Adds the address to the message of bad input. */
export function located<T>(server: Server, path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InputError) throw server.fault(path, error.reason, error.where.key);
    throw error;
  }
}
