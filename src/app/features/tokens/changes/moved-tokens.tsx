/** Every response token by how much one part of the evidence moves it. */

import { nats, shortToken } from "../../../base/format.ts";
import { withEvidence } from "../../../compute/side.ts";
import type { TokenScores } from "../../../compute/store.ts";
import { partName } from "../../../url/part-name.ts";
import { byEffect, type LeftOutRow } from "../attribution/left-out-rows.ts";
import { EffectHeads } from "../attribution/left-out-table.tsx";
import { deltaLimit, themedDelta } from "../delta-colour.ts";
import { TokenCells, TokenGrid, TokenHeads } from "../token-cells.tsx";

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
  const order = byEffect(effects);
  const colour = themedDelta(deltaLimit(effects));
  return (
    <>
      <h3 className="left-out-heading">Tokens that {name} moves, largest first</h3>
      <TokenGrid className="left-out-table" label={`Tokens without ${name}`}>
        <thead>
          <tr>
            <TokenHeads />
            <EffectHeads />
          </tr>
        </thead>
        <tbody>
          {order.map((i) => (
            <tr key={i} className={token === i ? "pinned" : ""} aria-selected={token === i}>
              <TokenCells at={i} text={shortToken(scores.pieces[i]!)} reached={i === (token ?? order[0])} />
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
      </TokenGrid>
    </>
  );
}
