/** The folder of a test that begins again and again: each scenario has a new one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export class ScratchFolder {
  #path: string | null = null;

  /** @param prefix path of the folders, to which letters are added */
  constructor(private readonly prefix: string) {}

  get path(): string {
    if (this.#path === null) throw new Error("the folder was not begun");
    return this.#path;
  }

  readonly at = (...path: string[]): string => join(this.path, ...path);

  /** Writes a file and makes its folders; what it holds matters only where it is given. */
  readonly write = (path: string, content: string | Uint8Array = path): void => {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), content);
  };

  /** Makes a new folder in place of the one before, with what `fill` puts there. */
  readonly begin = (fill: () => void = () => {}): string => {
    this.remove();
    this.#path = mkdtempSync(this.prefix);
    fill();
    return this.#path;
  };

  remove(): void {
    if (this.#path !== null) rmSync(this.#path, { recursive: true, force: true });
  }
}
