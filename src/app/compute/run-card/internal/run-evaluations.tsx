/** What a run's student achieved on its fixed tasks: a line for each evaluation, the best one marked. */
import { bestEvaluated } from "../../../../core/evaluation/index.ts";
import { countOf } from "../../../../core/plural.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import type { Run } from "../../runs/run.ts";
import { intervalText, spreadText } from "../figures.ts";

export function RunEvaluations({ run: { figures } }: { run: Run }) {
  const { evaluations } = figures;
  const last = evaluations.at(-1);
  if (last === undefined) return null;
  const best = bestEvaluated(evaluations);
  const scored = last.score !== null;
  return (
    <details data-testid="run-evaluations">
      <summary>Evaluations</summary>
      <table className="run-table">
        <caption className="note">
          {countOf(last.tasks, "task")} × {countOf(last.seeds.length, "seed")}; mean ± SD over seeds, 95 %
          interval over tasks (– where every task gave the same result)
        </caption>
        <thead>
          <tr>
            <th scope="col">After step</th>
            <th scope="col">Success rate, %</th>
            <th scope="col">95 % interval</th>
            {scored && <th scope="col">Score</th>}
            <th scope="col">Rounds</th>
            <th scope="col">Left out</th>
          </tr>
        </thead>
        <tbody>
          {evaluations.map((evaluation) => {
            const { step, sr, sr_interval: interval, score, rounds, technical } = evaluation;
            const [first] = technical;
            const left = new Set(technical.map(({ task }) => task)).size;
            return (
              <tr key={step}>
                <th scope="row" className="number">
                  {step} {evaluation === best && <strong>best</strong>}
                </th>
                <td className="number">{spreadText(sr)}</td>
                <td className="number">{intervalText(interval)}</td>
                {scored && <td className="number">{score === null ? "–" : spreadText(score)}</td>}
                <td className="number">{spreadText(rounds)}</td>
                <td>
                  {first === undefined
                    ? "–"
                    : `${countOf(left, "task")}, since an episode ended for a technical reason (${shownName(first.task)}: ${shownName(first.reason, 300)})`}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </details>
  );
}
