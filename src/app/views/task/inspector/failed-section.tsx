/** The failed reference and how it was found. */
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { ReferenceLine } from "./reference-line.tsx";

export function FailedSection({ retrieval: { record, explanation } }: { retrieval: Retrieval }) {
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
              </tr>
            </thead>
            <tbody>
              {failed.candidates.map((candidate) => (
                <tr key={`${candidate.source} ${candidate.position}`}>
                  <th scope="row">{candidate.source}</th>
                  <td className="number">{candidate.position}</td>
                  <td className="number">{candidate.distance}</td>
                  <td className="number">{candidate.wholeCost}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  );
}
