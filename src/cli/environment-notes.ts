/** What a person should know about how the environments of a library are treated: one line each, on standard error. */
import {
  customEnvironmentNote,
  environmentRules,
  isCustomEnvironment,
} from "../core/environment/environment.ts";
import { plainLine } from "../core/plain-text.ts";
import type { TaskEntry } from "../core/record/indexed/index.ts";
import { progress } from "./io.ts";

/** Says once for each name that an environment is custom. Keep one for each command. */
export class EnvironmentNotes {
  readonly #custom = new Set<string>();

  /** An environment that a record names. */
  environment(name: string, file: string): void {
    if (!isCustomEnvironment(name) || this.#custom.has(name)) return;
    this.#custom.add(name);
    progress(`gcopd: note: ${file}: ${plainLine(customEnvironmentNote(name))}`);
  }

  /** A library: its custom environments, and how many records the environments' rules leave out of it. */
  library(tasks: readonly Pick<TaskEntry, "environment" | "sources">[], file: string): void {
    const leftOut = new Map<string, number>();
    for (const { environment, sources } of tasks) {
      this.environment(environment, file);
      if (!environmentRules(environment).trustedSourcesOnly) continue;
      const count = sources.filter(({ complete, verified }) => !(complete && verified)).length;
      if (count > 0) leftOut.set(environment, (leftOut.get(environment) ?? 0) + count);
    }
    for (const [environment, count] of leftOut) {
      progress(
        `gcopd: note: ${file}: ${count} ${count === 1 ? "source" : "sources"} of ${environment} left out: ` +
          "its library holds complete, replay-checked records only",
      );
    }
  }
}
