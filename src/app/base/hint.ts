/** A short word at the foot of the page that goes by itself: what was copied, why a key did nothing. */
import { create } from "zustand";

/** Milliseconds for which a hint stays. */
const STAY = 4_000;

export const useHint = create<{ text: string }>(() => ({ text: "" }));

let timer: ReturnType<typeof setTimeout> | undefined;

/** For what the user need not act on; anything else is a notice (`setUi({ notice })`), which stays. */
export function hint(text: string): void {
  clearTimeout(timer);
  useHint.setState({ text });
  timer = setTimeout(() => useHint.setState({ text: "" }), STAY);
}
