/** ScienceWorld's run histories: `getRunHistoryJSON()`, and the files that save several of them by episode number. */
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import { jsonType } from "../../../core/record/describe-issue.ts";
import type { Outcome, Source } from "../../../core/record/schema.ts";
import { otherSource, type Turn } from "./execution.ts";
import { type FileScope, fileImporter } from "./file-importer.ts";
import { at, check, type Where } from "./rows.ts";

/** Scala writes every number and boolean as text; other writers do not. */
const textual = z.union([z.string(), z.number()]).transform(String);
const flag = z.union([z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")]);
const score = z.union([
  z.number(),
  z
    .string()
    .regex(/^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?\s*$/, "expected a number as text")
    .transform(Number)
    .pipe(z.number()),
]);

const entrySchema = z.looseObject({
  action: z.string(),
  observation: z.string(),
  score,
  isCompleted: flag,
});

const historySchema = z.looseObject({
  taskName: z.string(),
  variationIdx: textual,
  taskDescription: z.string(),
  simplifications: z.string(),
  history: z.array(entrySchema),
});

/** round(100·score), as the environment's Python face computes it: halves to the even number. */
function percent(value: number): number {
  const scaled = value * 100;
  const down = Math.floor(scaled);
  const rest = scaled - down;
  if (rest === 0.5) return down % 2 === 0 ? down : down + 1;
  return Math.round(scaled) + 0;
}

const DECISION_LIMIT = 30;

function outcomeOf(turns: readonly Turn[], completed: boolean): Outcome {
  const final = turns.at(-1)?.score ?? null;
  const success = completed && final !== null && final >= 100;
  const over = completed || (final !== null && final < 0);
  return {
    complete: true,
    success,
    score: final,
    ended: over ? "environment" : turns.length >= DECISION_LIMIT ? "horizon" : "technical",
    verified: false,
    reported_success: success,
  };
}

/** The first entry is the look-around of the reset: its observation is the initial one, not a decision. */
function sourceOf(value: unknown, scope: FileScope, where: Where): Source {
  const run = check(historySchema, value, where);
  const [first, ...rest] = run.history;
  const isReset = first !== undefined && first.action.trim() === "look around";
  const initial = isReset ? first.observation : "";
  const entries = isReset ? rest : run.history;
  let observation = initial;
  const turns = entries.map((entry): Turn => {
    const turn = {
      observation,
      action: entry.action,
      feedback: entry.observation,
      score: percent(entry.score),
    };
    observation = entry.observation;
    return turn;
  });
  const task = [run.taskName, run.variationIdx, run.simplifications].join("|");
  return otherSource({
    environment: "scienceworld",
    task,
    repetition: scope.nextRepetition("scienceworld", task),
    description: run.taskDescription,
    initial,
    turns,
    outcome: outcomeOf(turns, run.history.at(-1)?.isCompleted === true),
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One history, an episode that wraps one, or a map of episodes by number. */
function isHistory(value: unknown): boolean {
  return isObject(value) && Array.isArray(value.history) && "taskName" in value;
}

function isEpisode(value: unknown): value is Record<string, unknown> {
  return isObject(value) && isHistory(value.history);
}

export const scienceworldHistory = fileImporter({
  name: "scienceworld-history",
  description: "ScienceWorld run histories (getRunHistoryJSON, or saved by episode), as JSON or JSON Lines",
  what: "ScienceWorld run histories",
  unaligned: "run histories hold texts and actions, no object trees",
  recognise: (first) =>
    isHistory(first) || isEpisode(first) || isEpisode(Object.values(first)[0]) ? 0.9 : 0,
  head: /^\s*\{\s*"[^"]*"\s*:\s*\{[^{}]*(\{[^{}]*\}[^{}]*)*"history"\s*:\s*\{\s*"task/,
  async *records(rows, scope) {
    for await (const { value, where } of rows) {
      const found: [unknown, Where][] = isHistory(value)
        ? [[value, where]]
        : "history" in value
          ? [[value.history, at(where, "history")]]
          : Object.entries(value).map(([key, episode]) => {
              const inner = at(where, `[${JSON.stringify(key)}]`);
              if (!isObject(episode)) {
                throw new InputError(`expected an object, received ${jsonType(episode)}`, inner);
              }
              return [episode.history, at(inner, "history")];
            });
      for (const [history, place] of found) {
        yield {
          kind: "source",
          file: scope.path,
          ...(where.line === undefined ? {} : { line: where.line }),
          record: sourceOf(history, scope, place),
        };
      }
    }
  },
});
