/** Mean Δ by position over many responses; positions of few responses are drawn paler. */
import type { ChangeFigures } from "../changes/change-collector.ts";
import { Plot, padded } from "./frame.tsx";

export function MeanByPosition({
  figures: { meanByPosition, countByPosition },
  last,
  fileName,
  caption,
}: {
  figures: ChangeFigures;
  /** The position that stands for all beyond it too. */
  last: number;
  fileName: string;
  caption: string;
}) {
  const tokens = meanByPosition.length;
  const most = countByPosition.reduce((largest, count) => Math.max(largest, count), 1);
  return (
    <Plot
      title="Mean Δ by position"
      label={`Mean Δ by position of ${tokens} positions, from ${most} responses at most`}
      xLabel={tokens > last ? `token (${last}: and beyond)` : "token; paler: fewer responses"}
      yLabel="mean Δ, nats"
      xDomain={[0, Math.max(1, tokens - 1)]}
      yDomain={padded(meanByPosition, [0])}
      wholeX
      tokenAt={() => null}
      pinned={null}
      fileName={fileName}
      caption={caption}
    >
      {({ x, y }) => (
        <>
          {meanByPosition.map((mean, i) => (
            <line
              // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the position is
              key={i}
              className="stem"
              x1={x(i)}
              x2={x(i)}
              y1={y(0)}
              y2={y(mean)}
              opacity={0.35 + (0.65 * countByPosition[i]!) / most}
            />
          ))}
          <line className="zero" x1={x.range()[0]} x2={x.range()[1]} y1={y(0)} y2={y(0)} />
        </>
      )}
    </Plot>
  );
}
