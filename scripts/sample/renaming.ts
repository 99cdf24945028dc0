/**
 * A consistent random renaming of words. Nine tasks are few: a small model learns them by heart and never looks at
 * the evidence. When most words of a row get other names, the same everywhere in the row, the only way to predict the
 * next action is to find it in the context, which is what a teacher that reads evidence has to do.
 */
import type { Episode, Source } from "../../src/core/record/schema.ts";
import type { Random } from "./random.ts";

const WORD = /[A-Za-z]+/g;

/** Words that carry grammar or the commands' forms: renaming them would teach nothing about objects. */
const GRAMMAR = new Set(
  "a an the is are in on to of it and this that there which be has have you your from with for or not no by at as see also called containing".split(
    " ",
  ),
);

/** All words of the texts, lower-cased, for use as new names. */
export function collectWords(texts: Iterable<string>): string[] {
  const words = new Set<string>();
  for (const text of texts)
    for (const word of text.match(WORD) ?? []) if (word.length > 2) words.add(word.toLowerCase());
  for (const word of GRAMMAR) words.delete(word);
  return [...words].sort();
}

const ONSETS = [
  "b",
  "d",
  "f",
  "g",
  "k",
  "l",
  "m",
  "n",
  "p",
  "r",
  "s",
  "t",
  "v",
  "z",
  "br",
  "dr",
  "st",
  "tr",
  "pl",
  "ch",
];
const VOWELS = ["a", "e", "i", "o", "u", "ee", "oo", "ai"];
const CODAS = ["", "", "n", "r", "l", "s", "t", "m", "nd", "ck"];

function inventWord(random: Random): string {
  const syllables = 1 + random.below(3);
  let word = "";
  for (let i = 0; i < syllables; i++) word += random.pick(ONSETS) + random.pick(VOWELS) + random.pick(CODAS);
  return word;
}

export type Rename = (text: string) => string;

/** Renames each word, with the given probability, to another word of the list or (a quarter of them) an invented one. */
export function makeRenaming(random: Random, words: readonly string[], probability: number): Rename {
  if (probability === 0) return (text) => text;
  const names = new Map<string, string>();
  const nameOf = (word: string): string => {
    let name = names.get(word);
    if (name === undefined) {
      const keep = word.length < 2 || GRAMMAR.has(word) || !random.chance(probability);
      name = keep ? word : random.chance(0.25) ? inventWord(random) : random.pick(words);
      names.set(word, name);
    }
    return name;
  };
  return (text) =>
    text.replace(WORD, (word) => {
      const name = nameOf(word.toLowerCase());
      return /^[A-Z]/.test(word) ? name.charAt(0).toUpperCase() + name.slice(1) : name;
    });
}

const renameOrNull = (rename: Rename, text: string | null) => (text === null ? null : rename(text));

/** The same execution with every text renamed; keys, positions and outcomes stay. */
export function renameExecution<T extends Source | Episode>(record: T, rename: Rename): T {
  return {
    ...record,
    task_description: rename(record.task_description),
    initial_observation: rename(record.initial_observation),
    decisions: record.decisions.map((decision) => ({
      ...decision,
      observation: rename(decision.observation),
      feedback: rename(decision.feedback),
      action: renameOrNull(rename, decision.action),
      binding: renameOrNull(rename, decision.binding),
      ...("attempts" in decision && Array.isArray(decision.attempts)
        ? {
            attempts: decision.attempts.map((attempt) => ({
              ...attempt,
              action: renameOrNull(rename, attempt.action),
              feedback: rename(attempt.feedback),
            })),
          }
        : {}),
    })),
  } as T;
}
