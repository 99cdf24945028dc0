/** What an entry of the table of actions is, and what is missing when it cannot be done. */

import { isDeviceBusy, whyAtWork } from "./computing.ts";
import { episodeAt } from "./open/follow-place.ts";
import { scoreKey } from "./scoring/score.ts";
import type { UiState } from "./store.ts";

/** The headings of the `?` sheet, in its order. */
export const GROUPS = [
  "Go to",
  "Step",
  "Graph",
  "Tokens",
  "Train",
  "What if",
  "Play",
  "Library",
  "Page",
] as const;
export type ActionGroup = (typeof GROUPS)[number];

/** Why an action cannot be done now, in a few words that say what is missing; null when it can. */
export type Blocked = (ui: UiState) => string | null;

export interface Action {
  /** Unique and lasting. */
  id: string;
  /** As a menu would say it: "Score this decision". */
  title: string;
  group: ActionGroup;
  /** As `KeyboardEvent.key` has them, the first one shown; `Mod+k` is Ctrl-K, or ⌘-K on a Mac. */
  keys?: readonly string[];
  /** Other words by which the palette finds it. */
  words?: string;
  blocked?: Blocked;
  /** Does it; false says that there was nothing to do, and leaves the key to the browser. */
  run: () => unknown;
  /** The `data-dialog` in which the key works too; every other open dialog keeps it. */
  inDialog?: string;
  /** The key works while the user types. */
  whileTyping?: boolean;
  /** Not in the palette: of no use there. */
  keyOnly?: boolean;
}

/** The first thing that is missing. */
export function needs(...conditions: Blocked[]): Blocked {
  return (ui) => {
    for (const condition of conditions) {
      const missing = condition(ui);
      if (missing !== null) return missing;
    }
    return null;
  };
}

export const aLibrary: Blocked = ({ library }) => (library === null ? "open a library first" : null);

export const aTask: Blocked = ({ task }) => (task === null ? "pick a task first" : null);

export const aDecision: Blocked = ({ decision }) =>
  decision === null ? "open a student decision first" : null;

/** The decision's prompt was recorded, so that a teacher can read it. */
export const aPrompt: Blocked = ({ decision }) =>
  decision?.prompted === false ? "this decision was recorded without its prompt" : null;

export const scores: Blocked = ({ decision, scores: all }) =>
  decision === null || all[scoreKey(decision)] === undefined ? "score this decision first" : null;

/** The one device is free, for scoring. */
export const aFreeDevice: Blocked = (ui) => (isDeviceBusy(ui) ? whyAtWork(ui) : null);

/** The models are at rest, for anything else. */
export const noModelAtWork: Blocked = whyAtWork;

/** There is a decision `by` further on in the episode. */
export function aDecisionFurther(by: 1 | -1): Blocked {
  return needs(aTask, ({ task, place }) => {
    const episode = task === null ? null : episodeAt(task, place);
    if (episode === null) return "this task has no student episode";
    const next = place.decision + by;
    if (next < 0) return "this is the first decision";
    return next >= episode.decisions ? "this is the last decision" : null;
  });
}
