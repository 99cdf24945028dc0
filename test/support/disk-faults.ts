/** What test files of disk faults have in common: faults, the folder that they are in, and what a fault may end in. */
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, vi } from "vitest";
import { InputError } from "../../src/core/errors.ts";
import { FileFaults, QUICK } from "./file-faults.ts";
import { ScratchFolder } from "./scratch-folder.ts";

/** Faults of single operations. */
export const FAULTS = ["short", "EIO", "ENOSPC", "EMFILE"] as const;

/** Asks through every fault of each file operation: the answer is the one without faults, or `attempt` found one line. */
export async function asksThroughFaults<T>(
  files: FileFaults,
  begin: () => string,
  ask: () => T | Promise<T>,
  attempt: (ask: () => Promise<T>) => Promise<unknown>,
): Promise<void> {
  begin();
  const whole = await ask();
  for (const fault of FAULTS)
    await files.each(fault, begin, async () => {
      let answered = false;
      const answer = await attempt(async () => {
        const found = await ask();
        answered = true;
        return found;
      });
      if (answered) expect(answer).toEqual(whole);
      if (fault === "short") expect(answered).toBe(true);
      expect(await ask()).toEqual(whole);
    });
}

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
