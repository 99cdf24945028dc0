/** Keys of the sides that an address can name: the teacher under other evidence than the view's own. */
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import {
  CONTROL_TITLES,
  type Controls,
  NO_CONTROLS,
  parseSubset,
  subsetText,
  whatIfWords,
} from "./what-if.ts";

const NO_AUGMENTATION = "no-augmentation";
const TERMINAL_NOTE = "terminal-note";
const PART = "part-";

/** `with:hindsight-only`, `with:graph:k4:no-augmentation:part-0.5_1_0:terminal-note`. */
export function evidenceSideKey(of: Controls): string {
  const { control, sourcesPerTask, augmentation, subset, terminalFailureNote } = of;
  // Commas part the keys of a list.
  const part = subsetText(subset).replaceAll(",", "_");
  return [
    `with:${control}`,
    ...(sourcesPerTask === null ? [] : [`k${sourcesPerTask}`]),
    ...(augmentation ? [] : [NO_AUGMENTATION]),
    ...(part === "" ? [] : [`${PART}${part}`]),
    ...(terminalFailureNote ? [TERMINAL_NOTE] : []),
  ].join(":");
}

/** The evidence that a key asks for; null for a key that `evidenceSideKey` does not write. */
export function parseEvidenceSide(key: string): Controls | null {
  const [with_, name, ...options] = key.split(":");
  const control = CONTROLS.find((each) => each === name);
  if (with_ !== "with" || control === undefined) return null;
  const part = options
    .find((each) => each.startsWith(PART))
    ?.slice(PART.length)
    .replaceAll("_", ",");
  const asked: Controls = {
    control,
    sourcesPerTask: SOURCE_BUDGETS.find((k) => options.includes(`k${k}`)) ?? null,
    augmentation: !options.includes(NO_AUGMENTATION),
    subset: parseSubset(part ?? "") ?? NO_CONTROLS.subset,
    terminalFailureNote: options.includes(TERMINAL_NOTE),
  };
  return evidenceSideKey(asked) === key ? asked : null;
}

/** "teacher, success only · K = 4 sources per task" */
export function evidenceSideLabel(asked: Controls): string {
  const words = whatIfWords(asked);
  return `teacher, ${asked.control === "graph" ? [CONTROL_TITLES.graph, ...words].join(" · ") : words.join(" · ")}`;
}

/** What a key may be made of, so that a list of them fits into an address. */
export function isSideKey(key: string): boolean {
  return /^[\p{L}\p{N}._:@*-]{1,120}$/u.test(key);
}
