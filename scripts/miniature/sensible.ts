/**
 * What a player does who knows only what it has read: the shortest way once the target's place is told, a search where it
 * is not. The teacher's targets: those of one who knows the whole state would teach never to open a door on trust.
 */

/** A decision of a game, as its player sees it. */
export interface Situation {
  /** Kind of the thing that the task asks for: `apple`. */
  kind: string;
  /** Every place of the game. */
  places: readonly string[];
  /** Where the player stands; null before the first step. */
  at: string | null;
  /** All that it has read: evidence, the steps that the prompt shows, and the present observation. */
  text: string;
  /** The commands that begin a shortest completion for one who knows the whole state. */
  optimal: readonly string[];
}

/** The kind of thing that a task asks for. */
export function kindOf(task: string): string {
  return /put an? (?:clean |hot |cool )?([a-z]+)/.exec(task)![1]!;
}

/** Whether a text names a thing of a kind: `apple 1`. */
export const mentions = (text: string, kind: string): boolean => new RegExp(` ${kind} \\d`).test(text);

/** @returns equally good commands; at least one */
export function sensibleCommands({ kind, places, at, text, optimal }: Situation): readonly string[] {
  if (mentions(text, kind)) return optimal;
  const looked = new Set<string>();
  for (const [, inside, above] of text.matchAll(
    /The ([a-z]+ \d+) is open\. In it there is|On the ([a-z]+ \d+) there is/g,
  ))
    looked.add((inside ?? above)!);
  const left = places.filter((place) => !looked.has(place));
  if (at !== null && left.includes(at)) return [`open ${at}`];
  const elsewhere = left.filter((place) => place !== at);
  return elsewhere.length === 0 ? optimal : elsewhere.map((place) => `go to ${place}`);
}
