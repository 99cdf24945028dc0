/** The figures of an evaluation, in a line. */
import type { EvaluationResults, Interval, Spread } from "../../core/evaluation/index.ts";
import { countOf } from "../../core/plural.ts";
import { plain, signed } from "../demo/table.ts";
import type { EvaluationsCompared } from "./evaluate.ts";

const spread = ({ mean, sd }: Spread): string =>
  `${plain(mean, 1)}${sd === null ? "" : ` ± ${sd.toFixed(1)}`}`;
const range = (interval: Interval | null, alike: string): string =>
  interval === null
    ? `(no interval: ${alike})`
    : `(95 % interval ${interval.map((end) => plain(end, 1)).join(" to ")})`;

/** "success rate 41.7 ± 5.9 % (95 % interval 20.0 to 63.3), rounds 12.0 ± 0.3; 10 tasks × 4 seeds" */
export function figuresText({
  sr,
  sr_interval: interval,
  score,
  rounds,
  tasks,
  seeds,
}: Pick<EvaluationResults, "sr" | "sr_interval" | "score" | "rounds" | "tasks" | "seeds">): string {
  return (
    `success rate ${spread(sr)} % ${range(interval, "every task gave the same result")}` +
    `${score === null ? "" : `, score ${spread(score)}`}, rounds ${spread(rounds)}; ` +
    `${countOf(tasks, "task")} × ${countOf(seeds.length, "seed")}`
  );
}

/** "after less before: success rate +8.3 points (95 % interval −2.0 to 18.0); …", by the names of both students. */
export function comparisonText(
  a: string,
  b: string,
  { sr, score, pairs, left_out, differing }: EvaluationsCompared,
): string {
  const difference = (of: { difference: number; interval: Interval | null }) =>
    `${signed(of.difference, 1)} points ${range(of.interval, "the difference is the same for every task")}`;
  const { both, only_a, only_b, neither } = pairs;
  return (
    `${a} less ${b}: success rate ${difference(sr)}${score === null ? "" : `, score ${difference(score)}`}; ` +
    `of ${countOf(both + only_a + only_b + neither, "pair")} of episodes ${both} won by both, ${only_a} by ${a} alone, ${only_b} by ${b} alone` +
    (left_out.length === 0 ? "" : `; ${countOf(left_out.length, "task")} left out`) +
    (differing === null
      ? `; ${b} does not say how it was played`
      : differing.length === 0
        ? ""
        : `; they were also played differently: ${differing.join("; ")}`)
  );
}
