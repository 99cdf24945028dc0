/** Parts of the evidence × tokens: what each part adds to each token, as colours; a part not left out yet has none. */
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import { eventNumber } from "../../../../core/evidence/phrases.ts";
import { nats, shortToken } from "../../../base/format.ts";
import { Scroller } from "../../../base/scroller.tsx";
import { navigate } from "../../../data/navigate.ts";
import { partName, samePart } from "../../../url/part-name.ts";
import { themedDelta } from "../delta-colour.ts";
import { hover } from "../hover.ts";
import { type InUnits, sumOf, unitOf } from "../units.ts";
import type { LeftOutRow } from "./left-out-rows.ts";

/** Height of a row and least width of a column, in pixels. */
const CELL = 16;

export function EffectMap({
  parts,
  rows,
  units,
  token,
  chosen,
}: {
  /** A row each, so that the map is as high at first as at the end. */
  parts: readonly EvidencePart[];
  /** Of those that were left out. */
  rows: readonly LeftOutRow[];
  units: InUnits;
  token: number | null;
  chosen: EvidencePart | null;
}) {
  const { ranges, leads, texts } = units;
  const cells = parts.map((part) => {
    const row = rows.find(({ result }) => samePart(result.part, part));
    return row === undefined ? null : ranges.map((range) => sumOf(row.effects, range));
  });
  const limit = cells
    .flatMap((row) => row ?? [])
    .reduce((most, value) => Math.max(most, Math.abs(value)), 0.5);
  const colour = themedDelta(limit);
  const at = token === null ? -1 : unitOf(units, token);
  const width = ranges.length * CELL;
  const height = parts.length * CELL;
  const cellAt = (event: React.MouseEvent<SVGSVGElement>): { row: number; column: number } => {
    const box = event.currentTarget.getBoundingClientRect();
    return {
      row: Math.min(parts.length - 1, Math.floor(((event.clientY - box.top) / box.height) * parts.length)),
      column: Math.min(
        ranges.length - 1,
        Math.floor(((event.clientX - box.left) / box.width) * ranges.length),
      ),
    };
  };
  return (
    <figure className="effect-map" data-testid="effect-map">
      <figcaption className="note">
        What each part adds to each token: green makes it more likely, purple less likely, full colour from ±
        {limit.toFixed(2)} nats on. Left and right select a token, a click a token and a part.
      </figcaption>
      <div className="effect-map-rows">
        <ol aria-hidden="true">
          {parts.map((part) => (
            <li
              key={`${part.record}@${part.event}`}
              className={chosen !== null && samePart(part, chosen) ? "chosen" : ""}
            >
              {part.record}
              {part.event !== null && ` ${eventNumber(part.event)}`}
            </li>
          ))}
        </ol>
        <Scroller className="effect-map-cells" label="Parts of the evidence by tokens">
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the bars above and the arrow keys select the same */}
          <svg
            role="img"
            aria-label={`What each of ${rows.length} parts adds to each of ${ranges.length} tokens`}
            height={height}
            style={{ minWidth: width }}
            preserveAspectRatio="none"
            viewBox={`0 0 ${width} ${height}`}
            onMouseMove={(event) => hover(leads[cellAt(event).column]!)}
            onMouseLeave={() => hover(null)}
            onClick={(event) => {
              const { row, column } = cellAt(event);
              navigate({ token: leads[column]!, part: parts[row]! });
            }}
          >
            {parts.map((part, y) =>
              cells[y] === null ? null : (
                <rect key={partName(part)} className="ground" y={y * CELL} width={width} height={CELL} />
              ),
            )}
            {cells.flatMap((row, y) =>
              (row ?? []).flatMap((value, x) =>
                // Most cells are what is behind them: a long response has thousands.
                Math.abs(value) < limit / 100 ? (
                  []
                ) : (
                  <rect
                    // biome-ignore lint/suspicious/noArrayIndexKey: the place is what the cell is
                    key={`${x} ${y}`}
                    x={x * CELL}
                    y={y * CELL}
                    width={CELL}
                    height={CELL}
                    style={{ fill: colour(value) }}
                  >
                    <title>{`${shortToken(texts[x]!)}: ${partName(parts[y]!)} adds ${nats(value, true)}`}</title>
                  </rect>
                ),
              ),
            )}
            {at >= 0 && <rect className="selected" x={at * CELL} y={0} width={CELL} height={height} />}
          </svg>
        </Scroller>
      </div>
    </figure>
  );
}
