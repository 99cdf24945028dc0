/** Whether a server's tokenizer writes the ids that ours writes. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { Answer, Server } from "./server.ts";

/** Where vLLM and SGLang tell ids of a text. */
const PATH = "/tokenize";

/** What tokenizers differ in: digits, cases, spaces, line ends, marks, scripts and signs. */
const TEXT =
  "The year 2026, 3.14 and 007;\r\n\tfunction  f(x) { return x }\n\n\nWE'LL don't naïve Ünïcode — „你好“, привет, नमस्ते 🙂 ";

const answerSchema = z.looseObject({ tokens: z.array(z.int()) });

/**
 * Compares a server's ids of some texts with ours.
 *
 * @param texts beside those that tokenizers tend to differ in
 * @param encode ours: special tokens that the text spells out are their ids, as on the server
 * @returns false where the server does not tell ids
 * @throws InputError naming the first ids that differ
 */
export async function hasSameTokenizer(
  server: Server,
  model: string,
  texts: readonly string[],
  encode: (text: string) => readonly number[],
  signal?: AbortSignal,
): Promise<boolean> {
  for (const text of [TEXT, ...texts]) {
    const theirs = await idsOf(server, model, text, signal);
    if (theirs === null) return false;
    const ours = encode(text);
    const at = Array.from({ length: Math.max(ours.length, theirs.length) }).findIndex(
      (_, n) => ours[n] !== theirs[n],
    );
    if (at === -1) continue;
    const shown = (ids: readonly number[]) => ids[at] ?? "nothing";
    throw server.fault(
      PATH,
      `another tokenizer than ours: token ${at} of ${JSON.stringify(text.slice(0, 40))} is ${shown(theirs)} there and ${shown(ours)} here`,
    );
  }
  return true;
}

/** Null where the server has no such route, or keeps it to itself. */
async function idsOf(
  server: Server,
  model: string,
  prompt: string,
  signal: AbortSignal | undefined,
): Promise<readonly number[] | null> {
  let answer: Answer;
  try {
    answer = await server.ask(PATH, { model, prompt, add_special_tokens: false }, { signal });
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
  return answer.status === 200 ? (answerSchema.safeParse(answer.json).data?.tokens ?? null) : null;
}
