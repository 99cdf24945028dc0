/** What test files of disk faults have in common: faults, the folder that they are in, and what a fault may end in. */
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, vi } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { FileFaults, QUICK } from "./file-faults.ts";
import { ScratchFolder } from "./scratch-folder.ts";

/** Faults of single operations. */
export const FAULTS = ["short", "EIO", "ENOSPC", "EMFILE"] as const;

/** Puts the faults in place for the tests of a file, each of which begins in a new folder and prints nothing. */
export async function diskFaults(prefix: string) {
  const files = await FileFaults.install();
  const folder = new ScratchFolder(join(QUICK, prefix));
  afterAll(() => files.restore());
  beforeEach(() => {
    folder.begin();
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
  });
  afterEach(() => {
    files.disarm();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    folder.remove();
  });

  /** What `work` gives, or null where it ends in one line; without faults afterwards. */
  async function orLine<T>(work: () => T | Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      expect(error).toBeInstanceOf(InputError);
      expect((error as Error).message).toMatch(/^[^\n]+: [^\n]+$/);
      // As the message names it: what was hit may be a file or folder beside it.
      expect((error as InputError).where.file).toBeDefined();
      return null;
    } finally {
      files.disarm();
    }
  }
  return { files, folder, orLine };
}
