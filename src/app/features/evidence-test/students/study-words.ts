/** What the students' comparison says, in words. */
import { trueMinus } from "../../../base/format.ts";
import type { Registered } from "../../../compute/students/registered.ts";
import type { CurvePoint } from "../../../compute/students/study.ts";
import { FEWEST_TRAININGS, type StudyPair } from "./study-results.ts";

/** A share of tasks in percent. */
export const percent = (value: number): string => `${value.toFixed(1)} %`;

/** A difference in percentage points, with its sign. */
export function points(value: number): string {
  const text = Math.abs(value).toFixed(1);
  return text === "0.0" ? text : `${value < 0 ? "−" : "+"}${text}`;
}

const spanOf = (interval: readonly [number, number] | null, of: (value: number) => string): string =>
  interval === null ? "" : ` (95 % ${of(interval[0])} to ${of(interval[1])})`;

/** `25.0 % (95 % 12.1 to 37.9), n = 2` */
export const pointText = ({ n, mean, interval }: Omit<CurvePoint, "steps">): string =>
  `${percent(mean)}${spanOf(interval, (value) => value.toFixed(1))}, n = ${n}`;

/** `GC-OPD minus Vanilla OPD, +6.3 points (95 % −20.1 to +32.6), n = 2; not told apart (…)` */
export function pairText({ a, b, n, difference, interval, toldApart }: StudyPair): string {
  const verdict = toldApart
    ? "different"
    : n < FEWEST_TRAININGS
      ? `not told apart (fewer than ${FEWEST_TRAININGS} trainings)`
      : "not told apart (the interval includes 0)";
  return `${a} minus ${b}, ${points(difference)} points${spanOf(interval, points)}, n = ${n}; ${verdict}`;
}

/** One line over all pairs. */
export function verdict(pairs: readonly StudyPair[]): string {
  const apart = pairs.filter(({ toldApart }) => toldApart).length;
  if (apart === 0) return "No two methods are told apart.";
  return `${apart} of ${pairs.length} pairs are different, the others are not told apart.`;
}

/** `after step 6` */
export const checkpointWords = (checkpoint: string): string =>
  checkpoint === "final" ? "after the last step" : `after step ${checkpoint.replace("step-", "")}`;

type RegisteredPair = Registered["primary"][number];

const LEVEL = 0.05;

/** As `pairText`, by the registered test: p after Holm. */
export function registeredPair(
  { a, b, n, mean, interval, p }: RegisteredPair,
  methods: Registered["methods"],
): string {
  const label = (id: string): string => methods.find(({ method }) => method === id)?.label ?? id;
  const toldApart = p < LEVEL;
  const text = pairText({ a: label(a), b: label(b), n, difference: mean, interval, toldApart });
  return `${text}, p = ${p < 0.001 ? trueMinus(p.toExponential(0)) : p.toFixed(2)} after Holm`;
}

/** `GC-OPD beats Vanilla OPD; GC-OPD and GC: success only are not told apart.` */
export function registeredVerdict({ primary, methods }: Pick<Registered, "primary" | "methods">): string {
  const label = (id: string): string => methods.find(({ method }) => method === id)?.label ?? id;
  const parts = [...primary]
    .sort((one, other) => one.p - other.p)
    .map(({ a, b, mean, p }) => {
      const [more, less] = (mean < 0 ? [b, a] : [a, b]).map(label) as [string, string];
      return p < LEVEL ? `${more} beats ${less}` : `${label(a)} and ${label(b)} are not told apart`;
    });
  return `${parts.join("; ")}.`;
}
