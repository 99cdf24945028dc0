import { InputError } from "../core/errors.ts";
import { readFolderText } from "../core/folder-text.ts";
import { DEEPEST_OF_MODELS, parseJsonText } from "../core/json.ts";
import type { FolderReader } from "../core/ports.ts";
import { decodeFloats, type FloatFormat, FORMAT_BYTES } from "./number-format.ts";
import { MOST_TENSORS, readSafetensorsHeader, type TensorEntry } from "./safetensors.ts";
import { elements } from "./shapes.ts";

const SINGLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";

/** Bytes read at once: large enough to be fast, small enough that fresh memory for them is, too (docs/performance.md). */
export const PIECE = 8 * 2 ** 20;

/** So many rows of any format take a multiple of 256 bytes, which is where a part of a buffer may begin. */
const ROWS = 64;

/** Whole rows of a tensor as its file stores them, from row `row` on. */
export interface StoredRows {
  row: number;
  format: FloatFormat;
  /** Bytes. */
  length: number;
  /** As `FolderReader.read`. */
  read(into?: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** A tensor and the file that it lies in. */
export interface StoredTensor extends TensorEntry {
  file: string;
}

/** The tensors of a model folder, in one file or in shards; data are read only when asked for. */
export class Checkpoint {
  private constructor(
    private readonly folder: FolderReader,
    readonly tensors: ReadonlyMap<string, StoredTensor>,
    /** The file that lists the tensors: for messages about one that is missing. */
    readonly listing: string,
  ) {}

  /** Opens model.safetensors or, when there is none, the shards of model.safetensors.index.json. */
  static async open(folder: FolderReader): Promise<Checkpoint> {
    const files = await folder.list();
    if (files.includes(SINGLE)) return Checkpoint.openFile(folder, SINGLE);
    if (!files.includes(INDEX))
      throw new InputError(`expected ${SINGLE} or ${INDEX}; weights in other formats cannot be read`, {
        file: folder.name,
      });
    const place = `${folder.name}/${INDEX}`;
    const index = parseIndex(await readFolderText(folder, INDEX), place);
    if (index.size > MOST_TENSORS)
      throw new InputError(`lists ${index.size} tensors, a model has at most ${MOST_TENSORS}`, {
        file: place,
      });
    const tensors = new Map<string, StoredTensor>();
    for (const file of new Set(index.values())) {
      if (!files.includes(file))
        throw new InputError("the index names this file, and it is missing", {
          file: `${folder.name}/${file}`,
        });
      const header = await readSafetensorsHeader(folder, file);
      for (const [name, entry] of header.tensors) {
        if (index.get(name) !== file)
          throw new InputError(`${INDEX} does not list this tensor here`, {
            file: `${folder.name}/${file}`,
            key: name,
          });
        tensors.set(name, { ...entry, file });
      }
    }
    for (const [name, file] of index)
      if (!tensors.has(name))
        throw new InputError(`listed in ${INDEX}, and missing`, {
          file: `${folder.name}/${file}`,
          key: name,
        });
    return new Checkpoint(folder, tensors, place);
  }

  /** Opens one safetensors file of a folder. */
  static async openFile(folder: FolderReader, file: string): Promise<Checkpoint> {
    const { tensors } = await readSafetensorsHeader(folder, file);
    const stored = new Map([...tensors].map(([name, entry]) => [name, { ...entry, file }]));
    return new Checkpoint(folder, stored, `${folder.name}/${file}`);
  }

  /** The place of a tensor, for messages. */
  where(name: string): { file: string; key: string } {
    const stored = this.tensors.get(name);
    return { file: stored === undefined ? this.listing : `${this.folder.name}/${stored.file}`, key: name };
  }

  /** The tensor as f32. Throws an InputError when it is missing, of another shape, or has a NaN or an infinity. */
  async read(name: string, shape: readonly number[], signal?: AbortSignal): Promise<Float32Array> {
    const out = new Float32Array(elements(shape));
    for await (const { at, values } of this.pieces(name, shape, signal)) out.set(values, at);
    return out;
  }

  /** Whether two tensors hold the same values; neither is in memory whole. */
  async same(a: string, b: string, shape: readonly number[], signal?: AbortSignal): Promise<boolean> {
    if (this.format(a, shape) === this.format(b, shape) && (await this.#sameBytes(a, b, shape, signal)))
      return true;
    // Formats that differ may hold the same values, and so may 0 and -0.
    const others = this.pieces(b, shape, signal);
    try {
      for await (const { values } of this.pieces(a, shape, signal)) {
        const other = await others.next();
        if (other.done || values.some((value, i) => value !== other.value.values[i])) return false;
      }
      return true;
    } finally {
      await others.return();
    }
  }

  /** Much faster than comparing values. */
  async #sameBytes(a: string, b: string, shape: readonly number[], signal?: AbortSignal): Promise<boolean> {
    const others = this.rows(b, shape, signal);
    for (const one of this.rows(a, shape, signal)) {
      const { value: other } = others.next();
      const [x, y] = await Promise.all([one.read(), (other as StoredRows).read()]);
      if (!equalBytes(x, y)) return false;
    }
    return true;
  }

  /** Where a tensor lies and in which format. Throws an InputError when it is missing or of another shape or kind. */
  private find(name: string, shape: readonly number[]): { stored: StoredTensor; format: FloatFormat } {
    const where = this.where(name);
    const stored = this.tensors.get(name);
    if (stored === undefined) throw new InputError("this tensor is missing", where);
    if (stored.shape.length !== shape.length || stored.shape.some((size, i) => size !== shape[i]))
      throw new InputError(
        `the shape is [${stored.shape.join(", ")}], but config.json asks for [${shape.join(", ")}]`,
        where,
      );
    if (!isFloatFormat(stored.dtype))
      throw new InputError(`weights of dtype ${stored.dtype} cannot be read (only F32, F16 and BF16)`, where);
    return { stored, format: stored.dtype };
  }

  /** The format that a tensor is stored in; the checks are those of `rows`. */
  format(name: string, shape: readonly number[]): FloatFormat {
    return this.find(name, shape).format;
  }

  /** Bytes that a tensor takes in its file. */
  bytes(name: string): number {
    const { start, end } = this.tensors.get(name)!;
    return end - start;
  }

  /**
   * A tensor's bytes as stored, in pieces of whole rows of its last dimension that are still to be read: a multiple of 64
   * rows, or an even number where 64 are too long, but in the last. Throws an InputError when the tensor is missing or of
   * another shape or kind; values are not looked at.
   */
  *rows(name: string, shape: readonly number[], signal?: AbortSignal): Generator<StoredRows, void> {
    const { stored, format } = this.find(name, shape);
    const { folder } = this;
    const rowBytes = (shape.at(-1) ?? 1) * FORMAT_BYTES[format];
    const most = Math.floor(PIECE / rowBytes);
    const step = most >= ROWS ? most - (most % ROWS) : Math.max(2, most - (most % 2));
    const count = (stored.end - stored.start) / Math.max(1, rowBytes);
    for (let row = 0; row < count; row += step) {
      signal?.throwIfAborted();
      const start = stored.start + row * rowBytes;
      const end = Math.min(stored.end, start + step * rowBytes);
      yield { row, format, length: end - start, read: (into) => folder.read(stored.file, start, end, into) };
    }
  }

  /** The values in runs of equal length whatever the format, so that tensors of two formats can be compared. */
  private async *pieces(
    name: string,
    shape: readonly number[],
    signal?: AbortSignal,
  ): AsyncGenerator<{ at: number; values: Float32Array }, void> {
    const where = this.where(name);
    const { stored, format } = this.find(name, shape);
    const width = FORMAT_BYTES[format];
    const step = PIECE / 4;
    const count = elements(shape);
    for (let at = 0; at < count; at += step) {
      signal?.throwIfAborted();
      const length = Math.min(step, count - at);
      const start = stored.start + at * width;
      const bytes = await this.folder.read(stored.file, start, start + length * width);
      const values = new Float32Array(length);
      decodeFloats(format, bytes, values);
      const bad = values.findIndex((value) => !Number.isFinite(value));
      if (bad >= 0)
        throw new InputError(`value ${at + bad} is ${values[bad]}, expected finite weights`, where);
      yield { at, values };
    }
  }
}

function equalBytes(x: Uint8Array, y: Uint8Array): boolean {
  const whole = x.length - (x.length % 4);
  if (x.length !== y.length || x.byteOffset % 4 !== 0 || y.byteOffset % 4 !== 0) return false;
  const [p, q] = [x, y].map((bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, whole / 4)) as [
    Uint32Array,
    Uint32Array,
  ];
  for (let i = 0; i < p.length; i++) if (p[i] !== q[i]) return false;
  return x.subarray(whole).every((byte, i) => byte === y[whole + i]);
}

function isFloatFormat(dtype: string): dtype is FloatFormat {
  return Object.hasOwn(FORMAT_BYTES, dtype);
}

function parseIndex(text: string, file: string): Map<string, string> {
  const index = parseJsonObject(text, file);
  const map = index["weight_map"];
  if (typeof map !== "object" || map === null || Array.isArray(map))
    throw new InputError("expected an object of tensor and file names", { file, key: "weight_map" });
  const entries = Object.entries(map);
  for (const [name, target] of entries)
    if (typeof target !== "string" || /[\\/]/.test(target))
      throw new InputError(`${JSON.stringify(target)} is not the name of a file in this folder`, {
        file,
        key: name,
      });
  return new Map(entries);
}

/** A JSON text that must be an object; an InputError naming `file` otherwise. */
export function parseJsonObject(text: string, file: string): Record<string, unknown> {
  const value = parseJsonText(text, { file }, DEEPEST_OF_MODELS);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InputError("expected a JSON object", { file });
  return value as Record<string, unknown>;
}
