/** Keys of the sides that an address can name: the teacher under other evidence than the view's own. */
import { CONTROLS, SOURCE_BUDGETS } from "../../core/retrieval/selection.ts";
import { CONTROL_TITLES, type Controls, whatIfWords } from "./what-if.ts";

const NO_AUGMENTATION = "no-augmentation";
const TERMINAL_NOTE = "terminal-note";

/** `with:hindsight-only`, `with:graph:k4:no-augmentation:terminal-note`. */
export function evidenceSideKey({ control, budget, augmentation, terminalNote }: Controls): string {
  return [
    `with:${control}`,
    ...(budget === null ? [] : [`k${budget}`]),
    ...(augmentation ? [] : [NO_AUGMENTATION]),
    ...(terminalNote ? [TERMINAL_NOTE] : []),
  ].join(":");
}

/** The evidence that a key asks for; null for a key that `evidenceSideKey` does not write. */
export function parseEvidenceSide(key: string): Controls | null {
  const [with_, name, ...options] = key.split(":");
  const control = CONTROLS.find((each) => each === name);
  if (with_ !== "with" || control === undefined) return null;
  const asked: Controls = {
    control,
    budget: SOURCE_BUDGETS.find((k) => options.includes(`k${k}`)) ?? null,
    augmentation: !options.includes(NO_AUGMENTATION),
    terminalNote: options.includes(TERMINAL_NOTE),
  };
  return evidenceSideKey(asked) === key ? asked : null;
}

/** "teacher, success only · K = 4 sources per task" */
export function evidenceSideLabel(asked: Controls): string {
  const words = whatIfWords(asked);
  return `teacher, ${asked.control === "graph" ? [CONTROL_TITLES.graph, ...words].join(" · ") : words.join(" · ")}`;
}

/** What a key may be made of, so that a list of them can stand in an address. */
export function isSideKey(key: string): boolean {
  return /^[\p{L}\p{N}._:@*-]{1,120}$/u.test(key);
}
