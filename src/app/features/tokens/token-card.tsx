/** The selected token, or what it is a piece of, under both contexts, and what could have stood in its place. */

import { nats, probability, shortToken, timesAsLikely, visibleToken } from "../../base/format.ts";
import { LongText } from "../../base/text/long-text.tsx";
import { type Side, sideOf, withEvidence, withoutEvidence } from "../../compute/side.ts";
import type { TokenScores } from "../../compute/store.ts";
import type { Compared } from "./comparison.ts";
import { largestChanges } from "./largest-changes.ts";
import { curveOf } from "./plots/position-plots.tsx";
import { TopTable } from "./top-tables.tsx";
import { type InUnits, sumOf, unitOf } from "./units.ts";

/** Characters of a token that are shown before the rest is asked for. */
const FIRST = 400;

export function TokenCard({
  scores,
  compared,
  units,
  token,
}: {
  scores: TokenScores;
  /** Of single tokens. */
  compared: Compared;
  units: InUnits;
  token: number;
}) {
  const at = unitOf(units, token);
  const range = units.ranges[at]!;
  const several = range.to - range.from > 1;
  const { columns, base, side, deltas } = units.compared;
  const delta = deltas === null ? null : deltas[at]!;
  const place = deltas === null ? null : largestChanges(deltas).indexOf(at) + 1;
  const student = sideOf(scores, "student");
  const advantage = (teacher: Side): string =>
    nats(sumOf(teacher.logprobs, range) - sumOf(student!.logprobs, range), true);
  return (
    <section className="token-card" aria-label="Selected token" data-testid="token-card">
      <div className="token-facts">
        <h3>
          <bdi>
            <code>
              <LongText text={visibleToken(units.texts[at]!)} first={FIRST} />
            </code>
          </bdi>{" "}
          <span className="note">
            {several
              ? `tokens ${range.from} to ${range.to - 1}, added up`
              : `token ${range.from} · id ${scores.ids[range.from]}`}
            {place !== null && ` · ${place === 1 ? "moved most" : `no. ${place} by |Δ|`}`}
          </span>
        </h3>
        {delta === null ? (
          <p>No Δ between these two sides.</p>
        ) : (
          <>
            <p className="token-change" data-testid="token-change">
              <span>{probability(base.logprobs[at]!)}</span> → <span>{probability(side.logprobs[at]!)}</span>
            </p>
            <p>
              {sentence(timesAsLikely(delta))} under “{side.label}” than under “{base.label}”: Δ ={" "}
              <strong>{nats(delta, true)}</strong> nats.
            </p>
          </>
        )}
        <table aria-label="Contexts">
          <thead>
            <tr>
              <th scope="col">context</th>
              <th scope="col" className="number">
                p
              </th>
              <th scope="col" className="number">
                log p
              </th>
            </tr>
          </thead>
          <tbody>
            {columns.map(({ key, label, logprobs }, i) => (
              <tr key={key}>
                <th scope="row">{label}</th>
                <td className="number">
                  <span className={`bar ${curveOf(key, i).className}`} aria-hidden="true">
                    <span style={{ width: `${Math.exp(logprobs[at]!) * 100}%` }} />
                  </span>
                  {probability(logprobs[at]!)}
                </td>
                <td className="number">{nats(logprobs[at]!)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {student !== undefined && (
          <p className="note">
            Advantage with evidence A = {advantage(withEvidence(scores))}, without{" "}
            {advantage(withoutEvidence(scores))}.
          </p>
        )}
      </div>
      <div className="token-alternatives">
        {several && (
          <p className="note">
            In the place of its piece <code>{shortToken(scores.pieces[token]!)}</code> (token {token}):
          </p>
        )}
        <TopTable compared={compared} token={token} text={scores.pieces[token]!} />
      </div>
    </section>
  );
}

const sentence = (words: string): string => `${words[0]!.toUpperCase()}${words.slice(1)}`;
