/** One token under both contexts. */
import type { TokenScores } from "../../state/store.ts";
import { nats, probability, visibleToken } from "./format.ts";

/** e^Δ, three figures. */
function factor(delta: number): string {
  const value = Math.exp(delta);
  return value >= 1e4 || value < 1e-3 ? value.toExponential(1) : value.toPrecision(3);
}

export function TokenCard({ scores, token }: { scores: TokenScores; token: number }) {
  const { vanilla, graph, student } = scores;
  const rows: [string, number][] = [
    ["teacher, without evidence", vanilla[token]!],
    ["teacher, with evidence", graph[token]!],
  ];
  if (student !== null) rows.push(["student", student[token]!]);
  const delta = graph[token]! - vanilla[token]!;
  return (
    <section className="token-card" aria-label="Pinned token" data-testid="token-card">
      <h3>
        <span className="note">token {token}</span> <code>{visibleToken(scores.pieces[token]!)}</code>{" "}
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
        Δ = <strong>{nats(delta, true)}</strong> nats: evidence multiplies its probability by {factor(delta)}.
        {student !== null && (
          <>
            {" "}
            Advantage with evidence A = {nats(graph[token]! - student[token]!, true)}, without{" "}
            {nats(vanilla[token]! - student[token]!, true)}.
          </>
        )}
      </p>
    </section>
  );
}
