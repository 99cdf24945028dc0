/**
 * A look at the pages of a Parquet column before they are decoded. The decoder believes what headers and runs claim: a
 * damaged length of a few bytes would make it fill gigabytes, or never end. Here every claim is held against the bytes.
 */

import { parquetHeader } from "hyparquet/src/column.js";
import type { ColumnMetaData, SchemaTree } from "hyparquet/src/index.js";
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from "hyparquet/src/schema.js";

/** Values that a run may claim beyond those of its page: runs are padded, and bytes after the last run mean nothing. */
const PADDING = 1 << 16;
/** Bytes that one stored byte can stand for, in the best of codecs. */
const EXPANSION = 20_000;
/** Bytes of the largest page: writers cut them at about a megabyte, and a few at a whole column of a row group. */
const LARGEST_PAGE = 256 * 2 ** 20;

export type Decompress = (input: Uint8Array, length: number) => Uint8Array;

/** Throws when a page claims to hold more than its bytes can stand for. */
export function checkPageSize(stored: number, length: number): void {
  if (!(length >= 0) || length > Math.min(LARGEST_PAGE, stored * EXPANSION + 4096))
    throw new Error(`a page claims ${length} bytes`);
}

/** Holds the runs of an RLE/bit-packed sequence in [offset, end) against the number of values wanted. */
function checkRuns(bytes: Uint8Array, offset: number, end: number, width: number, wanted: number): void {
  let at = offset;
  let seen = 0;
  while (seen < wanted && at < end) {
    let header = 0;
    let shift = 0;
    for (; at < end; shift += 7) {
      const byte = bytes[at++]!;
      header += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const packed = header % 2 === 1;
    const count = packed ? ((header - 1) / 2) * 8 : header / 2;
    if (count > wanted + PADDING) throw new Error(`a run claims ${count} values in a page of ${wanted}`);
    at += packed ? (count / 8) * width : Math.ceil(width / 8);
    seen += count;
  }
}

function bitWidth(level: number): number {
  return 32 - Math.clz32(level);
}

/** Levels that begin with their own length. Returns where they end. */
function checkLevels(page: Uint8Array, offset: number, level: number, values: number): number {
  if (level === 0) return offset;
  const view = new DataView(page.buffer, page.byteOffset, page.byteLength);
  const end = offset + 4 + view.getUint32(offset, true);
  if (end > page.length) throw new Error("levels end behind their page");
  checkRuns(page, offset + 4, end, bitWidth(level), values);
  return end;
}

function checkIndexes(
  page: Uint8Array,
  offset: number,
  encoding: string,
  boolean: boolean,
  values: number,
): void {
  if (boolean && encoding === "RLE") checkLevels(page, offset, 1, values);
  else if (encoding.endsWith("DICTIONARY") && offset < page.length) {
    checkRuns(page, offset + 1, page.length, page[offset]!, values);
  }
}

function checkCount(values: number, most: number): void {
  if (!(values >= 0 && values <= most)) throw new Error(`a page claims ${values} values, its column ${most}`);
}

/**
 * Throws an `Error` for the first claim that cannot be true.
 *
 * @param chunk the column's bytes in one row group
 * @param path its place in the schema, the root first
 */
export function checkPages(
  chunk: Uint8Array,
  column: ColumnMetaData,
  path: SchemaTree[],
  decompress: Decompress | undefined,
): void {
  const most = Number(column.num_values);
  const repetition = getMaxRepetitionLevel(path);
  const definition = getMaxDefinitionLevel(path);
  const boolean = column.type === "BOOLEAN";
  const reader = { view: new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength), offset: 0 };
  const unpack = (bytes: Uint8Array, length: number) =>
    column.codec === "UNCOMPRESSED" || decompress === undefined ? bytes : decompress(bytes, length);
  while (reader.offset < chunk.length - 1) {
    const header = parquetHeader(reader);
    const stored = header.compressed_page_size;
    if (!(stored >= 0) || reader.offset + stored > chunk.length)
      throw new Error(`a page claims ${stored} bytes`);
    checkPageSize(stored, header.uncompressed_page_size);
    const bytes = chunk.subarray(reader.offset, reader.offset + stored);
    reader.offset += stored;
    if (header.dictionary_page_header !== undefined) {
      checkCount(header.dictionary_page_header.num_values, header.uncompressed_page_size * 8);
    }
    const first = header.data_page_header;
    if (first !== undefined && header.type === "DATA_PAGE") {
      checkCount(first.num_values, most);
      const page = unpack(bytes, header.uncompressed_page_size);
      const levels = checkLevels(page, 0, repetition, first.num_values);
      const values = checkLevels(page, levels, definition, first.num_values);
      checkIndexes(page, values, first.encoding ?? "", boolean, first.num_values);
    }
    const second = header.data_page_header_v2;
    if (second !== undefined && header.type === "DATA_PAGE_V2") {
      checkCount(second.num_values, most);
      checkCount(second.num_rows, most);
      checkCount(second.num_nulls, second.num_values);
      const levels = second.repetition_levels_byte_length;
      const values = levels + second.definition_levels_byte_length;
      if (!(levels >= 0 && values >= levels && values <= stored))
        throw new Error("levels end behind their page");
      if (repetition > 0) checkRuns(bytes, 0, levels, bitWidth(repetition), second.num_values);
      if (definition > 0) checkRuns(bytes, levels, values, bitWidth(definition), second.num_values);
      const rest = bytes.subarray(values);
      const page =
        second.is_compressed === false ? rest : unpack(rest, header.uncompressed_page_size - values);
      checkIndexes(page, 0, second.encoding ?? "", boolean, second.num_values);
    }
  }
}
