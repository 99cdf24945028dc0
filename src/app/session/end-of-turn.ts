/** The end-of-turn token after responses that were recorded as text, on and off: a step of the browser's history. */
import { navigate } from "../place/navigate.ts";
import { getUi } from "../state/store.ts";

export function switchEndOfTurn(): void {
  navigate({ endOfTurn: !getUi().place.endOfTurn }, "push");
}
