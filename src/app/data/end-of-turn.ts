/** The end-of-turn token after responses that were recorded as text, on and off: a step of the browser's history. */
import { navigate } from "./navigate.ts";
import { getData } from "./store.ts";

export function switchEndOfTurn(): void {
  navigate({ endOfTurn: !getData().place.endOfTurn }, "push");
}
