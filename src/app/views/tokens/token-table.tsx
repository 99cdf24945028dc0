/** All tokens in figures: a column for each side, and Δ of the two that are compared. */
import { memo, useMemo } from "react";
import { Scroller } from "../../shell/scroller.tsx";
import type { Side } from "../../state/side.ts";
import type { TokenScores } from "../../state/store.ts";
import type { Compared } from "./comparison.ts";
import { nats, probability, shortToken } from "./format.ts";
import { hover } from "./hover.ts";
import { TokenCells } from "./token-cells.tsx";

export function TokenTable({
  scores,
  compared,
  pinned,
}: {
  scores: TokenScores;
  compared: Compared;
  pinned: number | null;
}) {
  const { columns, base, side, deltas } = compared;
  // The two that are compared stand beside their difference.
  // Under a what-if in the order in which evidence is added: none, the full method's, the changed one.
  const [pair, rest] = useMemo(() => {
    const ahead = columns.filter((each) => base.key === "full" && each.key === "vanilla" && each !== side);
    const beside = [...ahead, ...[base, side].filter((each) => columns.includes(each))];
    return [beside, columns.filter((each) => !beside.includes(each))] as const;
  }, [base, side, columns]);
  return (
    <Scroller className="token-table" label="All tokens in figures">
      <table>
        <thead>
          <tr>
            <th scope="col" className="number">
              #
            </th>
            <th scope="col">token</th>
            {pair.map(({ key, label }) => (
              <th key={key} scope="col" className="number">
                p {label}
              </th>
            ))}
            <th scope="col" className="number">
              Δ log p
            </th>
            {rest.map(({ key, label }) => (
              <th key={key} scope="col" className="number">
                p {label}
              </th>
            ))}
          </tr>
        </thead>
        <Rows scores={scores} pair={pair} rest={rest} deltas={deltas} pinned={pinned} />
      </table>
    </Scroller>
  );
}

function Rows({
  scores: { pieces },
  pair,
  rest,
  deltas,
  pinned,
}: {
  scores: TokenScores;
  pair: readonly Side[];
  rest: readonly Side[];
  deltas: Float32Array | null;
  pinned: number | null;
}) {
  const texts = useMemo(() => pieces.map(shortToken), [pieces]);
  return (
    <tbody
      onMouseOver={(event) => hover(rowAt(event.target))}
      onFocus={(event) => hover(rowAt(event.target))}
      onMouseLeave={() => hover(null)}
    >
      {texts.map((text, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
        <Row key={i} at={i} text={text} pair={pair} rest={rest} deltas={deltas} pinned={pinned === i} />
      ))}
    </tbody>
  );
}

function rowAt(target: EventTarget): number | null {
  const row = target instanceof Element ? target.closest("tr") : null;
  return row === null ? null : row.sectionRowIndex;
}

/** Drawn again only when its own figures, or its being pinned, change. */
const Row = memo(function Row({
  at,
  text,
  pair,
  rest,
  deltas,
  pinned,
}: {
  at: number;
  text: string;
  pair: readonly Side[];
  rest: readonly Side[];
  deltas: Float32Array | null;
  pinned: boolean;
}) {
  const cell = ({ key, logprobs }: Side) => (
    <td key={key} className="number">
      {probability(logprobs[at]!)}
    </td>
  );
  return (
    <tr className={pinned ? "pinned" : ""}>
      <TokenCells at={at} text={text} />
      {pair.map(cell)}
      <td className="number">{deltas === null ? "–" : nats(deltas[at]!, true)}</td>
      {rest.map(cell)}
    </tr>
  );
});
