/** The tokens of a run's latest step, from the page's own worker or from `batch.jsonl` of a run on the worker. */
import { z } from "zod";
import { InputError } from "../../../../core/errors.ts";
import type { DecisionTokens } from "../../../../core/loop/index.ts";
import { checkedBy } from "../../../../core/record/describe-issue.ts";

export interface BatchDecision
  extends Omit<DecisionTokens, "logprobs" | "teacherLogprobs" | "ratio" | "advantage" | "clipped"> {
  /** Text of each token. */
  pieces: string[];
  logprobs: ArrayLike<number>;
  teacherLogprobs: ArrayLike<number> | null;
  ratio: ArrayLike<number>;
  advantage: ArrayLike<number>;
  clipped: ArrayLike<number>;
}

export interface BatchView {
  step: number;
  decisions: BatchDecision[];
}

const FILE = "batch.jsonl";
const head = z.object({ step: z.int().min(1), decisions: z.int().min(0) });
/** JSON has no NaN and no infinity: what is neither a number any more was written as null. */
const figures = z.array(
  z
    .number()
    .nullable()
    .transform((value) => value ?? Number.NaN),
);
const row = z.object({
  episode: z.string(),
  decision: z.int().min(0),
  bridge: z.literal(true).optional(),
  weight: z.number(),
  ids: z.array(z.int().min(0)),
  tokens: z.array(z.string()),
  logprobs: figures,
  teacher_logprobs: figures.nullable(),
  ratio: figures,
  advantage: figures,
  clipped: figures,
});
/** The lists that hold a value for each token. */
const LISTS = ["tokens", "logprobs", "teacher_logprobs", "ratio", "advantage", "clipped"] as const;

/**
 * Reads `batch.jsonl`: a line for the step, then one for each decision.
 *
 * @throws InputError for another kind of file, with line, key and what was expected
 */
export function parseBatch(text: string): BatchView {
  const [first = "", ...rest] = text.trimEnd().split("\n");
  const { step, decisions } = readLine(head, first, 1);
  if (rest.length !== decisions)
    throw new InputError(`expected ${decisions} lines after it, received ${rest.length}`, {
      file: FILE,
      line: 1,
      key: "decisions",
    });
  return { step, decisions: rest.map((line, n) => readDecision(line, n + 2)) };
}

function readDecision(text: string, line: number): BatchDecision {
  const read = readLine(row, text, line);
  const { length } = read.ids;
  for (const key of LISTS) {
    const found = read[key]?.length ?? length;
    if (found !== length)
      throw new InputError(`expected ${length} entries, as many as ids, received ${found}`, {
        file: FILE,
        line,
        key,
      });
  }
  const { tokens: pieces, teacher_logprobs: teacherLogprobs, ...same } = read;
  return { ...same, pieces, teacherLogprobs };
}

function readLine<T>(schema: z.ZodType<T>, text: string, line: number): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InputError("expected JSON", { file: FILE, line });
  }
  return checkedBy(schema, value, { file: FILE, line });
}
