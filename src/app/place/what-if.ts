/** The controls of the ablations as the place keeps them, and in words. */
import type { Selection } from "../../core/retrieval/selection.ts";
import type { Control } from "../../core/retrieval/types.ts";
import type { Place } from "./place.ts";

/** The source budgets on offer; null takes every recorded execution. */
export type Budget = 1 | 4 | 8 | 16 | null;

export type WhatIf = Pick<Place, "control" | "budget" | "augmentation" | "terminalNote">;

export const CONTROL_TITLES: Record<Control, string> = {
  graph: "graph (full method)",
  "success-only": "success only",
  "hindsight-only": "hindsight only",
  "minimum-prefix": "minimum prefix",
};

/** The full method over everything that was recorded. */
export const NO_WHAT_IF: WhatIf = { control: "graph", budget: null, augmentation: true, terminalNote: false };

/** What a place asks for, as the core's options: only what differs from the full method. */
export function selectionOf({ control, budget, augmentation, terminalNote }: WhatIf): Selection {
  return {
    ...(control === "graph" ? {} : { control }),
    ...(budget === null ? {} : { sourcesPerTask: budget }),
    ...(augmentation ? {} : { augmentation }),
    ...(terminalNote ? { terminalFailureNote: true } : {}),
  };
}

/** One name for a selection of records; equal for those that keep the same. */
export function sourcesKey({ sourcesPerTask, augmentation = true }: Selection): string {
  return `${sourcesPerTask ?? "all"} ${augmentation}`;
}

/** What differs from the full method, a few words each; empty for the full method. */
export function whatIfWords({ control, budget, augmentation, terminalNote }: WhatIf): string[] {
  const words: string[] = [];
  if (control !== "graph") words.push(CONTROL_TITLES[control]);
  if (budget !== null) words.push(`K = ${budget} ${budget === 1 ? "source" : "sources"} per task`);
  if (!augmentation) words.push("without planner and oracle records");
  if (terminalNote) words.push("with the terminal-failure note");
  return words;
}
