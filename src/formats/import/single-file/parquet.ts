/** Rows of Parquet files, a row group at a time, as plain JSON values. */

import { DEFAULT_PARSERS } from "hyparquet/src/convert.js";
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type RowGroup,
} from "hyparquet/src/index.js";
import { getTreePath } from "hyparquet/src/schema.js";
import { type Compressors, compressors } from "hyparquet-compressors";
import { InputError } from "../../../core/errors.ts";
import type { ImportFiles } from "../files.ts";
import { checkPageSize, checkPages } from "./parquet-pages.ts";

/** Rows decoded at once. */
const BATCH = 4096;

/** True for the beginning of a Parquet file, decoded as text. */
export function isParquet(head: string): boolean {
  return head.startsWith("PAR1");
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text is decoded strictly and whole; the reader's own decoder would drop a byte-order mark and mend what is not UTF-8. */
const parsers = {
  ...DEFAULT_PARSERS,
  stringFromBytes: (bytes: Uint8Array | undefined) =>
    bytes === undefined ? undefined : decoder.decode(bytes),
};

/** A listed file as what the Parquet reader reads ranges from. */
export function parquetFile(files: ImportFiles, path: string, size: number): AsyncBuffer {
  return {
    byteLength: size,
    async slice(start, end = size) {
      const first = start < 0 ? Math.max(0, size + start) : Math.min(start, size);
      const wanted = Math.max(0, Math.min(end, size) - first);
      const bytes = new Uint8Array(wanted);
      let filled = 0;
      if (wanted === 0) return bytes.buffer;
      for await (const chunk of files.open(path, first)) {
        const part = chunk.subarray(0, wanted - filled);
        bytes.set(part, filled);
        filled += part.length;
        if (filled === wanted) break;
      }
      if (filled < wanted) throw new InputError("ends before it should", { file: path });
      return bytes.buffer;
    },
  };
}

/** Parquet's values as JSON has them; integers that a number cannot hold become text. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint")
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value === undefined ? null : value;
  if (ArrayBuffer.isView(value) && isIterable(value)) return Array.from(value, plain);
  return plainObject(value);
}

function plainObject(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** Typed arrays are; a DataView is not. */
const isIterable = (value: object): value is Iterable<unknown> => Symbol.iterator in value;

/** Every fault inside the reader is a fault of the file: its checks are sparse, so damage can surface as anything. */
async function guarded<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(
      `not a readable Parquet file: ${error instanceof Error ? error.message : String(error)}`,
      { file },
    );
  }
}

interface SchemaNode {
  element: { name: string };
  children: readonly SchemaNode[];
  path: readonly string[];
}

function* leaves(node: SchemaNode): Generator<string> {
  if (node.children.length === 0) yield JSON.stringify(node.path);
  for (const child of node.children) yield* leaves(child);
}

/**
 * Each row group must hold each column of the schema once, in its order. (The reader does not look; a column that it
 * reads and then has no place for fails where nobody can catch it.)
 */
function checkColumns(metadata: FileMetaData, file: string): void {
  const tree: SchemaNode = parquetSchema(metadata);
  const columns = [...leaves(tree)];
  const names = tree.children.map(({ element }) => element.name);
  if (new Set(names).size < names.length || new Set(columns).size < columns.length) {
    throw new InputError("two columns have the same name", { file });
  }
  for (const [g, group] of metadata.row_groups.entries()) {
    const found = group.columns.map(({ meta_data }) => JSON.stringify(meta_data?.path_in_schema));
    if (found.length !== columns.length || found.some((path, n) => path !== columns[n])) {
      throw new InputError("its columns are not those of the schema", { file, key: `row_groups[${g}]` });
    }
  }
}

/** A page must not ask for more memory than its bytes can stand for. */
const guardedCompressors: Compressors = {};
for (const [codec, decompress] of Object.entries(compressors)) {
  if (!isCodec(codec)) continue;
  guardedCompressors[codec] = (input, length) => {
    checkPageSize(input.length, length);
    return decompress(input, length);
  };
}

function isCodec(name: string): name is keyof Compressors {
  return name in compressors;
}

/** The footer says how much memory a read takes: a damaged one must not ask for more than a file can hold. */
function checkMetadata(metadata: FileMetaData, size: number, file: string): void {
  for (const [g, group] of metadata.row_groups.entries()) {
    const count = Number(group.num_rows);
    const key = `row_groups[${g}]`;
    if (!(count >= 0) || !Number.isSafeInteger(count)) {
      throw new InputError(`expected a number of rows, received ${count}`, { file, key });
    }
    for (const { meta_data } of group.columns) {
      if (meta_data === undefined) throw new InputError("a column without metadata", { file, key });
      const start = Number(meta_data.dictionary_page_offset ?? meta_data.data_page_offset);
      const stored = Number(meta_data.total_compressed_size);
      const values = Number(meta_data.num_values);
      if (!(start >= 0) || !(stored >= 0) || start + stored > size || !(values >= 0)) {
        throw new InputError("a column lies outside the file", { file, key });
      }
      // Runs and dictionaries pack many values into few bytes, but not without limit.
      if (
        values > count + stored * 4096 ||
        Number(meta_data.total_uncompressed_size) > stored * 4096 + 4096
      ) {
        throw new InputError("a column claims more values than its bytes can hold", { file, key });
      }
    }
  }
}

/** Holds every page of a row group against its bytes, see `checkPages`. */
async function checkGroup(buffer: AsyncBuffer, metadata: FileMetaData, group: RowGroup): Promise<void> {
  const tree = parquetSchema(metadata);
  for (const { meta_data } of group.columns) {
    if (meta_data === undefined) continue;
    const start = Number(meta_data.dictionary_page_offset ?? meta_data.data_page_offset);
    const chunk = new Uint8Array(await buffer.slice(start, start + Number(meta_data.total_compressed_size)));
    const path = getTreePath(tree, meta_data.path_in_schema);
    checkPages(chunk, meta_data, path, guardedCompressors[meta_data.codec]);
  }
}

/** The rows in order, or the first `most` of them. `InputError` for anything that cannot be read. */
export async function* readParquetRows(
  buffer: AsyncBuffer,
  file: string,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Record<string, unknown>> {
  const metadata = await guarded(file, async () => {
    const metadata = await parquetMetadataAsync(buffer);
    checkColumns(metadata, file);
    checkMetadata(metadata, buffer.byteLength, file);
    return metadata;
  });
  let first = 0;
  for (const group of metadata.row_groups) {
    const end = Math.min(first + Number(group.num_rows), most);
    if (first >= end) break;
    await guarded(file, () => checkGroup(buffer, metadata, group));
    for (let start = first; start < end; start += BATCH) {
      const rowEnd = Math.min(start + BATCH, end);
      const rows = await guarded(file, () =>
        parquetReadObjects({
          file: buffer,
          metadata,
          compressors: guardedCompressors,
          parsers,
          rowStart: start,
          rowEnd,
        }),
      );
      if (rows.length !== rowEnd - start) {
        throw new InputError(`expected ${rowEnd} rows, found ${start + rows.length}`, { file });
      }
      for (const row of rows) yield plainObject(row);
    }
    first += Number(group.num_rows);
  }
}
