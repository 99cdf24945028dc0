/** Lists of tasks as files hold them: one task per line, JSON, JSON Lines, and the lists of the released splits. */
import { z } from "zod";
import { InputError } from "../core/errors.ts";
import { parseJsonText } from "../core/json.ts";
import type { EnvironmentName } from "../core/loop/live-config.ts";
import { describeIssue, shown } from "../core/record/describe-issue.ts";
import { checkSchema, parseObject } from "./read.ts";

type Where = InputError["where"] & { file: string };

/** A task, and where its list names it. */
export interface ListedTask {
  task: string;
  where: Where;
}

export interface TaskList {
  /** In the order of the file. */
  listed: readonly ListedTask[];
  /** Whether it has seeds of its own, which nothing reads. */
  hasSeeds: boolean;
}

const name = z.string().min(1);
/** `gamefile`: ALFWorld's and ScienceWorld's released lists. `goal`: WebShop's. `task`: records of this project. */
const entrySchema = z.looseObject({
  task: name.optional(),
  gamefile: name.optional(),
  goal: z.int().min(0).optional(),
  request_seeds: z.unknown().optional(),
});
const entriesSchema = z.array(z.unknown());
const documentSchema = z.looseObject({ tasks: entriesSchema });

const goalTask = (goal: number): string => `goal${goal}`;

function checkedEntry(value: object, where: Where): z.infer<typeof entrySchema> {
  const checked = entrySchema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(message, { ...where, key: [where.key, key].filter(Boolean).join(".") });
}

function entryOf(
  value: unknown,
  environment: EnvironmentName,
  where: Where,
): { task: string; hasSeeds: boolean } {
  if (typeof value === "string" && value !== "") return { task: value, hasSeeds: false };
  if (environment === "webshop" && typeof value === "number" && Number.isSafeInteger(value) && value >= 0)
    return { task: goalTask(value), hasSeeds: false };
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const { task, gamefile, goal, request_seeds } = checkedEntry(value, where);
    const named = task ?? gamefile ?? (goal === undefined ? undefined : goalTask(goal));
    if (named !== undefined) return { task: named, hasSeeds: request_seeds !== undefined };
    throw new InputError("names no task; expected task, gamefile or goal", where);
  }
  const number = environment === "webshop" ? ", the number of a goal" : "";
  throw new InputError(
    `expected the name of a task${number}, or an object that has one, received ${shown(value)}`,
    where,
  );
}

interface Entry {
  value: unknown;
  where: Where;
}

function entriesOf(text: string, file: string): Entry[] {
  const lines = text
    .split(/\r?\n/)
    .map((line, n) => ({ text: line.trim(), where: { file, line: n + 1 } }))
    .filter((line) => line.text !== "");
  const first = lines[0]?.text ?? "";
  if (!/^[[{]/.test(first)) return lines.map((line) => ({ value: line.text, where: line.where }));
  if (isObjectPerLine(first, lines.length))
    return lines.map((line) => ({ value: parseObject(line.text, line.where), where: line.where }));
  const value = parseJsonText(text, { file });
  const isArray = Array.isArray(value);
  const entries = isArray ? value : checkSchema(documentSchema, value, { file }).tasks;
  return entries.map((entry, n) => ({
    value: entry,
    where: { file, key: `${isArray ? "" : "tasks"}[${n}]` },
  }));
}

/** Whether a file that begins with this line is JSON Lines, and not one JSON value. */
function isObjectPerLine(first: string, lines: number): boolean {
  if (!first.startsWith("{")) return false;
  try {
    const value: unknown = JSON.parse(first);
    return lines > 1 || !documentSchema.safeParse(value).success;
  } catch {
    return false;
  }
}

const placeIn = ({ line, key }: Where): string => (line === undefined ? `${key}` : `line ${line}`);

/**
 * Reads a list of tasks: one task per line; a JSON array, or an object with such an array as `tasks`; or JSON Lines. An
 * entry is a task's name, or an object with it as `task` or `gamefile`. In WebShop it may be the number of a goal, or an
 * object with that as `goal`.
 *
 * @param file shown in messages
 * @throws InputError that names the file and the line, or in JSON the entry, for what names no task, for a task that is
 * named twice, and for a file that names none
 */
export function readTaskList(text: string, environment: EnvironmentName, file: string): TaskList {
  const places = new Map<string, Where>();
  let hasSeeds = false;
  for (const { value, where } of entriesOf(text, file)) {
    const entry = entryOf(value, environment, where);
    const before = places.get(entry.task);
    if (before !== undefined)
      throw new InputError(`${shown(entry.task)} is named twice; ${placeIn(before)} has it already`, where);
    places.set(entry.task, where);
    hasSeeds ||= entry.hasSeeds;
  }
  if (places.size === 0)
    throw new InputError("names no task; expected one task per line, a JSON array or JSON Lines", { file });
  return { listed: [...places].map(([task, where]) => ({ task, where })), hasSeeds };
}

/** What a reader should know of a list with seeds of its own. */
export const OWN_SEEDS_NOTE =
  "its request_seeds are not used: seeds are made from each task's name, its repetition and the decision";
