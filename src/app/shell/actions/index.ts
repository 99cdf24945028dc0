/**
 * The table of actions: the keyboard, the `?` sheet and the palette read nothing else. To add an action, add an entry
 * to the list of its kind (docs/adding.md).
 */

import { hint } from "../../base/hint.ts";
import type { Action } from "../../compute/action.ts";
import { getUi } from "../../compute/store.ts";
import { EVIDENCE_TEST } from "../../features/evidence-test/actions.ts";
import { LIBRARIES } from "../../features/library/actions.ts";
import { PLAY } from "../../features/play/actions.ts";
import { RUNS } from "../../features/runs/actions.ts";
import { GRAPH } from "../../features/task/graph-actions.ts";
import { WHAT_IF } from "../../features/task/what-if-actions.ts";
import { TOKENS } from "../../features/tokens/actions.ts";
import { TRAINING } from "../../features/training/actions.ts";
import { GO } from "./go.ts";
import { GUIDE } from "./guide.ts";
import { PAGE } from "./page.ts";

export { type Action, type ActionGroup, GROUPS } from "../../compute/action.ts";
export { VIEW_TITLES } from "./go.ts";

export const ACTIONS: readonly Action[] = [
  ...GO,
  ...GRAPH,
  ...TOKENS,
  ...TRAINING,
  ...EVIDENCE_TEST,
  ...RUNS,
  ...WHAT_IF,
  ...PLAY,
  ...GUIDE,
  ...LIBRARIES,
  ...PAGE,
];

/** Does an action, or says what is missing. Returns whether the key was for it. */
export function perform(action: Action): boolean {
  const missing = action.blocked?.(getUi()) ?? null;
  if (missing === null) return action.run() !== false;
  hint(`${action.title}: ${missing}.`);
  return true;
}
