/** A model folder in memory, read from a fixture or written by what is under test. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FolderReader, FolderWriter } from "../../src/core/ports.ts";

export class MemoryFolder implements FolderReader, FolderWriter {
  readonly files = new Map<string, Uint8Array>();
  committed = false;

  constructor(readonly name: string) {}

  static fromDisk(path: string): MemoryFolder {
    const folder = new MemoryFolder(path);
    for (const file of readdirSync(path))
      folder.files.set(file, new Uint8Array(readFileSync(join(path, file))));
    folder.committed = true;
    return folder;
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()];
  }

  async size(file: string): Promise<number> {
    return this.files.get(file)!.length;
  }

  async read(file: string, start: number, end: number): Promise<Uint8Array> {
    return this.files.get(file)!.slice(start, end);
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk.slice());
    this.files.set(name, new Uint8Array(Buffer.concat(parts)));
  }

  async commit(): Promise<void> {
    this.committed = true;
  }

  async abort(): Promise<void> {
    this.files.clear();
  }
}
