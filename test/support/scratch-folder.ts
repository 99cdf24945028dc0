/** The folder of a test that begins again and again: each scenario has a new one. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

  /** What a file holds, a byte per character; null where there is none. */
  readonly textOf = (name: string): string | null => {
    try {
      return readFileSync(this.at(name), "latin1");
    } catch {
      return null;
    }
  };

  /** Every file below a folder with what it holds, by its path from there; null where there is no such folder. */
  readonly contents = (name: string): Record<string, string> | null => {
    const path = this.at(name);
    try {
      const names = readdirSync(path, { recursive: true, withFileTypes: true });
      return Object.fromEntries(
        names
          .filter((each) => each.isFile())
          .map((each) => join(each.parentPath, each.name))
          .sort()
          .map((file) => [file.slice(path.length), readFileSync(file, "latin1")]),
      );
    } catch {
      return null;
    }
  };

  /** A path from the folder on, where it is in it. */
  readonly inside = (path: string | null): string | null =>
    path?.startsWith(this.path) ? path.slice(this.path.length + 1) : path;

  remove(): void {
    if (this.#path !== null) rmSync(this.#path, { recursive: true, force: true });
  }
}
