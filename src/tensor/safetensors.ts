import { InputError } from "../core/errors.ts";
import { DEEPEST_OF_MODELS, parseJsonText } from "../core/json.ts";
import type { FolderReader } from "../core/ports.ts";
import { shownBytes } from "../core/shown-bytes.ts";
import { elements } from "./shapes.ts";

/** Bits of one value of every dtype that the format knows. */
const DTYPE_BITS: Readonly<Record<string, number>> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  F64: 64,
  I64: 64,
  U64: 64,
  C64: 64,
};

/** Bytes of the largest header: some 250,000 tensors. The format allows 100 MB, which parsed take half a gigabyte. */
const LARGEST_HEADER = 32 * 2 ** 20;

/** Tensors of the largest model: those of 700 billion parameters with their scales have 92,000. */
export const MOST_TENSORS = 250_000;

export interface TensorEntry {
  name: string;
  /** As in the header: F32, BF16, I64, … */
  dtype: string;
  shape: readonly number[];
  /** First byte and byte after the last, counted from the start of the file. */
  start: number;
  end: number;
}

export interface SafetensorsHeader {
  tensors: ReadonlyMap<string, TensorEntry>;
  metadata: Readonly<Record<string, string>>;
}

/**
 * Reads and validates the header of a safetensors file: an 8-byte little-endian length, JSON, then data that the
 * tensors cover without a gap or an overlap. Throws an InputError naming the file otherwise.
 */
export async function readSafetensorsHeader(folder: FolderReader, file: string): Promise<SafetensorsHeader> {
  const place = `${folder.name}/${file}`;
  const size = await folder.size(file);
  if (size < 8)
    throw new InputError(`not a safetensors file: ${size} bytes, shorter than the header's length`, {
      file: place,
    });
  const prefix = await folder.read(file, 0, 8);
  const length = Number(new DataView(prefix.buffer, prefix.byteOffset, 8).getBigUint64(0, true));
  if (length > LARGEST_HEADER && 8 + length <= size)
    throw new InputError(
      `a header of ${length} bytes, the most that is read is ${shownBytes(LARGEST_HEADER)}`,
      { file: place },
    );
  if (8 + length > size)
    throw new InputError(
      `not a whole safetensors file: a header of ${length} bytes is announced, the file has ${size}`,
      { file: place },
    );
  const text = new TextDecoder().decode(await folder.read(file, 8, 8 + length));
  return parseSafetensorsHeader(text, 8 + length, size, place);
}

/** `dataStart` and `size` are bytes of the file; `place` names it in messages. */
export function parseSafetensorsHeader(
  text: string,
  dataStart: number,
  size: number,
  place: string,
): SafetensorsHeader {
  const header = parseJsonText(text, { file: place, key: "header" }, DEEPEST_OF_MODELS);
  if (!isObject(header)) throw new InputError("the safetensors header is not a JSON object", { file: place });
  const tensors = new Map<string, TensorEntry>();
  let metadata: Record<string, string> = {};
  const entries = Object.entries(header);
  if (entries.length > MOST_TENSORS)
    throw new InputError(`holds ${entries.length} tensors, a model has at most ${MOST_TENSORS}`, {
      file: place,
    });
  for (const [name, value] of entries) {
    if (name === "__metadata__") metadata = parseMetadata(value, place);
    else tensors.set(name, parseEntry(name, value, dataStart, size, place));
  }
  checkCover([...tensors.values()], dataStart, size, place);
  return { tensors, metadata };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function parseMetadata(value: unknown, file: string): Record<string, string> {
  if (!isObject(value) || Object.values(value).some((entry) => typeof entry !== "string"))
    throw new InputError("expected an object of strings", { file, key: "__metadata__" });
  return value as Record<string, string>;
}

function parseEntry(key: string, value: unknown, dataStart: number, size: number, file: string): TensorEntry {
  const where = { file, key };
  if (!isObject(value)) throw new InputError("expected dtype, shape and data_offsets", where);
  const { dtype, shape, data_offsets: offsets } = value;
  const bits = typeof dtype === "string" && Object.hasOwn(DTYPE_BITS, dtype) ? DTYPE_BITS[dtype] : undefined;
  if (typeof dtype !== "string" || bits === undefined)
    throw new InputError(`unknown dtype ${JSON.stringify(dtype)}`, where);
  if (!Array.isArray(shape) || !shape.every(isSize))
    throw new InputError("expected a shape of whole numbers", where);
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isSize))
    throw new InputError("expected data_offsets of two whole numbers", where);
  const [start, end] = [dataStart + offsets[0]!, dataStart + offsets[1]!];
  if (start > end || end > size)
    throw new InputError(
      `data_offsets ${offsets[0]} … ${offsets[1]} lie outside the ${size - dataStart} bytes of data`,
      where,
    );
  if ((end - start) * 8 !== elements(shape) * bits)
    throw new InputError(
      `${end - start} bytes of data do not hold ${dtype} [${shape.join(", ")}], which takes ${(elements(shape) * bits) / 8}`,
      where,
    );
  return { name: key, dtype, shape, start, end };
}

function checkCover(entries: TensorEntry[], dataStart: number, size: number, file: string): void {
  entries.sort((a, b) => a.start - b.start || a.end - b.end);
  let at = dataStart;
  for (const { name, start, end } of entries) {
    if (start !== at) {
      const problem = start < at ? "the data overlap those of another tensor" : "a gap lies before the data";
      throw new InputError(problem, { file, key: name });
    }
    at = end;
  }
  if (at !== size) throw new InputError(`${size - at} bytes at the end belong to no tensor`, { file });
}

/**
 * The bytes of a safetensors file, tensor by tensor, in the given order. `data` is called once for each, when its turn
 * comes, and gives its bytes in pieces, so that one piece is in memory.
 */
export async function* writeSafetensors(
  tensors: readonly { name: string; dtype: string; shape: readonly number[] }[],
  data: (index: number) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  metadata: Readonly<Record<string, string>> = {},
): AsyncGenerator<Uint8Array> {
  const header: Record<string, unknown> = { __metadata__: { format: "pt", ...metadata } };
  let at = 0;
  const lengths = tensors.map(({ name, dtype, shape }) => {
    const length = (elements(shape) * DTYPE_BITS[dtype]!) / 8;
    header[name] = { dtype, shape, data_offsets: [at, at + length] };
    at += length;
    return length;
  });
  const json = new TextEncoder().encode(JSON.stringify(header));
  // Spaces after the JSON make the data start at a multiple of eight, as other writers do.
  const first = new Uint8Array(8 + Math.ceil(json.length / 8) * 8).fill(0x20);
  new DataView(first.buffer).setBigUint64(0, BigInt(first.length - 8), true);
  first.set(json, 8);
  yield first;
  for (const [i, length] of lengths.entries()) {
    let given = 0;
    for await (const bytes of data(i)) {
      given += bytes.length;
      yield bytes;
    }
    if (given !== length) throw new Error(`${tensors[i]!.name}: ${given} bytes given, ${length} announced`);
  }
}
