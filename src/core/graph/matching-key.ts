import type { State } from "../record/schema.ts";
import { foldWhiteSpace } from "../white-space.ts";

/** Orders strings by UTF-16 code unit: the same everywhere, whatever the locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** First characters of the keys of states with options (JSON's bracket) and of those in another mode. */
const OPTIONS_MARK = 0x5b;
const MODE_MARK = 0x23;

/**
 * The locator z as one string: two visits match exactly when their matching keys are equal, that is when descriptor,
 * parser mode and options (as sorted pairs, white space folded) are all equal (Appendix "State descriptors and
 * matching"). Null for ⊥, an unreliable capture, which matches nothing, not even another ⊥.
 */
export function matchingKey(state: State | null): string | null {
  if (state === null) return null;
  if (hasNoOptions(state.options)) {
    const first = state.key.charCodeAt(0);
    // Nearly all states: the descriptor itself, which no other form can equal.
    return state.mode === "normal" && first !== OPTIONS_MARK && first !== MODE_MARK
      ? state.key
      : `#${state.mode.length} ${state.mode}${state.key}`;
  }
  const options = Object.entries(state.options)
    .map(([name, value]) => [foldWhiteSpace(name), foldWhiteSpace(value)] as const)
    .sort((a, b) => byCodeUnit(a[0], b[0]) || byCodeUnit(a[1], b[1]));
  return JSON.stringify([state.key, state.mode, options]);
}

function hasNoOptions(options: State["options"]): boolean {
  for (const name in options) if (Object.hasOwn(options, name)) return false;
  return true;
}
