/** The student's probability of each token of the watched decision: now, and as it was before the run. */

import { nats, probability, shortToken } from "../../base/format.ts";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import type { TrainingState } from "../../compute/store.ts";

const HEIGHT = 74;

export function WatchedTokens({
  watch,
  takenBack,
}: {
  watch: NonNullable<TrainingState["watch"]>;
  /** Steps after this one were taken back: the student is as it was there. */
  takenBack: number | null;
}) {
  const first = watch.history[0];
  const last = watch.history.findLast(({ step }) => takenBack === null || step <= takenBack);
  if (first === undefined || last === undefined) return <p className="note">Looking at the student first…</p>;
  const sum = (values: Float32Array): number => values.reduce((total, value) => total + value, 0);
  return (
    <div className="watched" data-testid="watched">
      <p className="note">
        <Name>{shownName(watch.label)}</Name>: log p of the response {nats(sum(first.logprobs))} before,{" "}
        <strong>{nats(sum(last.logprobs))}</strong> after {last.step} {last.step === 1 ? "step" : "steps"}.
        Bar: p now; line: p before the run; figure: change of log p.
      </p>
      <ol className="watched-tokens">
        {watch.pieces.map((piece, i) => {
          const change = last.logprobs[i]! - first.logprobs[i]!;
          const figure = nats(change, true, 2);
          // What is shown as no change has no colour of one.
          const direction = Number(figure) === 0 ? "same" : change > 0 ? "up" : "down";
          const [before, now] = [Math.exp(first.logprobs[i]!), Math.exp(last.logprobs[i]!)];
          return (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
              key={i}
              title={`${shortToken(piece)}: p ${probability(first.logprobs[i]!)} → ${probability(last.logprobs[i]!)}`}
            >
              <svg width="18" height={HEIGHT} aria-hidden="true">
                <rect className="room" x="2" width="14" height={HEIGHT} />
                <rect className={direction} x="2" width="14" y={HEIGHT * (1 - now)} height={HEIGHT * now} />
                <line x1="0" x2="18" y1={HEIGHT * (1 - before)} y2={HEIGHT * (1 - before)} />
              </svg>
              <span className="change" aria-hidden="true">
                {direction === "same" ? "=" : figure}
              </span>
              <code>{shortToken(piece)}</code>
              <span className="hidden-visually">
                {probability(first.logprobs[i]!)} to {probability(last.logprobs[i]!)}
              </span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
