/** All tokens in figures. */
import { navigate } from "../../place/navigate.ts";
import { Scroller } from "../../shell/scroller.tsx";
import type { TokenScores } from "../../state/store.ts";
import { nats, probability, visibleToken } from "./format.ts";

export function TokenTable({
  scores,
  deltas,
  pinned,
}: {
  scores: TokenScores;
  deltas: Float32Array;
  pinned: number | null;
}) {
  return (
    <Scroller className="token-table" label="All tokens in figures">
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              #
            </th>
            <th scope="col">token</th>
            <th scope="col" className="number">
              p without
            </th>
            <th scope="col" className="number">
              p with
            </th>
            <th scope="col" className="number">
              Δ log p
            </th>
            {scores.student && (
              <th scope="col" className="number">
                p student
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {scores.pieces.map((piece, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
            <tr key={i} className={pinned === i ? "pinned" : ""}>
              <td className="number">{i}</td>
              <th scope="row">
                <button type="button" className="plain" onClick={() => navigate({ token: i })}>
                  <code>{visibleToken(piece)}</code>
                </button>
              </th>
              <td className="number">{probability(scores.vanilla[i]!)}</td>
              <td className="number">{probability(scores.graph[i]!)}</td>
              <td className="number">{nats(deltas[i]!, true)}</td>
              {scores.student && <td className="number">{probability(scores.student[i]!)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}
