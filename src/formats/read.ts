/**
 * Streaming readers of library format 1 (docs/library-format.md). Records are checked here, at the boundary, and
 * trusted inside. What was read is handed on as it was read: unknown keys, and the order of all keys, are kept.
 */
import type { z } from "zod";
import { InputError } from "../core/errors.ts";
import { parseJsonText } from "../core/json.ts";
import { describeIssue, jsonType, shown } from "../core/record/describe-issue.ts";
import { type ByteSource, byteChunks } from "./bytes.ts";
import { checkLengths, UniqueIds } from "./checks.ts";
import { maybeGunzip } from "./gunzip.ts";
import { detectKind, FORMATS, kindOfFormat, type RecordKind, type RecordKinds, SCHEMAS } from "./kinds.ts";
import { type Line, readLines } from "./lines.ts";

export interface ReadOptions {
  /** Shown in messages. */
  file: string;
  signal?: AbortSignal;
}

/** One record and where it stood. */
export interface RecordLine<T> extends Line {
  record: T;
}

type Where = { file: string; line?: number };

/** The JSON object of one line. `InputError` when it is none. */
export function parseObject(text: string, where: Where): Record<string, unknown> {
  const value = parseJsonText(text, where);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(`expected a JSON object, received ${jsonType(value)}`, where);
  }
  return value as Record<string, unknown>;
}

/** JSON Lines as they are: each line one object, gzip or not, before any schema. */
export async function* readObjects(
  bytes: ByteSource,
  options: ReadOptions,
): AsyncGenerator<RecordLine<Record<string, unknown>>> {
  for await (const line of readLines(maybeGunzip(byteChunks(bytes), options.file), options.file)) {
    options.signal?.throwIfAborted();
    yield { ...line, record: parseObject(line.text, { file: options.file, line: line.line }) };
  }
}

function checkFormat(value: Record<string, unknown>, kind: RecordKind, where: Where): void {
  const expected = FORMATS[kind];
  if (expected === undefined || value.format === expected) return;
  const other = kindOfFormat(value.format);
  const received = !("format" in value)
    ? "missing;"
    : other !== undefined
      ? `this is a record of kind ${other};`
      : `unknown value ${shown(value.format)};`;
  throw new InputError(`${received} expected ${JSON.stringify(expected)}`, { ...where, key: "format" });
}

/** T decisions make T+1 visits; say so when a state is not there, since files with T states are the usual mistake. */
function checkStates(value: Record<string, unknown>, where: Where): void {
  if ("final_state" in value || !Array.isArray(value.decisions)) return;
  const count = value.decisions.length;
  const withState = value.decisions.filter(
    (decision: unknown) => typeof decision === "object" && decision !== null && "state" in decision,
  ).length;
  throw new InputError(
    `missing; ${count} decisions have ${withState} states and need ${count + 1}: one before each decision and the terminal one (null if the capture is unreliable)`,
    { ...where, key: "final_state" },
  );
}

/** A parsed value checked with a schema; unknown keys are kept. `InputError` that names the first fault. */
export function checkSchema<T>(schema: z.ZodType<T>, value: unknown, where: Where): T {
  const result = schema.safeParse(value);
  if (result.success) return value as T;
  const { key, message } = describeIssue(result.error.issues[0]!, value);
  throw new InputError(message, key === "" ? where : { ...where, key });
}

/** Checks one parsed line as a record of `kind`, ids that must be unique in a file excepted. */
export function checkRecord<K extends RecordKind>(kind: K, value: object, where: Where): RecordKinds[K] {
  const object = value as Record<string, unknown>;
  checkFormat(object, kind, where);
  if (kind === "source" || kind === "episode") checkStates(object, where);
  const record = checkSchema(SCHEMAS[kind], object, where);
  checkLengths(kind, record, where);
  return record;
}

/**
 * Records of one kind, one at a time, in file order. Every fault is an `InputError` that names file, line, key and
 * what was expected: not JSON, another `format`, a missing or mistyped key, a repeated id, lengths that disagree.
 */
export async function* readRecords<K extends RecordKind>(
  bytes: ByteSource,
  options: ReadOptions & { kind: K },
): AsyncGenerator<RecordLine<RecordKinds[K]>> {
  const ids = new UniqueIds();
  for await (const { record: value, ...line } of readObjects(bytes, options)) {
    const where = { file: options.file, line: line.line };
    const record = checkRecord(options.kind, value, where);
    ids.check(options.kind, record, where);
    yield { ...line, record };
  }
}

/** Records checked with a schema of the caller's, for the small line formats of single commands. */
export async function* readWithSchema<T>(
  bytes: ByteSource,
  options: ReadOptions & { schema: z.ZodType<T> },
): AsyncGenerator<RecordLine<T>> {
  for await (const { record: value, ...line } of readObjects(bytes, options)) {
    yield { ...line, record: checkSchema(options.schema, value, { file: options.file, line: line.line }) };
  }
}

/** One parsed line checked as the kind that it says it is, ids that must be unique in a file excepted. */
export function checkAnyRecord(
  value: Record<string, unknown>,
  where: Where,
): { kind: RecordKind; record: RecordKinds[RecordKind] } {
  const kind = detectKind(value);
  if (kind === undefined) {
    throw new InputError(
      "format" in value
        ? `unknown value ${shown(value.format)}; expected ${Object.values(FORMATS)
            .map((format) => JSON.stringify(format))
            .join(" or ")}`
        : "missing, and the keys are not those of a scoring or step record, or of optimal actions",
      { ...where, key: "format" },
    );
  }
  return { kind, record: checkRecord(kind, value, where) };
}

/** Records of whatever kinds the file holds, each line checked as the kind that it says it is. */
export async function* readAnyRecords(
  bytes: ByteSource,
  options: ReadOptions,
): AsyncGenerator<RecordLine<RecordKinds[RecordKind]> & { kind: RecordKind }> {
  const ids = new UniqueIds();
  for await (const { record: value, ...line } of readObjects(bytes, options)) {
    const where = { file: options.file, line: line.line };
    const { kind, record } = checkAnyRecord(value, where);
    ids.check(kind, record, where);
    yield { ...line, kind, record };
  }
}
