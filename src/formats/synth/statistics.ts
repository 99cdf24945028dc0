/**
 * What synthetic records imitate: counts and lengths measured on the recorded ScienceWorld executions of the tests
 * (195 sources with 3,554 decisions and 73 student episodes with 1,699 decisions of 11 tasks). Lengths are 21 quantiles,
 * from the least to the greatest in steps of 5 %, in characters.
 */

export const FEEDBACK_LENGTHS = [
  4, 24, 24, 25, 25, 25, 27, 28, 31, 35, 36, 39, 42, 49, 61, 86, 90, 182, 368, 620, 1175,
];
export const ACTION_LENGTHS = [
  0, 9, 11, 11, 11, 13, 13, 13, 14, 16, 17, 19, 20, 20, 20, 23, 25, 36, 43, 47, 83,
];
export const INITIAL_LENGTHS = [
  301, 301, 330, 330, 336, 336, 336, 336, 348, 348, 348, 356, 356, 381, 381, 385, 385, 510, 510, 922, 922,
];
export const RESPONSE_LENGTHS = [
  18, 37, 68, 78, 80, 81, 82, 84, 86, 88, 90, 91, 92, 95, 99, 101, 110, 116, 120, 125, 188,
];
export const DESCRIPTION_LENGTHS = [99, 107, 112, 116, 133, 133, 154, 188, 188, 208, 411];
/** Decisions of the built-in plan; beyond the horizon no source succeeds. */
export const PLAN_LENGTHS = [5, 6, 8, 10, 12, 14, 17, 21, 29, 40, 50];

/** Most committed decisions of a sampled execution. */
export const HORIZON = 30;

export const SOURCE_RATES = {
  /** Noise of repetition r: r/30 up to 0.5, then from the start again. */
  noiseStep: 1 / 30,
  noiseLevels: 16,
  /** Attempts before a committed decision: 549 over 3,554, 140 of them unreadable. */
  attempts: 549 / 3554,
  unreadable: 140 / 549,
  nullState: 47 / 3749,
  gap: 6 / 195,
  incomplete: 7 / 195,
  unverified: 6 / 195,
  /** A task whose sources have no reliable record at all, among the 11. */
  rolledBack: 2 / 3554,
  technical: 19 / 176,
  /** Decisions that change something that no later decision takes back. */
  lasting: 0.2,
};

export const EPISODE_RATES = {
  /** Students are noisier than sources: 0.08 to 0.7. */
  noiseLeast: 0.08,
  noiseMost: 0.7,
  rejected: 247 / 1699,
  malformed: 129 / 1699,
  /** Visits without a state in an ordinary episode, and episodes without any. */
  nullState: 0.06,
  withheld: 2 / 73,
  lasting: 0.25,
};

/** Gold decisions that a menu of several objects interrupts. */
export const MENU_RATE = 0.025;

/** The value at u in [0, 1) of a table of evenly spaced quantiles, straight between them. */
export function quantile(table: readonly number[], u: number): number {
  const place = u * (table.length - 1);
  const low = Math.floor(place);
  const a = table[low]!;
  return Math.round(a + (place - low) * ((table[low + 1] ?? a) - a));
}
