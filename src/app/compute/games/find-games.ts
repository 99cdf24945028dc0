import type { TaskName } from "../../data/model.ts";

/** A task that can be played in the page. */
export interface GameTask extends TaskName {
  /** As evaluations group tasks; null where the environment has no types, or the name does not say it. */
  type: string | null;
}

/** What a task counts as: its type, or its environment where it has none. */
export const kindOfGame = ({ environment, type }: GameTask): string => type ?? environment;

/** The tasks of a type (any where it is empty) whose names have all of some words. */
export function findGames(
  tasks: readonly GameTask[],
  { type, words }: { type: string; words: string },
): GameTask[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return tasks.filter(
    (each) =>
      (type === "" || kindOfGame(each) === type) &&
      wanted.every((word) => each.task.toLowerCase().includes(word)),
  );
}
