/** The most probable tokens in one place under both compared sides, in one list; nothing beyond them is guessed. */

import { nats, probability, shortToken } from "../../base/format.ts";
import { isDeviceBusy } from "../../compute/computing.ts";
import { LISTED, TOP } from "../../compute/scoring/known-distribution.ts";
import { scoreKey } from "../../compute/scoring/score.ts";
import { argmaxFlips, type Side } from "../../compute/side.ts";
import { useUi } from "../../compute/store.ts";
import { alternatives, type Known } from "./alternatives.ts";
import type { Compared } from "./comparison.ts";
import { deltaLimit, themedDelta } from "./delta-colour.ts";
import { canTell, scoreDistributions } from "./distribution.ts";
import { curveOf } from "./plots/position-plots.tsx";
import { ScoringProgress } from "./scoring-panel.tsx";

export function TopTable({ compared, token, text }: { compared: Compared; token: number; text: string }) {
  const { base, side, columns } = compared;
  if (!columns.includes(base) || !columns.includes(side))
    return <p className="note">Most probable tokens are compared in the same tokenization only.</p>;
  if (base.distribution === null || side.distribution === null)
    return <AskDistribution compared={compared} />;
  const flips = argmaxFlips(base.distribution, side.distribution, token);
  const rows = alternatives(base, side, token, text);
  const sideClass = (of: Side): string => curveOf(of.key, columns.indexOf(of)).className;
  const limit = deltaLimit(rows.map((row) => row.side.logprob - row.base.logprob));
  const colour = themedDelta(limit);
  return (
    <div className="top-table" data-testid="top-tables">
      <table aria-label="Most probable tokens in this place">
        <caption>
          <strong>
            {flips ? "Another token becomes the most probable" : "The most probable token stays"}
          </strong>{" "}
          <span className="note">
            entropy {nats(base.distribution.entropy[token]!)} → {nats(side.distribution.entropy[token]!)} nats
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col">token</th>
            <th scope="col" className="number">
              {base.label}
            </th>
            <th scope="col" className="number">
              {side.label}
            </th>
            <th scope="col" className="number">
              Δ log p
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, text, own, ...known }) => {
            const exact = !known.base.atMost && !known.side.atMost;
            const delta = known.side.logprob - known.base.logprob;
            return (
              <tr key={id} className={own ? "pinned" : ""}>
                <th scope="row">
                  <bdi>
                    <code>{shortToken(text)}</code>
                  </bdi>
                </th>
                <Probability of={known.base} side={sideClass(base)} />
                <Probability of={known.side} side={sideClass(side)} />
                <td className="number">
                  {exact ? (
                    <span className="swatch" style={{ backgroundColor: colour(delta) }}>
                      {nats(delta, true)}
                    </span>
                  ) : (
                    "–"
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p className="note">
        The {LISTED} most probable tokens of each side; the response’s own is marked.
        {rows.some(({ base, side }) => base.atMost || side.atMost) &&
          ` <: not among the ${TOP} most probable there, so below the last of them.`}
      </p>
    </div>
  );
}

function Probability({ of: { logprob, atMost, rank }, side }: { of: Known; side: string }) {
  return (
    <td className="number" title={rank === null ? `not among the ${TOP} most probable` : `rank ${rank}`}>
      <span className={`bar ${side}`} aria-hidden="true">
        <span style={{ width: `${atMost ? 0 : Math.exp(logprob) * 100}%` }} />
      </span>
      {atMost && "< "}
      {probability(logprob)}
    </td>
  );
}

/** Asks for what is not known yet; null where all of it is. */
export function AskDistribution({ compared }: { compared: Compared }) {
  const scoring = useUi((ui) => ui.scoring);
  const key = useUi((ui) => (ui.decision === null ? "" : scoreKey(ui.decision)));
  const busy = useUi(isDeviceBusy);
  const unknown = [compared.base, compared.side].filter(({ distribution }) => distribution === null);
  if (unknown.length === 0) return null;
  if (scoring.status !== "idle" && scoring.status !== "failed" && scoring.job === "distribution")
    return <ScoringProgress job="distribution" />;
  const never = unknown.filter((side) => !canTell(side));
  return (
    <div className="ask-distribution">
      {scoring.status === "failed" && scoring.job === "distribution" && scoring.key === key && (
        <p className="fault" role="alert">
          {scoring.message}
        </p>
      )}
      {never.length > 0 && (
        <p className="note">
          {never.map(({ label }) => label).join(" and ")}: only the log-probability of the token itself was
          recorded.
        </p>
      )}
      {unknown.length > never.length && (
        <button type="button" disabled={busy} onClick={() => void scoreDistributions(unknown)}>
          Top-{TOP}, rank and entropy <span className="key">d</span>
        </button>
      )}
      <span className="note">
        {unknown.length > never.length &&
          `one more pass of each side: ${unknown
            .filter(canTell)
            .map(({ label }) => label)
            .join(", ")}`}
      </span>
    </div>
  );
}
