/**
 * A what-if as a record: the retrieval record that it gives (library format), with what was changed under `what_if`, so
 * that the page and the command line can open it again, and what it gave, so that it can be read without either.
 */
import { z } from "zod";
import { EVIDENCE_RECORDS } from "../core/evidence/types.ts";
import type { WhatIf } from "../core/evidence/what-if.ts";
import { subsetSchema } from "../core/method/method-schema.ts";
import { type RetrievalRecord, retrievalSchema } from "../core/record/schema.ts";
import { CONTROLS } from "../core/retrieval/selection.ts";
import { keysOfSelection, selectionOfKeys } from "../core/retrieval/selection-keys.ts";
import type { ByteSource } from "./bytes.ts";
import { type ReadOptions, readWithSchema } from "./read.ts";

const pinSchema = z.looseObject({ source: z.string(), position: z.int().nonnegative().nullable() });

/** `WhatIf` as files write it; a key that is absent changes nothing. */
export const whatIfSchema = z.looseObject({
  control: z.enum(CONTROLS).optional(),
  sources_per_task: z.int().min(1).optional(),
  augmentation: z.boolean().optional(),
  subset: subsetSchema.optional(),
  terminal_failure_note: z.boolean().optional(),
  without: z.array(z.string()).optional(),
  pin: pinSchema.optional(),
  pin_failure: pinSchema.optional(),
  leave_out: z
    .array(z.looseObject({ record: z.enum(EVIDENCE_RECORDS), event: z.int().nonnegative().nullable() }))
    .optional(),
  evidence_text: z.string().optional(),
});

const scoresSchema = z.looseObject({
  teacher: z.string(),
  response_ids: z.array(z.int().nonnegative()),
  vanilla: z.array(z.number()),
  full_method: z.array(z.number()),
  what_if: z.array(z.number()),
});

export const whatIfRecordSchema = retrievalSchema.extend({
  what_if: whatIfSchema,
  /** R_t as the teacher reads it under the what-if; empty where nothing is left of it. */
  evidence: z.string().optional(),
  /** The same decision under the full method over the whole library. */
  full_method: z.looseObject({ retrieval: retrievalSchema, evidence: z.string() }).optional(),
  /** Natural logarithms, one per response token, under the three contexts; where they were computed. */
  scores: scoresSchema.optional(),
});

export type WhatIfRecord = z.infer<typeof whatIfRecordSchema>;
export type WhatIfScores = z.infer<typeof scoresSchema>;

/** What a record is made of beside the retrieval. */
export interface WhatIfResult {
  evidence: string;
  fullMethod: { retrieval: RetrievalRecord; evidence: string };
  scores: WhatIfScores | null;
}

/** The record of a what-if. */
export function whatIfRecord(
  retrieval: RetrievalRecord,
  whatIf: WhatIf,
  { evidence, fullMethod, scores }: WhatIfResult,
): WhatIfRecord {
  const { without, pin, pinFailure, leaveOut, text } = whatIf;
  const changes = {
    ...keysOfSelection(whatIf),
    without: without && [...without],
    pin: pin && { source: pin.source, position: pin.position },
    pin_failure: pinFailure && { source: pinFailure.source, position: pinFailure.position },
    leave_out: leaveOut?.map(({ record, event }) => ({ record, event })),
    evidence_text: text,
  };
  return {
    ...retrieval,
    what_if: definedOf(changes),
    evidence,
    full_method: fullMethod,
    ...(scores === null ? {} : { scores }),
  };
}

/** What a record says was changed, as the options of the core. */
export function whatIfOf({ what_if: changes }: Pick<WhatIfRecord, "what_if">): WhatIf {
  const { without, pin, pin_failure, leave_out, evidence_text } = changes;
  return definedOf({
    ...selectionOfKeys(changes),
    without,
    pin: pin && { source: pin.source, position: pin.position },
    pinFailure: pin_failure && { source: pin_failure.source, position: pin_failure.position },
    leaveOut: leave_out?.map(({ record, event }) => ({ record, event })),
    text: evidence_text,
  });
}

/** What-if records of a file, one per line. Every fault is an `InputError` that names file, line, key and what was expected. */
export async function* readWhatIfRecords(
  bytes: ByteSource,
  options: ReadOptions,
): AsyncGenerator<WhatIfRecord> {
  for await (const { record } of readWithSchema(bytes, { ...options, schema: whatIfRecordSchema })) {
    yield record;
  }
}

/** True for a parsed line that is a what-if record, or means to be one. */
export function isWhatIfRecord(value: object): boolean {
  return "format" in value && value.format === "gcopd.retrieval.v1" && "what_if" in value;
}

/** Without the keys that have no value. */
function definedOf<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const defined: { [K in keyof T]?: NonNullable<T[K]> } = {};
  for (const key in value) {
    const each = value[key];
    if (each !== undefined && each !== null) defined[key] = each;
  }
  return defined;
}
