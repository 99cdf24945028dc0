import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { writeWhole } from "../../node/whole-file.ts";
import type { TuningStore } from "../../tensor/index.ts";

/** `on`: kernels are chosen by measuring them. By default fixed rules choose, which were measured on a datacenter card. */
export const TUNING = "GCOPD_TUNING";

/** Where this user's measured choices of kernels are kept: `gcopd/tuning.json` in XDG_CACHE_HOME or ~/.cache. */
export function tuningFile(environment: NodeJS.ProcessEnv): string {
  const { XDG_CACHE_HOME: cache } = environment;
  // The specification has relative paths ignored.
  return join(cache && isAbsolute(cache) ? cache : join(homedir(), ".cache"), "gcopd", "tuning.json");
}

/** A store in that file where GCOPD_TUNING turns measuring on, else false. @throws InputError for another value */
export function nodeTuningStore(environment: NodeJS.ProcessEnv): TuningStore | false {
  const choice = environment[TUNING] ?? "";
  if (choice === "" || choice === "off") return false;
  if (choice !== "on") throw new InputError(`${TUNING} is ${JSON.stringify(choice)}; expected "on" or "off"`);
  return fileTuningStore(tuningFile(environment));
}

/** Whole in a file, which other processes never see half-written. */
export function fileTuningStore(path: string): TuningStore {
  return {
    async read() {
      try {
        return await readFile(path, "utf8");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      }
    },
    async write(text) {
      await mkdir(dirname(path), { recursive: true });
      await writeWhole(path, [new TextEncoder().encode(text)]);
    },
  };
}
