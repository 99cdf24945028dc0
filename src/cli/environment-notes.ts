/** What a person should know about how the environments of a library are treated: one line each, on standard error. */
import {
  customEnvironmentNote,
  environmentRules,
  isCustomEnvironment,
} from "../core/environment/environment.ts";
import { plainLine } from "../core/plain-text.ts";
import { countOf } from "../core/plural.ts";
import type { Source } from "../core/record/schema.ts";
import { type Admitted, exclusion } from "../core/retrieval/admission.ts";
import { addEntries, type EntryCounts, noEntries } from "../core/retrieval/eligibility.ts";
import { REASON_TEXT } from "../core/retrieval/explain.ts";
import type { TaskEntry } from "../formats/indexed/index.ts";
import { progress } from "./io.ts";

/** Counts the sources that environments' rules leave out of their libraries, by reason. */
export class LeftOut {
  readonly #counts = new Map<string, number>();

  add(environment: string, source: Admitted): void {
    const why = exclusion(source, environmentRules(environment));
    if (why === null) return;
    const key = `of ${environment} left out: ${why}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** One line per environment and reason. */
  lines(): string[] {
    return [...this.#counts].map(([key, count]) => `${countOf(count, "source")} ${key}`);
  }
}

/**
 * Counts the visits of trusted successes that nothing can be retrieved from because of how a custom environment's
 * recorder wrote feedback.
 */
export class FeedbackMismatches {
  readonly #counts = new Map<string, EntryCounts>();

  add(source: Source): void {
    const { environment } = source;
    if (!isCustomEnvironment(environment)) return;
    const counts = this.#counts.get(environment) ?? noEntries();
    this.#counts.set(environment, counts);
    addEntries(counts, source, environmentRules(environment));
  }

  /** One line per environment that has any. */
  lines(): string[] {
    return [...this.#counts].flatMap(([environment, { visits, ineligible }]) => {
      const { feedback_mismatch: count } = ineligible;
      if (count === undefined) return [];
      const of = `${count} of ${countOf(visits, "visit")} of trusted successes of ${plainLine(environment)}`;
      return [`${of} cannot be retrieved: ${REASON_TEXT.feedback_mismatch} (docs/library-format.md)`];
    });
  }
}

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
    const leftOut = new LeftOut();
    for (const { environment, sources } of tasks) {
      this.environment(environment, file);
      for (const source of sources) leftOut.add(environment, { origin: "other", ...source });
    }
    for (const line of leftOut.lines()) progress(`gcopd: note: ${file}: ${line}`);
  }
}
