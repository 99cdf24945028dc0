/** The rows of a file, whatever holds them: a JSON document, JSON Lines or Parquet. */
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import { describeIssue, jsonType } from "../../../core/record/describe-issue.ts";
import { readObjects } from "../../read.ts";
import { type ImportFiles, label } from "../files.ts";
import { parseJson, readBytes } from "../foreign-json.ts";
import { parquetFile, readParquetRows } from "./parquet.ts";
import type { Peek } from "./peek.ts";

export interface Where {
  file: string;
  line?: number;
  /** Key of the row inside the file, as `[3]` in an array; absent when the line says it. */
  key?: string;
}

/** One object of a file. */
export interface Row {
  value: Record<string, unknown>;
  where: Where;
}

/** A key inside a row: `[3].conversations[1].value`. */
export function at(where: Where, key: string): Where {
  if (key === "") return where;
  const prefix = where.key ?? "";
  return { ...where, key: prefix === "" || key.startsWith("[") ? prefix + key : `${prefix}.${key}` };
}

function asRow(value: unknown, where: Where): Row {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(`expected an object, received ${jsonType(value)}`, where);
  }
  return { value: value as Record<string, unknown>, where };
}

/** All rows, in order. A JSON document gives the elements of its array, or itself. */
export async function* readRows(files: ImportFiles, found: Peek): AsyncGenerator<Row> {
  const file = label(files, found.path);
  if (found.container === "lines") {
    for await (const { record, line } of readObjects(files.open(found.path), { file })) {
      yield { value: record, where: { file, line } };
    }
    return;
  }
  if (found.container === "parquet") {
    const { size } = (await files.list()).find(({ path }) => path === found.path)!;
    let n = 0;
    for await (const value of readParquetRows(parquetFile(files, found.path, size), file)) {
      yield { value, where: { file, key: `row ${n}` } };
      n++;
    }
    return;
  }
  const document = await parseJson(await readBytes(files, found.path), file);
  if (!Array.isArray(document)) {
    yield asRow(document, { file });
    return;
  }
  for (let n = 0; n < document.length; n++) yield asRow(document[n], { file, key: `[${n}]` });
}

/** A row, or a part of one, checked; `InputError` names the key. */
export function check<T>(schema: z.ZodType<T>, value: unknown, where: Where): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { key, message } = describeIssue(result.error.issues[0]!, value);
  throw new InputError(message, at(where, key));
}

/** A list that a column may also hold as its JSON text, as some Parquet files do. */
export function listOrText<T extends z.ZodType>(element: T) {
  return z.preprocess((value) => {
    if (typeof value !== "string" || !value.trimStart().startsWith("[")) return value;
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }, z.array(element));
}
