/** What a what-if changes in retrieval: each step under the full method, and now. */
import type { Reference } from "../../../../core/record/schema.ts";
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import type { DecisionModel, TokenCounts } from "../../../data/model.ts";
import { FULL_METHOD } from "../../../url/what-if.ts";
import { outcomeOf, outcomeWords } from "./retained.ts";

function winnerText({ record: { winner } }: Retrieval): string {
  if (winner === null) return "nothing to rank";
  return winner.kind === "student"
    ? `the student’s own, ${winner.cost} left`
    : `${shownName(winner.source, 80)}, visit ${winner.position}, ${winner.cost} left`;
}

function referenceText(reference: Reference | null): string {
  if (reference === null) return "none";
  const { source, position, relation } = reference;
  return `${shownName(source, 80)}, ${position === null ? "whole record" : `visit ${position}`} (${relation})`;
}

function rowsOf(retrieval: Retrieval, counts: TokenCounts | null, text: string): [string, string][] {
  const { record, explanation } = retrieval;
  const failure = referenceText(record.failure);
  const outcome = outcomeOf("failure", explanation);
  return [
    ["matched visits", String(record.matched_visits)],
    ["eligible visits", String(record.candidates.length)],
    ["least cost", winnerText(retrieval)],
    ["successful reference", referenceText(record.success)],
    [
      outcomeWords("failure", "reference"),
      outcome === "unknown" ? `none; ${outcomeWords(outcome, "record")}: ${failure}` : failure,
    ],
    [
      "evidence",
      counts === null
        ? `${text.length.toLocaleString("en")} characters`
        : `${counts.evidence.toLocaleString("en")} tokens`,
    ],
  ];
}

export function WhatIfSection({ decision }: { decision: DecisionModel }) {
  const { full, retrieval, counts, evidence } = decision;
  if (full === null) return null;
  // Tokens are counted on both sides or on none.
  const counted = counts !== null && full.counts !== null;
  const before = rowsOf(full.retrieval, counted ? full.counts : null, full.evidence.text);
  const now = rowsOf(retrieval, counted ? counts : null, evidence.text);
  const changed = now.filter(([, value], i) => value !== before[i]![1]).length;
  return (
    <section className="part what-if-section" aria-labelledby="what-if-title" data-testid="what-if-changes">
      <h2 id="what-if-title">
        What if{" "}
        <span className="note">
          {changed === 0 ? "retrieval is unchanged" : `${changed} of ${now.length} changed`}
        </span>
      </h2>
      <table className="small">
        <thead>
          <tr>
            <th scope="col">
              <span className="hidden-visually">step</span>
            </th>
            <th scope="col">{FULL_METHOD}</th>
            <th scope="col">what if</th>
          </tr>
        </thead>
        <tbody>
          {now.map(([name, value], i) => {
            const same = value === before[i]![1];
            return (
              <tr key={name} className={same ? "" : "changed"}>
                <th scope="row">{name}</th>
                <td>{before[i]![1]}</td>
                <td>
                  {same ? (
                    <span className="muted">unchanged</span>
                  ) : (
                    <>
                      <span aria-hidden="true">→ </span>
                      <strong>{value}</strong>
                    </>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
