/** The kinds of record of library format 1, and how a line says which one it is. */
import type { z } from "zod";
import {
  type Episode,
  episodeSchema,
  type OptimalActions,
  optimalSchema,
  type RetrievalRecord,
  retrievalSchema,
  type ScoreInput,
  type ScoreOutput,
  type Source,
  type StepInput,
  scoreInputSchema,
  scoreOutputSchema,
  sourceSchema,
  stepInputSchema,
} from "../core/record/schema.ts";

export interface RecordKinds {
  source: Source;
  episode: Episode;
  retrieval: RetrievalRecord;
  "score-input": ScoreInput;
  "score-output": ScoreOutput;
  "step-input": StepInput;
  optimal: OptimalActions;
}

export type RecordKind = keyof RecordKinds;

export const SCHEMAS: { readonly [K in RecordKind]: z.ZodType<RecordKinds[K]> } = {
  source: sourceSchema,
  episode: episodeSchema,
  retrieval: retrievalSchema,
  "score-input": scoreInputSchema,
  "score-output": scoreOutputSchema,
  "step-input": stepInputSchema,
  optimal: optimalSchema,
};

/** Value of `format`, for the kinds that carry one. */
export const FORMATS: { readonly [K in RecordKind]?: string } = {
  source: "gcopd.source.v1",
  episode: "gcopd.episode.v1",
  retrieval: "gcopd.retrieval.v1",
};

/** The kind whose `format` value this is. */
export function kindOfFormat(format: unknown): RecordKind | undefined {
  return (Object.keys(FORMATS) as RecordKind[]).find((kind) => FORMATS[kind] === format);
}

/** The kind of a parsed line: by `format`, and for the records that carry none by their keys. */
export function detectKind(value: object): RecordKind | undefined {
  if ("format" in value) return kindOfFormat(value.format);
  if ("teacher_logprobs" in value) return "step-input";
  if ("id" in value && "prompt_ids" in value) return "score-input";
  if ("id" in value && "logprobs" in value) return "score-output";
  if ("optimal" in value && "decision" in value) return "optimal";
  return undefined;
}
