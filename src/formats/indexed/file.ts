/** The index as a file beside the library: a header line, then a line for each task. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { outcomeSchema } from "../../core/record/schema.ts";
import type { ByteSource } from "../bytes.ts";
import { type ReadOptions, readWithSchema } from "../read.ts";
import type { FileIdentity, LibraryIndex, TaskEntry } from "./types.ts";

const INDEX_FORMAT = "gcopd.index.v2";

/** Name of the index of a file, beside it. */
export function indexFileName(file: string): string {
  return `${file}.index.jsonl`;
}

const anyHeaderSchema = z.object({ format: z.string().regex(/^gcopd\.index\.v\d+$/) });

/** Whether the first record of a file is the header of an index, of any version. */
export function isIndexHeader(record: unknown): record is z.infer<typeof anyHeaderSchema> {
  return anyHeaderSchema.safeParse(record).success;
}

const count = z.int().nonnegative();

const headerSchema = z.object({
  format: z.literal(INDEX_FORMAT),
  bytes: count,
  modified: z.int().nullable(),
  sample: z.string(),
  tasks: count,
  records: count,
});

const outcome = outcomeSchema.shape;

const entryShape = {
  offset: count,
  bytes: count,
  line: z.int().positive(),
  id: z.string(),
  decisions: count,
  complete: outcome.complete,
  success: outcome.success,
  verified: outcome.verified,
  reported_success: outcome.reported_success,
  outcome_unknown: z.literal(true).optional(),
  score: outcome.score,
  ended: outcome.ended,
};

const taskSchema: z.ZodType<TaskEntry> = z.object({
  environment: z.string(),
  task: z.string(),
  description: z.string(),
  sources: z.array(z.object({ ...entryShape, repetition: z.int(), origin: z.string() })),
  episodes: z.array(z.object(entryShape)),
});

const recordCount = (tasks: readonly TaskEntry[]) =>
  tasks.reduce((sum, task) => sum + task.sources.length + task.episodes.length, 0);

/** Lines of an index file, line feeds included. */
export function* indexLines(index: LibraryIndex, identity: FileIdentity): Generator<string> {
  const header: z.infer<typeof headerSchema> = {
    format: INDEX_FORMAT,
    ...identity,
    tasks: index.tasks.length,
    records: recordCount(index.tasks),
  };
  yield `${JSON.stringify(header)}\n`;
  for (const task of index.tasks) yield `${JSON.stringify(task)}\n`;
}

/**
 * An index as a file has it; null where it is of another version. `InputError` when it is not one or is not whole.
 * `accept` sees the header first: where it answers false the rest is not read and the result is null.
 */
export async function readIndex(
  bytes: ByteSource,
  options: ReadOptions,
  accept: (identity: FileIdentity) => Promise<boolean>,
): Promise<LibraryIndex | null> {
  let header: z.infer<typeof headerSchema> | undefined;
  const tasks: TaskEntry[] = [];
  const lines = readWithSchema<unknown>(bytes, { ...options, schema: z.unknown() });
  for await (const { record, line } of lines) {
    if (header === undefined && isIndexHeader(record) && record.format !== INDEX_FORMAT) return null;
    const schema = header === undefined ? headerSchema : taskSchema;
    const parsed = schema.safeParse(record);
    if (!parsed.success) throw new InputError("not an index line", { file: options.file, line });
    if (header === undefined) {
      header = parsed.data as z.infer<typeof headerSchema>;
      const { bytes: size, modified, sample } = header;
      if (!(await accept({ bytes: size, modified, sample }))) return null;
    } else tasks.push(parsed.data as TaskEntry);
  }
  if (header === undefined || header.tasks !== tasks.length || header.records !== recordCount(tasks)) {
    throw new InputError("not a whole index", { file: options.file });
  }
  return { bytes: header.bytes, tasks };
}
