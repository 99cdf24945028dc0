/** One token under both contexts. */
import type { TokenScores } from "../../state/store.ts";
import { LongText } from "../../text/long-text.tsx";
import type { Compared } from "./comparison.ts";
import { nats, probability, visibleToken } from "./format.ts";
import { TopTables } from "./top-tables.tsx";

/** Characters of a token that stand there before its rest is asked for. */
const FIRST = 400;

/** e^Δ, three figures. */
function factor(delta: number): string {
  const value = Math.exp(delta);
  return value >= 1e4 || value < 1e-3 ? value.toExponential(1) : value.toPrecision(3);
}

export function TokenCard({
  scores,
  compared,
  token,
}: {
  scores: TokenScores;
  compared: Compared;
  token: number;
}) {
  const { columns, base, side, deltas } = compared;
  const rows = columns.map(({ label, logprobs }): [string, number] => [label, logprobs[token]!]);
  const delta = deltas === null ? null : deltas[token]!;
  const { vanilla, graph, student } = scores;
  return (
    <section className="token-card" aria-label="Pinned token" data-testid="token-card">
      <h3>
        <span className="note">token {token}</span>{" "}
        <bdi>
          <code>
            <LongText text={visibleToken(scores.pieces[token]!)} first={FIRST} />
          </code>
        </bdi>{" "}
        <span className="note">id {scores.ids[token]}</span>
      </h3>
      <table>
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
          {rows.map(([name, logprob]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">
                <span className="bar" aria-hidden="true">
                  <span style={{ width: `${Math.exp(logprob) * 100}%` }} />
                </span>
                {probability(logprob)}
              </td>
              <td className="number">{nats(logprob)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        {delta === null ? (
          "No Δ between these two sides."
        ) : (
          <>
            Δ = <strong>{nats(delta, true)}</strong> nats: {side.label} gives it {factor(delta)} times the
            probability of {base.label}.
          </>
        )}
        {student !== null && (
          <>
            {" "}
            Advantage with evidence A = {nats(graph[token]! - student[token]!, true)}, without{" "}
            {nats(vanilla[token]! - student[token]!, true)}.
          </>
        )}
      </p>
      <TopTables compared={compared} token={token} id={scores.ids[token]!} />
    </section>
  );
}
