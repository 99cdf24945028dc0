import type { FolderReader, FolderWriter } from "../src/core/ports.ts";

/** A folder in memory, to be read and written by tests. Counts the largest single read. */
export class MemoryFolder implements FolderReader, FolderWriter {
  readonly files = new Map<string, Uint8Array>();
  largestRead = 0;

  constructor(
    readonly name = "model",
    files: Record<string, Uint8Array | string> = {},
  ) {
    for (const [file, content] of Object.entries(files)) this.set(file, content);
  }

  /** A copy of another folder. */
  static async from(folder: FolderReader): Promise<MemoryFolder> {
    const copy = new MemoryFolder();
    for (const file of await folder.list())
      copy.set(file, await folder.read(file, 0, await folder.size(file)));
    return copy;
  }

  set(file: string, content: Uint8Array | string): void {
    this.files.set(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }

  text(file: string): string {
    return new TextDecoder().decode(this.files.get(file));
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()];
  }

  async size(file: string): Promise<number> {
    return this.files.get(file)!.length;
  }

  async read(file: string, start: number, end: number): Promise<Uint8Array> {
    this.largestRead = Math.max(this.largestRead, end - start);
    return this.files.get(file)!.slice(start, end);
  }

  async write(file: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    this.files.set(file, bytes);
  }

  async commit(): Promise<void> {}

  async abort(): Promise<void> {
    this.files.clear();
  }
}

/** A safetensors file of the given header (`data` bytes behind it), whatever the header says. */
export function safetensorsBytes(header: unknown, data: Uint8Array): Uint8Array {
  const json = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}
