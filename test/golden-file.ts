import { readFolderText } from "../src/core/folder-text.ts";
import type { FolderReader } from "../src/core/ports.ts";
import { readSafetensorsHeader, type SafetensorsHeader } from "../src/tensor/safetensors.ts";

/** A safetensors file of golden values: F32, F64 and I32. */
export class GoldenFile {
  private constructor(
    private readonly folder: FolderReader,
    private readonly file: string,
    private readonly header: SafetensorsHeader,
  ) {}

  static async open(folder: FolderReader, file: string): Promise<GoldenFile> {
    return new GoldenFile(folder, file, await readSafetensorsHeader(folder, file));
  }

  get names(): string[] {
    return [...this.header.tensors.keys()];
  }

  shape(name: string): readonly number[] {
    const entry = this.header.tensors.get(name);
    if (entry === undefined) throw new Error(`${this.file} has no ${name}`);
    return entry.shape;
  }

  /** Number of values. */
  count(name: string): number {
    return this.shape(name).reduce((product, size) => product * size, 1);
  }

  async numbers(name: string): Promise<number[]> {
    const entry = this.header.tensors.get(name);
    if (entry === undefined) throw new Error(`${this.file} has no ${name}`);
    const bytes = await this.folder.read(this.file, entry.start, entry.end);
    const { buffer } = bytes.slice();
    if (entry.dtype === "F32") return [...new Float32Array(buffer)];
    if (entry.dtype === "F64") return [...new Float64Array(buffer)];
    if (entry.dtype === "I32") return [...new Int32Array(buffer)];
    throw new Error(`${name}: unexpected dtype ${entry.dtype}`);
  }
}

export async function readJson<T>(folder: FolderReader, file: string): Promise<T> {
  return JSON.parse(await readFolderText(folder, file)) as T;
}
