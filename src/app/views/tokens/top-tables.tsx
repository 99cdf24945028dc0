/** The most probable tokens in one place under both compared sides, side by side; nothing beyond them is guessed. */
import { canTell, scoreDistributions, TOP } from "../../session/distribution.ts";
import { scoreKey } from "../../session/score.ts";
import { isModelAtWork } from "../../state/computing.ts";
import { argmaxFlips, type Distribution, rankOf, type Side } from "../../state/side.ts";
import { useUi } from "../../state/store.ts";
import type { Compared } from "./comparison.ts";
import { nats, probability, shortToken } from "./format.ts";
import { ScoringProgress } from "./scoring-panel.tsx";

/** Rows of each table; ranks are known further. */
const ROWS = 8;

const outside = (top: number): string => `outside the top ${top}`;

export function TopTables({ compared, token, id }: { compared: Compared; token: number; id: number }) {
  const { base, side, columns } = compared;
  if (!columns.includes(base) || !columns.includes(side))
    return <p className="note">Most probable tokens are compared in the same tokenization only.</p>;
  if (base.distribution === null || side.distribution === null)
    return <AskDistribution compared={compared} />;
  const flips = argmaxFlips(base.distribution, side.distribution, token);
  return (
    <div className="top-tables" data-testid="top-tables">
      {[
        { of: base, other: side },
        { of: side, other: base },
      ].map(({ of, other }) => (
        <TopTable
          key={of.key}
          side={of}
          known={of.distribution!}
          other={other.distribution!}
          token={token}
          id={id}
        />
      ))}
      <p className="note">
        {flips ? "The most probable token flips" : "The same token is the most probable on both sides"}. The
        token itself is marked. <em>outside</em>: not among the {TOP} most probable tokens that are known in
        each place, so without a figure.
      </p>
    </div>
  );
}

function TopTable({
  side,
  known,
  other,
  token,
  id,
}: {
  side: Side;
  known: Distribution;
  other: Distribution;
  token: number;
  id: number;
}) {
  const { top, topIds, topLogprobs, texts, entropy } = known;
  const rank = rankOf(known, token, id);
  const places = Array.from({ length: Math.min(ROWS, top) }, (_, i) => i);
  // The token itself, where it is known but further down.
  if (rank !== null && rank > ROWS) places.push(rank - 1);
  return (
    <table aria-label={`Most probable tokens: ${side.label}`}>
      <caption>
        <strong>{side.label}</strong>{" "}
        <span className="note">
          rank {rank ?? outside(top)} · entropy {nats(entropy[token]!)}
        </span>
      </caption>
      <thead>
        <tr>
          <th scope="col" className="number">
            rank
          </th>
          <th scope="col">token</th>
          <th scope="col" className="number">
            p
          </th>
          <th scope="col" className="number">
            p other side
          </th>
        </tr>
      </thead>
      <tbody>
        {places.map((place) => {
          const each = topIds[token * top + place]!;
          const there = rankOf(other, token, each);
          return (
            <tr key={place} className={each === id ? "pinned" : ""}>
              <td className="number">{place + 1}</td>
              <th scope="row">
                <bdi>
                  <code>{shortToken(texts.get(each) ?? `id ${each}`)}</code>
                </bdi>
              </th>
              <td className="number">{probability(topLogprobs[token * top + place]!)}</td>
              <td className="number" title={there === null ? outside(other.top) : undefined}>
                {there === null ? "outside" : probability(other.topLogprobs[token * other.top + there - 1]!)}
              </td>
            </tr>
          );
        })}
        {rank === null && (
          <tr className="pinned">
            <td colSpan={4}>this token: {outside(top)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** Asks for what is not known yet; null where all of it is. */
export function AskDistribution({ compared }: { compared: Compared }) {
  const scoring = useUi((ui) => ui.scoring);
  const key = useUi((ui) => (ui.decision === null ? "" : scoreKey(ui.decision)));
  const busy = useUi(isModelAtWork);
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
