import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync } from "node:fs";
import { onFileSync } from "./file-error.ts";
import { writeAllSync } from "./whole-file.ts";

/** A file of lines that grows at its end. An append is whole, or the file is cut back to what it was before. */
export class AppendFile {
  readonly #file: number;
  /** Bytes that are whole appends. */
  #length: number;
  /** A failed append may have left a part of itself behind. */
  #torn = false;

  /** Opens or makes the file. @throws InputError for faults of the disk, here and below */
  constructor(private readonly path: string) {
    this.#file = onFileSync(path, "write", () => openSync(path, "a"));
    try {
      this.#length = onFileSync(path, "write", () => fstatSync(this.#file).size);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  /** @returns where the text stands, in bytes */
  append(text: string): { offset: number; bytes: number } {
    return onFileSync(this.path, "write", () => {
      const offset = this.#length;
      if (this.#torn) this.#cutBack();
      const bytes = new TextEncoder().encode(text);
      this.#torn = true;
      try {
        writeAllSync(this.#file, bytes);
      } catch (error) {
        try {
          this.#cutBack();
        } catch {
          // Tried again by the next append; the fault that came first is the one to tell.
        }
        throw error;
      }
      this.#torn = false;
      this.#length += bytes.length;
      return { offset, bytes: bytes.length };
    });
  }

  /** Returns when all appends are on the disk. */
  sync(): void {
    onFileSync(this.path, "write", () => fsyncSync(this.#file));
  }

  close(): void {
    onFileSync(this.path, "write", () => closeSync(this.#file));
  }

  #cutBack(): void {
    ftruncateSync(this.#file, this.#length);
    this.#torn = false;
  }
}
