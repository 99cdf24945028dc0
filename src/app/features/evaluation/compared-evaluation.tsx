/** An evaluation against an earlier one of the same tasks and seeds: the paired difference. */
import { useState } from "react";
import type { Comparison, Interval } from "../../../core/evaluation/index.ts";
import { countOf } from "../../../core/plural.ts";
import { Labelled } from "../../base/labelled.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { intervalText } from "../../compute/run-card/figures.ts";
import { comparisonOf, differingOf, isComparable } from "./live-run-results.ts";
import type { LiveRun } from "./live-runs-store.ts";

const nameOf = ({ model, plan, created }: LiveRun): string =>
  `${plan.role}: ${shownName(model.name, 60)}, ${created.slice(0, 16).replace("T", " ")}`;

export function ComparedEvaluation({ run, all }: { run: LiveRun; all: readonly LiveRun[] }) {
  const [chosen, setChosen] = useState("");
  const others = all.filter(
    (other) => other.id !== run.id && other.state === "done" && isComparable(run, other),
  );
  const other = others.find(({ id }) => id === chosen);
  if (others.length === 0) return null;
  const compared = other === undefined ? null : comparisonOf(run, other);
  return (
    <div className="compared-evaluation">
      <Labelled label="Compare with, on the same tasks and seeds">
        <select value={other?.id ?? ""} onChange={({ target }) => setChosen(target.value)}>
          <option value="">none</option>
          {others.map((each) => (
            <option key={each.id} value={each.id}>
              {nameOf(each)}
            </option>
          ))}
        </select>
      </Labelled>
      {compared !== null &&
        ("problem" in compared ? (
          <p className="fault">{shownName(compared.problem, 1000)}</p>
        ) : (
          <ComparisonText comparison={compared.results} differing={differingOf(run, other!)} />
        ))}
    </div>
  );
}

const intervalWords = (interval: Interval | null): string =>
  interval === null
    ? " (no interval: the difference is the same for every task)"
    : `, 95 % interval ${intervalText(interval)}`;

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)}`;

function ComparisonText({ comparison, differing }: { comparison: Comparison; differing: string[] }) {
  const { sr, score, pairs, left_out, tasks, seeds } = comparison;
  return (
    <p data-testid="comparison">
      Success rate <strong>{signed(sr.difference)}</strong> points{intervalWords(sr.interval)}
      {score !== null && (
        <>
          ; score <strong>{signed(score.difference)}</strong>
          {intervalWords(score.interval)}
        </>
      )}
      . Of {countOf(tasks * seeds.length, "pair")} of episodes both won {pairs.both}, only this one{" "}
      {pairs.only_a}, only the other {pairs.only_b}, neither {pairs.neither}.
      {left_out.length > 0 &&
        ` ${countOf(left_out.length, "task")} left out, since an episode of either is not a result.`}
      {differing.length > 0 && <strong> They were also played differently: {differing.join("; ")}.</strong>}
    </p>
  );
}
