/** What differs from the full method, as the place keeps it, as the core's options, and in words. */
import type { WhatIf } from "../../core/evidence/what-if.ts";
import { METHODS } from "../../core/method/methods.ts";
import { pinName } from "../../core/retrieval/pin.ts";
import { type Selection, SOURCE_BUDGETS, sourcesKey } from "../../core/retrieval/selection.ts";
import { type LibrarySubset, subsetKey } from "../../core/retrieval/subset.ts";
import type { Control, Pin } from "../../core/retrieval/types.ts";
import { shownName } from "../base/text/shown-text.ts";
import { partName } from "./part-name.ts";

/** The source budgets on offer; null takes every recorded execution. */
export type Budget = (typeof SOURCE_BUDGETS)[number] | null;

/** The budget that a field or an address names; null for any other text. */
export function parseBudget(text: string): Budget {
  return SOURCE_BUDGETS.find((k) => String(k) === text) ?? null;
}

/** Keys of a what-if that have no value for "as the full method does it": an address keeps null there. */
type WithoutDefault = "pin" | "pinFailure" | "text";

/**
 * The core's what-if as an address and its fields keep it: every key is there, with its default or null where the core
 * leaves it out, and the source budget is one that is on offer.
 */
export type WhatIfFields = Required<Omit<WhatIf, WithoutDefault | "sourcesPerTask">> & {
  [Key in WithoutDefault]: NonNullable<WhatIf[Key]> | null;
} & { sourcesPerTask: Budget };

/** The paper's ablations. Everything follows them, training and statistics too. `partOfLibrary` makes the `subset`. */
export type Controls = Pick<
  WhatIfFields,
  "control" | "augmentation" | "terminalFailureNote" | "subset" | "sourcesPerTask"
>;

/** Controls, and what was changed by hand where that is possible. */
export type Asked = Controls & Partial<WhatIfFields>;

export const CONTROL_TITLES: Record<Control, string> = {
  graph: "full graph",
  "success-only": "success only",
  "hindsight-only": "hindsight only",
  "minimum-prefix": "minimum prefix",
};

/** What only one decision can have. */
export const NO_DECISION_WHAT_IF = {
  pin: null,
  pinFailure: null,
  leaveOut: [],
  text: null,
} as const satisfies Partial<WhatIfFields>;

/** What only one task can have: the names of its sources, and its decisions. */
export const NO_TASK_WHAT_IF = {
  without: [],
  ...NO_DECISION_WHAT_IF,
} as const satisfies Partial<WhatIfFields>;

const WHOLE_LIBRARY: LibrarySubset = {};

/** A part of the library, defaults left out; the whole library is always the same object. */
export function partOfLibrary({ successTasks = 1, failures = 1, seed = 0 }: LibrarySubset): LibrarySubset {
  if (successTasks === 1 && failures === 1) return WHOLE_LIBRARY;
  return {
    ...(successTasks === 1 ? {} : { successTasks }),
    ...(failures === 1 ? {} : { failures }),
    ...(seed === 0 ? {} : { seed }),
  };
}

/** `0.5,1,0`: the shares of covered tasks and of failed records, and the seed; empty for the whole library. */
export const subsetText = (subset: LibrarySubset): string => subsetKey(subset).join();

/** The part that a text of `subsetText` names; null for any other text, and for the whole library. */
export function parseSubset(text: string): LibrarySubset | null {
  const [successTasks = Number.NaN, failures = Number.NaN, seed = Number.NaN] = text.split(",").map(Number);
  const areShares = [successTasks, failures].every((share) => share >= 0 && share <= 1);
  const subset = partOfLibrary({ successTasks, failures, seed });
  return areShares && Number.isSafeInteger(seed) && seed >= 0 && subsetText(subset) === text ? subset : null;
}

/** The full method. */
export const NO_CONTROLS: Controls = {
  control: "graph",
  sourcesPerTask: null,
  augmentation: true,
  subset: WHOLE_LIBRARY,
  terminalFailureNote: false,
};

/** The full method over everything that was recorded. */
export const NO_WHAT_IF: WhatIfFields = { ...NO_CONTROLS, ...NO_TASK_WHAT_IF };

/** The controls of a what-if: the part that a whole run or a whole library can be under. */
export function controlsOf(of: Controls): Controls {
  const { control, sourcesPerTask, augmentation, subset, terminalFailureNote } = of;
  return { control, sourcesPerTask, augmentation, subset, terminalFailureNote };
}

/** A what-if without what only one decision can have. */
export function ofTask(whatIf: WhatIfFields): WhatIfFields {
  return { ...whatIf, ...NO_DECISION_WHAT_IF };
}

/** What a place asks for, as the core's options: only what differs from the full method. */
export function selectionOf(asked: Asked): WhatIf {
  const { control, sourcesPerTask, augmentation, subset, terminalFailureNote } = asked;
  const { without, pin, pinFailure, leaveOut, text } = { ...NO_TASK_WHAT_IF, ...asked };
  return {
    ...(control === "graph" ? {} : { control }),
    ...(sourcesPerTask === null ? {} : { sourcesPerTask }),
    ...(augmentation ? {} : { augmentation }),
    ...(subsetKey(subset).length === 0 ? {} : { subset }),
    ...(terminalFailureNote ? { terminalFailureNote } : {}),
    ...(without.length === 0 ? {} : { without }),
    ...(pin === null ? {} : { pin }),
    ...(pinFailure === null ? {} : { pinFailure }),
    ...(leaveOut.length === 0 ? {} : { leaveOut }),
    ...(text === null ? {} : { text }),
  };
}

/** The inverse of `selectionOf`; a budget that is not on offer is null. */
export function whatIfOfSelection(selection: WhatIf): WhatIfFields {
  const { sourcesPerTask = null, subset = {}, ...rest } = selection;
  return {
    ...NO_WHAT_IF,
    ...rest,
    sourcesPerTask: SOURCE_BUDGETS.find((k) => k === sourcesPerTask) ?? null,
    subset: partOfLibrary(subset),
  };
}

/** More names than this are counted. */
const NAMED = 3;

function listed(names: readonly string[], what: string): string {
  return names.length > NAMED
    ? `${names.length} ${what}`
    : names.map((name) => shownName(name, 80)).join(", ");
}

/** A reference chosen by hand in words, whatever its source is called. */
export function pinWords({ source, position }: Pin): string {
  return pinName({ source: shownName(source, 80), position });
}

/** What one selection does differently from another, a few words each; empty where both retrieve and retain the same. */
export function selectionWords(selection: Selection, from: Selection): string[] {
  const {
    control = "graph",
    sourcesPerTask: k,
    augmentation = true,
    subset,
    terminalFailureNote = false,
  } = selection;
  const words: string[] = [];
  if (control !== (from.control ?? "graph")) words.push(CONTROL_TITLES[control]);
  if (k !== from.sourcesPerTask)
    words.push(k === undefined ? "all sources" : `K = ${k} ${k === 1 ? "source" : "sources"} per task`);
  if (augmentation !== (from.augmentation ?? true))
    words.push(`${augmentation ? "with" : "without"} planner and oracle records`);
  if (sourcesKey({ subset }) !== sourcesKey({ subset: from.subset }))
    words.push(...subsetWords(subset ?? {}));
  if (terminalFailureNote !== (from.terminalFailureNote ?? false))
    words.push(`${terminalFailureNote ? "with" : "without"} the terminal-failure note`);
  return words;
}

const percent = (share: number): string => `${Number((100 * share).toPrecision(6))} %`;

function subsetWords({ successTasks = 1, failures = 1, seed = 0 }: LibrarySubset): string[] {
  const drawn = [
    ...(successTasks === 1 ? [] : [`successes of ${percent(successTasks)} of the covered tasks`]),
    ...(failures === 1 ? [] : [`${percent(failures)} of the failed records`]),
  ];
  if (drawn.length === 0) return ["all successes and failures"];
  return seed === 0 ? drawn : [...drawn, `drawn with seed ${seed}`];
}

/** What differs from the full method, a few words each; empty for the full method. */
export function whatIfWords(asked: Asked): string[] {
  const { without, pin, pinFailure, leaveOut, text } = { ...NO_TASK_WHAT_IF, ...asked };
  const words = selectionWords(selectionOf(asked), {});
  if (without.length > 0) words.push(`${listed(without, "executions")} switched off`);
  if (pin !== null) words.push(`successful reference: ${pinWords(pin)}`);
  if (pinFailure !== null) words.push(`failed reference: ${pinWords(pinFailure)}`);
  if (text !== null) words.push(text.trim() === "" ? "no evidence" : "evidence edited by hand");
  else if (leaveOut.length > 0)
    words.push(`evidence without ${listed(leaveOut.map(partName), "of its parts")}`);
  return words;
}

/** Whether something was changed that only this task or this decision can have. */
export function isByHand(whatIf: WhatIfFields): boolean {
  return whatIf.without.length > 0 || isOfDecision(whatIf);
}

/** Whether there is a change that a step to another decision would take away. */
export function isOfDecision({ pin, pinFailure, leaveOut, text }: WhatIfFields): boolean {
  return pin !== null || pinFailure !== null || leaveOut.length > 0 || text !== null;
}

/** The full method's name: planner and oracle records take part, which GC-OPD is without. */
export const FULL_METHOD = METHODS["gc-opd+ga"].label;

/** What the evidence is, in words: the full method, or what differs from it. */
export function evidenceWords(asked: Asked): string {
  return whatIfWords(asked).join(" · ") || FULL_METHOD;
}
