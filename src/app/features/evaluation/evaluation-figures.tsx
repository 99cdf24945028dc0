/** The figures of an evaluation: over all tasks, and for each type. */
import { type EvaluationResults, type Figures, technicalNote } from "../../../core/evaluation/index.ts";
import { countOf } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { intervalText, spreadText } from "../../compute/run-card/figures.ts";

export function EvaluationFigures({ results }: { results: EvaluationResults }) {
  const { tasks, seeds, score, per_type, technical } = results;
  const types = Object.entries(per_type);
  const scored = score !== null;
  const left = new Set(technical.map(({ task }) => task)).size;
  const note = technicalNote(results, (tasks + left) * seeds.length);
  return (
    <div className="run-table-scroll evaluation-figures" data-testid="evaluation">
      <table className="run-table">
        <caption className="note">
          {countOf(tasks, "task")} × {countOf(seeds.length, "seed")}; mean ± SD over seeds, 95 % interval over
          tasks (– where every task gave the same result)
        </caption>
        <thead>
          <tr>
            <th scope="col">Tasks</th>
            <th scope="col">Success rate, %</th>
            <th scope="col">95 % interval</th>
            {scored && <th scope="col">Score</th>}
            <th scope="col">Rounds</th>
            <th scope="col">pass@{seeds.length}, %</th>
            {scored && <th scope="col">Score@{seeds.length}</th>}
          </tr>
        </thead>
        <tbody>
          <FiguresRow name={`all ${tasks}`} figures={results} results={results} scored={scored} />
          {types.map(([type, figures]) => (
            <FiguresRow key={type} name={`${type}, ${figures.tasks}`} figures={figures} scored={scored} />
          ))}
        </tbody>
      </table>
      {note !== null && <p className="note">{shownName(note, 1000)}.</p>}
    </div>
  );
}

function FiguresRow({
  name,
  figures,
  results,
  scored,
}: {
  name: string;
  figures: Figures;
  /** What only the figures over all tasks have. */
  results?: EvaluationResults;
  scored: boolean;
}) {
  const { sr, score, rounds } = figures;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="number">{spreadText(sr)}</td>
      <td className="number">{results === undefined ? "" : intervalText(results.sr_interval)}</td>
      {scored && <td className="number">{score === null ? "–" : spreadText(score)}</td>}
      <td className="number">{spreadText(rounds)}</td>
      <td className="number">{results?.pass_at_k.toFixed(1)}</td>
      {scored && <td className="number">{results?.score_at_k?.toFixed(1)}</td>}
    </tr>
  );
}
