/** Every response token by how much one part of the evidence moves it. */

import { nats, shortToken } from "../../../base/format.ts";
import { Scroller } from "../../../base/scroller.tsx";
import { withEvidence } from "../../../compute/side.ts";
import type { TokenScores } from "../../../compute/store.ts";
import { partName } from "../../../url/part-name.ts";
import { byEffect, type LeftOutRow } from "../attribution/left-out-rows.ts";
import { deltaLimit, themedDelta } from "../delta-colour.ts";
import { TokenCells } from "../token-cells.tsx";

export function MovedTokens({
  scores,
  row: { result, effects },
  token,
}: {
  scores: TokenScores;
  row: LeftOutRow;
  token: number | null;
}) {
  const name = partName(result.part);
  const { logprobs } = withEvidence(scores);
  const colour = themedDelta(deltaLimit(effects));
  return (
    <>
      <h3 className="left-out-heading">Tokens that {name} moves, largest first</h3>
      <Scroller className="token-table left-out-table" label={`Tokens without ${name}`}>
        <table>
          <thead>
            <tr>
              <th scope="col" className="number">
                #
              </th>
              <th scope="col">token</th>
              <th scope="col" className="number">
                log p with all
              </th>
              <th scope="col" className="number">
                without it
              </th>
              <th scope="col" className="number">
                with − without
              </th>
            </tr>
          </thead>
          <tbody>
            {byEffect(effects).map((i) => (
              <tr key={i} className={token === i ? "pinned" : ""}>
                <TokenCells at={i} text={shortToken(scores.pieces[i]!)} />
                <td className="number">{nats(logprobs[i]!)}</td>
                <td className="number">{nats(result.logprobs[i]!)}</td>
                <td className="number">
                  <span className="swatch" style={{ backgroundColor: colour(effects[i]!) }}>
                    {nats(effects[i]!, true)}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </>
  );
}
