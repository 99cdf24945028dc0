/** The tokens, words or parts that change most, the largest first. */
import { useMemo } from "react";
import { nats, shortToken } from "../../../base/format.ts";
import { navigate } from "../../../data/navigate.ts";
import { hover, useHover } from "../hover.ts";
import { largestChanges } from "../largest-changes.ts";
import type { InUnits } from "../units.ts";

const SHOWN = 10;

export function Largest({
  units: { texts, leads, ranges },
  deltas,
  pinned,
}: {
  units: InUnits;
  deltas: Float32Array;
  pinned: number | null;
}) {
  const order = useMemo(() => largestChanges(deltas).slice(0, SHOWN), [deltas]);
  const hovered = useHover(({ token }) => token);
  const most = Math.abs(deltas[order[0] ?? 0] ?? 1) || 1;
  return (
    <section className="largest" aria-labelledby="largest-title">
      <h3 id="largest-title">
        Largest |Δ| <span className="key">,</span> <span className="key">.</span>
      </h3>
      <ol>
        {order.map((unit) => {
          const delta = deltas[unit]!;
          const token = leads[unit]!;
          const width = (50 * Math.abs(delta)) / most;
          return (
            <li key={token}>
              <button
                type="button"
                className={`plain${hovered === token ? " hovered" : ""}`}
                aria-pressed={token === pinned}
                onMouseEnter={() => hover(token)}
                onMouseLeave={() => hover(null)}
                onFocus={() => hover(token)}
                onBlur={() => hover(null)}
                onClick={() => navigate({ token: token === pinned ? null : token })}
              >
                <span className="note">{ranges[unit]!.from}</span>
                <code>{shortToken(texts[unit]!)}</code>
                <span className="diverging" aria-hidden="true">
                  <span
                    className={delta < 0 ? "less" : "more"}
                    style={{ width: `${width}%`, left: delta < 0 ? `${50 - width}%` : "50%" }}
                  />
                </span>
                <span className="number">{nats(delta, true)}</span>
              </button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
