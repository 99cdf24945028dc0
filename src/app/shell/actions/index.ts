/**
 * The table of actions: the keyboard, the `?` sheet and the palette read nothing else. To add an action, add an entry
 * to the list of its kind (docs/adding.md).
 */
import { getUi } from "../../state/store.ts";
import { hint } from "../hint.ts";
import type { Action } from "./action.ts";
import { GO } from "./go.ts";
import { GRAPH } from "./graph.ts";
import { GUIDE } from "./guide.ts";
import { LIBRARIES } from "./libraries.ts";
import { PAGE } from "./page.ts";
import { PLAY } from "./play.ts";
import { RUNS } from "./runs.ts";
import { TOKENS } from "./tokens.ts";
import { TRAINING } from "./training.ts";
import { WHAT_IF } from "./what-if.ts";

export { type Action, type ActionGroup, GROUPS } from "./action.ts";
export { VIEW_TITLES } from "./go.ts";

export const ACTIONS: readonly Action[] = [
  ...GO,
  ...GRAPH,
  ...TOKENS,
  ...TRAINING,
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
