/** What a long command has finished of its output: interrupted or killed, the same command goes on after it. */
import { rm } from "node:fs/promises";
import { InputError } from "../../core/errors.ts";
import type { DeviceChoice } from "../../engine/native/index.ts";
import { LineDecoder, LineSplitter } from "../../formats/lines.ts";
import { parseObject } from "../../formats/read.ts";
import { recordLine } from "../../formats/write.ts";
import { AppendFile } from "../../node/append-file.ts";
import { isThere, onFile } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { writeWhole } from "../../node/whole-file.ts";
import { isStream, openBytes, progress } from "../io.ts";

const FORMAT = "gcopd.unfinished.v1";

/**
 * Tokens that are read before the model runs, and kept together: enough to fill its passes, little beside the weights.
 * The processor is slow and gains little from more.
 */
export const groupTokens = (kind: DeviceChoice): number => (kind === "cpu" ? 16_384 : 65_536);

/** Lines of a file beside the output, after one that says what they are of. It is made with the first of them. */
export class KeptLines {
  /** Undefined where nothing is kept. */
  readonly path: string | undefined;
  #header = "";
  #file: AppendFile | null = null;
  /** The file on the disk is known to be of this work. */
  #goesOn = false;
  /** Lines read so far; what another attempt has added since is ignored. */
  #read = 0;

  constructor(path: string | undefined) {
    this.path = path;
  }

  /** @param out the command's output; where it is no file, nothing is kept */
  static async beside(out: string | undefined): Promise<KeptLines> {
    return new KeptLines((await isStream(out)) ? undefined : `${out}.part`);
  }

  /** What an interrupted command leaves, in a phrase. */
  get left(): string {
    if (this.path === undefined) return "what was printed is not whole";
    if (!isThere(this.path)) return "nothing was written";
    return this.#goesOn ? `the same command goes on from ${this.path}` : `${this.path} is as it was before`;
  }

  /**
   * @param identity what decides the lines, apart from the program's version; a file of another one is started over
   * @throws InputError for a file that holds something else
   */
  async open(identity: object): Promise<void> {
    this.#header = recordLine({ format: FORMAT, version: PACKAGE.version, ...identity });
    const { path } = this;
    if (path === undefined || !isThere(path)) return;
    const header = await this.#firstLine();
    // Ours is written whole, header first: a file without that header belongs to someone else.
    if (!header.startsWith(`{"format":"${FORMAT}"`))
      throw new InputError("is not an unfinished output of this command: move it, or choose another output", {
        file: path,
      });
    this.#goesOn = `${header}\n` === this.#header;
    progress(
      this.#goesOn
        ? `goes on from ${path}`
        : `gcopd: note: ${path}: left by another model, input, option or version; begins again`,
    );
  }

  /** What was kept before, in its order. @throws InputError for a damaged line */
  async *lines(): AsyncGenerator<Record<string, unknown>> {
    if (!this.#goesOn) return;
    let line = 0;
    for await (const text of this.#whole()) {
      line++;
      if (line === 1) continue;
      this.#read++;
      yield parseObject(text, { file: this.path!, line });
    }
  }

  /** Returns when the records are on the disk. */
  async append(records: readonly object[]): Promise<void> {
    if (this.path === undefined) return;
    if (this.#file === null) {
      // As a new file: another attempt that still runs goes on in the old one, which nobody reads again.
      await writeWhole(this.path, this.#begun());
      this.#goesOn = true;
      this.#file = new AppendFile(this.path);
    }
    this.#file.append(records.map(recordLine).join(""));
    this.#file.sync();
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  /** Once the output is whole. */
  async remove(): Promise<void> {
    this.close();
    if (this.path !== undefined) await onFile(this.path, "write", rm(this.path, { force: true }));
  }

  async *#begun(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    yield encoder.encode(this.#header);
    if (this.#read === 0) return;
    let line = 0;
    for await (const text of this.#whole()) {
      if (line > 0) yield encoder.encode(`${text}\n`);
      if (line++ === this.#read) return;
    }
  }

  /** "" where there is no whole line. */
  async #firstLine(): Promise<string> {
    for await (const text of this.#whole()) return text;
    return "";
  }

  /** The lines that a kill did not cut short. */
  async *#whole(): AsyncGenerator<string> {
    const path = this.path!;
    const [splitter, decoder] = [new LineSplitter(path), new LineDecoder(path)];
    for await (const chunk of openBytes(path))
      for (const line of splitter.lines(chunk)) yield decoder.decode(line) ?? "";
  }
}
