/** The failed reference and how it was found. */
import type { DecisionModel } from "../../../model.ts";
import { shownName } from "../../../text/shown-text.ts";
import { Fallback } from "./fallback.tsx";
import { ReferenceLine } from "./reference-line.tsx";
import { ReferenceButton, SourceButton } from "./what-if-buttons.tsx";

export function FailedSection({
  decision,
  byRules,
}: {
  decision: DecisionModel;
  /** The rules of retrieval chose the record. */
  byRules: boolean;
}) {
  const { record, explanation } = decision.retrieval;
  const { failed } = explanation;
  if (record.failure === null && failed === null) return null;
  return (
    <section className="part" aria-labelledby="failed-title">
      <h2 id="failed-title">Failed reference</h2>
      {record.failure === null ? (
        <p className="muted">None retained.</p>
      ) : (
        <ReferenceLine reference={record.failure} />
      )}
      {byRules && record.failure !== null && (
        <Fallback
          reference={record.failure}
          why="No decision up to this one shares a state with a verified failed record"
        />
      )}
      {failed && failed.candidates.length > 0 && (
        <details>
          <summary>
            <span className="flag-failure">⚑</span> {failed.candidates.length} visits of failed records at the
            student’s decision {failed.studentPosition}
          </summary>
          <table className="small">
            <thead>
              <tr>
                <th scope="col">execution</th>
                <th scope="col" className="number">
                  visit
                </th>
                <th scope="col" className="number">
                  distance
                </th>
                <th scope="col" className="number">
                  whole cost
                </th>
                <th scope="col">what if</th>
              </tr>
            </thead>
            <tbody>
              {failed.candidates.map((candidate) => (
                <tr key={`${candidate.source} ${candidate.position}`}>
                  <th scope="row">
                    <bdi>{shownName(candidate.source, 80)}</bdi>
                  </th>
                  <td className="number">{candidate.position}</td>
                  <td className="number">{candidate.distance}</td>
                  <td className="number">{candidate.wholeCost}</td>
                  <td className="what-if-buttons">
                    <ReferenceButton decision={decision} kind="failure" visit={candidate} short />
                    <SourceButton source={candidate.source} short />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}
