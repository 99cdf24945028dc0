/** What the strip shows of each token: a figure, a colour, and what the colours mean. */

import { nats, probability } from "../../base/format.ts";
import { argmaxFlips, rankOf } from "../../compute/side.ts";
import type { Signal } from "../../url/place.ts";
import type { Compared } from "./comparison.ts";
import { deltaLimit, themedAmount, themedDelta } from "./delta-colour.ts";

export const SIGNAL_TITLES: Record<Signal, string> = {
  delta: "Δ",
  p: "p",
  logp: "log p",
  rank: "rank",
  entropy: "entropy",
  gap: "student gap",
};

export interface TokenSignal {
  /** [response tokens] as it is read out: "Δ +0.123". */
  words: readonly string[];
  /** [response tokens]; null: there is no value, and the token has no colour. */
  colours: readonly (string | null)[];
  /** What the ends of the ramp stand for, and its colours from left to right. */
  ramp: { low: string; high: string; colours: readonly string[] } | null;
  /** What the colours mean and where they are clamped, in words. */
  legend: string;
  /** Why there is no value; null where there is. */
  missing: string | null;
}

const STOPS = [0, 0.25, 0.5, 0.75, 1];

/** Where a log-probability has the palest colour: below it, all are alike. */
const LOWEST_LOGP = -10;

/**
 * The signal of each token: of the compared side, or of what it differs by from the base.
 *
 * @param whole each token stands for several: they have sums, and no rank or entropy
 */
export function tokenSignal(signal: Signal, compared: Compared, tokens: number, whole = false): TokenSignal {
  const { base, side, columns } = compared;
  // Tokens of its own cannot be shown on these.
  const own = columns.includes(side) ? null : `${side.label} has tokens of its own`;
  switch (signal) {
    case "delta":
      return signed(compared.deltas, "Δ", compared.refused, tokens, {
        more: `more likely under “${side.label}” than under “${base.label}”`,
        less: "less likely",
      });
    case "gap": {
      const student = columns.find(({ key }) => key === "student");
      const missing = own ?? (student === undefined ? "the student is not scored" : null);
      const gaps =
        missing === null
          ? Float32Array.from(side.logprobs, (value, i) => student!.logprobs[i]! - value)
          : null;
      return signed(gaps, "gap", missing, tokens, {
        more: `the student finds it more likely than “${side.label}” does`,
        less: "less likely",
      });
    }
    case "p":
      return amounts(tokens, own, {
        of: (i) => Math.exp(side.logprobs[i]!),
        words: (i) => `p ${probability(side.logprobs[i]!)}`,
        ends: [0, 1],
        labels: ["0", "1"],
        legend: `stronger: more probable under “${side.label}”`,
      });
    case "logp":
      return amounts(tokens, own, {
        of: (i) => side.logprobs[i]!,
        words: (i) => `log p ${nats(side.logprobs[i]!)}`,
        ends: [LOWEST_LOGP, 0],
        labels: [`−${-LOWEST_LOGP}`, "0"],
        legend: `stronger: more probable under “${side.label}” (log p, palest from −${-LOWEST_LOGP} nats down)`,
      });
    case "rank": {
      const { distribution, ids } = side;
      const beyond = (distribution?.top ?? 0) + 1;
      const rank = (i: number): number | null => rankOf(distribution!, i, ids![i]!);
      return amounts(tokens, own ?? unknown(compared, whole), {
        of: (i) => Math.log(rank(i) ?? beyond),
        words: (i) => (rank(i) === null ? `rank outside the top ${beyond - 1}` : `rank ${rank(i)}`),
        ends: [0, Math.log(beyond)],
        labels: ["1", `> ${beyond - 1}`],
        legend: `stronger: further down the ranking of “${side.label}” (log scale); unknown beyond ${beyond - 1}`,
      });
    }
    case "entropy": {
      const entropy = side.distribution?.entropy;
      const high = (entropy ?? new Float32Array()).reduce((most, value) => Math.max(most, value), 1);
      return amounts(tokens, own ?? unknown(compared, whole), {
        of: (i) => entropy![i]!,
        words: (i) => `entropy ${nats(entropy![i]!)}`,
        ends: [0, high],
        labels: ["0", high.toFixed(1)],
        legend: `stronger: “${side.label}” is less certain (entropy in nats)`,
      });
    }
  }
}

function unknown({ side: { distribution, label } }: Compared, whole: boolean): string | null {
  if (whole) return "only a single piece has one: show pieces in place of whole words";
  return distribution === null ? `ranks and entropy of ${label} are not computed yet` : null;
}

function none(tokens: number, missing: string): TokenSignal {
  return {
    words: Array.from({ length: tokens }, () => "no value"),
    colours: Array.from({ length: tokens }, () => null),
    ramp: null,
    legend: "",
    missing,
  };
}

function signed(
  values: Float32Array | null,
  name: string,
  missing: string | null,
  tokens: number,
  { more, less }: { more: string; less: string },
): TokenSignal {
  if (values === null) return none(tokens, missing ?? "there is no value");
  const limit = deltaLimit(values);
  const colour = themedDelta(limit);
  return {
    words: Array.from(values, (value) => `${name} ${nats(value, true)}`),
    colours: Array.from(values, colour),
    ramp: {
      low: `−${limit.toFixed(1)}`,
      high: `+${limit.toFixed(1)}`,
      colours: STOPS.map((stop) => colour((2 * stop - 1) * limit)),
    },
    legend: `green: ${more}; purple: ${less}; full colour from ±${limit.toFixed(2)} nats on`,
    missing: null,
  };
}

function amounts(
  tokens: number,
  missing: string | null,
  {
    of,
    words,
    ends: [low, high],
    labels,
    legend,
  }: {
    of: (i: number) => number;
    words: (i: number) => string;
    ends: readonly [number, number];
    labels: readonly [string, string];
    legend: string;
  },
): TokenSignal {
  if (missing !== null) return none(tokens, missing);
  const colour = themedAmount(low, high);
  const all = Array.from({ length: tokens }, (_, i) => i);
  return {
    words: all.map(words),
    colours: all.map((i) => colour(of(i))),
    ramp: {
      low: labels[0],
      high: labels[1],
      colours: STOPS.map((stop) => colour(low + stop * (high - low))),
    },
    legend,
    missing: null,
  };
}

/** [response tokens] where the most probable token is another one on the other side; null where that is not known. */
export function flips({ base, side, columns }: Compared, tokens: number): readonly boolean[] | null {
  const [a, b] = [base.distribution, side.distribution];
  if (a === null || b === null || !columns.includes(base) || !columns.includes(side)) return null;
  return Array.from({ length: tokens }, (_, i) => argmaxFlips(a, b, i));
}
