/** All tokens in figures: a column for each side, and Δ of the two that are compared. It follows the selection. */
import { memo, useEffect, useMemo, useRef } from "react";
import { nats, probability, shortToken } from "../../base/format.ts";
import type { Side } from "../../compute/side.ts";
import { deltaLimit, themedAmount, themedDelta } from "./delta-colour.ts";
import { hover } from "./hover.ts";
import { TokenCells, TokenGrid, TokenHeads } from "./token-cells.tsx";
import { type InUnits, unitOf } from "./units.ts";

const probabilityColour = themedAmount(0, 1);

export function TokenTable({ units, token }: { units: InUnits; token: number | null }) {
  const { columns, base, side } = units.compared;
  // The two that are compared stand beside their difference.
  // Under a what-if in the order in which evidence is added: none, the full method's, the changed one.
  const [pair, rest] = useMemo(() => {
    const ahead = columns.filter((each) => base.key === "full" && each.key === "vanilla" && each !== side);
    const beside = [...ahead, ...[base, side].filter((each) => columns.includes(each))];
    return [beside, columns.filter((each) => !beside.includes(each))] as const;
  }, [base, side, columns]);
  return (
    <TokenGrid label="All tokens in figures">
      <thead>
        <tr>
          <TokenHeads />
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
      <Rows units={units} pair={pair} rest={rest} token={token} />
    </TokenGrid>
  );
}

function Rows({
  units,
  pair,
  rest,
  token,
}: {
  units: InUnits;
  pair: readonly Side[];
  rest: readonly Side[];
  token: number | null;
}) {
  const { leads } = units;
  const { deltas } = units.compared;
  const texts = useMemo(() => units.texts.map(shortToken), [units.texts]);
  const colour = useMemo(() => (deltas === null ? null : themedDelta(deltaLimit(deltas))), [deltas]);
  const pinned = token === null ? -1 : unitOf(units, token);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const row = body.current?.rows[pinned];
    const room = row?.closest<HTMLElement>(".token-table");
    if (row === undefined || room === null || room === undefined) return;
    // The table alone is scrolled, never the page.
    const top = row.offsetTop - room.scrollTop;
    if (top < 2 * row.offsetHeight || top > room.clientHeight - 2 * row.offsetHeight)
      room.scrollTop = row.offsetTop - room.clientHeight / 2;
  }, [pinned]);
  const leadAt = (target: EventTarget): number | null => {
    const at = rowAt(target);
    return at === null ? null : (leads[at] ?? null);
  };
  return (
    <tbody
      ref={body}
      onMouseOver={(event) => hover(leadAt(event.target))}
      onFocus={(event) => hover(leadAt(event.target))}
      onMouseLeave={() => hover(null)}
    >
      {texts.map((text, i) => (
        <Row
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
          key={i}
          at={i}
          token={leads[i]!}
          text={text}
          pair={pair}
          rest={rest}
          delta={deltas?.[i] ?? null}
          colour={colour}
          pinned={pinned === i}
          reached={i === Math.max(pinned, 0)}
        />
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
  token,
  text,
  pair,
  rest,
  delta,
  colour,
  pinned,
  reached,
}: {
  at: number;
  /** The one that the row selects. */
  token: number;
  text: string;
  pair: readonly Side[];
  rest: readonly Side[];
  delta: number | null;
  colour: ((delta: number) => string) | null;
  pinned: boolean;
  reached: boolean;
}) {
  const cell = ({ key, logprobs }: Side) => (
    <td key={key} className="number">
      <span className="swatch" style={{ backgroundColor: probabilityColour(Math.exp(logprobs[at]!)) }}>
        {probability(logprobs[at]!)}
      </span>
    </td>
  );
  return (
    <tr className={pinned ? "pinned" : ""} aria-selected={pinned}>
      <TokenCells at={at} text={text} token={token} reached={reached} />
      {pair.map(cell)}
      <td className="number">
        {delta === null || colour === null ? (
          "–"
        ) : (
          <span className="swatch" style={{ backgroundColor: colour(delta) }}>
            {nats(delta, true)}
          </span>
        )}
      </td>
      {rest.map(cell)}
    </tr>
  );
});
