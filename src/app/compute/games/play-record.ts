/** Recorded executions of open libraries as the page plays them again: which one is meant, and what it takes. */
import { isCustomEnvironment } from "../../../core/environment/environment.ts";
import { InputError } from "../../../core/errors.ts";
import type { Episode, Source } from "../../../core/record/schema.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { TaskName, TaskRef } from "../../data/model.ts";
import type { ComparedVisit } from "../../url/place.ts";
import { gameOf } from "./games.ts";
import { simulatorProblem } from "./simulator.ts";

/** A record of an open library. */
export interface RecordRef extends TaskRef, Pick<ComparedVisit, "kind" | "id"> {}

/** Why a task's game cannot be played in the page as it is, in one line; null where it can. */
export function unplayable({ environment }: Pick<TaskName, "environment">): string | null {
  if (environment === "scienceworld") return simulatorProblem();
  return isCustomEnvironment(environment)
    ? "Only ALFWorld, WebShop and ScienceWorld can be played in the page."
    : null;
}

/** What is missing to play a task, in one line; null where its game is open, or opens by itself. */
export function missingGame(name: TaskName): string | null {
  if (name.environment === "scienceworld") return unplayable(name);
  return unplayable(name) ?? (gameOf(name) === null ? "Its game is not open." : null);
}

/** Reads a record. @throws InputError where its library no longer has it */
export async function readRecord({ kind, id, ...ref }: RecordRef): Promise<Source | Episode> {
  if (kind === "episode") return libraryWorker().tasks.episode(ref, id);
  const source = (await libraryWorker().tasks.sources(ref)).find((each) => each.source === id);
  if (source === undefined) throw new InputError(`task ${ref.task} has no execution ${id}`);
  return source;
}
