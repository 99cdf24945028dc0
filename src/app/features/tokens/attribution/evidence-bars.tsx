/** The evidence as the teacher reads it, each part with a bar: what it adds to the selected tokens. */
import { useEffect, useRef } from "react";
import type { EvidencePart, EvidenceSpan } from "../../../../core/evidence/index.ts";
import { nats } from "../../../base/format.ts";
import { shortened, shownText } from "../../../base/text/shown-text.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import { partName, samePart } from "../../../url/part-name.ts";
import { themedDelta } from "../delta-colour.ts";
import type { TokenRange } from "../units.ts";
import { effectOn, type LeftOutRow } from "./left-out-rows.ts";

/** Characters of a part: the rest is in the task view. */
const SHOWN = 240;

/** The part of the evidence that can be left out; null for what cannot go by itself. */
function partOf({ kind, part, position }: EvidenceSpan): EvidencePart | null {
  if (part === "note") return { record: "note", event: null };
  if (part === "heading") return { record: kind, event: null };
  return part === "event" ? { record: kind, event: position } : null;
}

/** Every part of a decision's evidence that can be left out, in the evidence's order. */
export const evidenceParts = ({ evidence }: Pick<DecisionModel, "evidence">): EvidencePart[] =>
  evidence.spans.map(partOf).filter((part) => part !== null);

/** A share of Δ in words: `101 %`. */
export const percentOf = (share: number): string => `${Math.round(100 * share).toLocaleString("en")} %`;

export function EvidenceBars({
  decision: { evidence },
  rows,
  range,
  delta,
  chosen,
}: {
  decision: DecisionModel;
  /** Records and events that were left out. */
  rows: readonly LeftOutRow[];
  range: TokenRange | null;
  /** What all of the evidence does. */
  delta: number;
  chosen: EvidencePart | null;
}) {
  const most = rows.reduce((high, row) => Math.max(high, Math.abs(effectOn(row, range))), 0.01);
  const colour = themedDelta(most);
  const list = useRef<HTMLOListElement>(null);
  // What to look at is in sight: the list alone is scrolled, never the page.
  useEffect(() => {
    const longest = most > 0.01 ? list.current?.querySelector<HTMLElement>("[data-longest]") : null;
    if (longest != null && list.current !== null)
      list.current.scrollTop = longest.offsetTop - list.current.clientHeight / 3;
  }, [most]);
  return (
    <ol
      ref={list}
      className="evidence-bars"
      aria-label="What each part of the evidence adds"
      data-testid="evidence-bars"
    >
      {evidence.spans.map((span) => {
        const part = partOf(span);
        if (part === null) return null;
        const row = rows.find(({ result }) => samePart(result.part, part));
        const effect = row === undefined ? null : effectOn(row, range);
        const pressed = chosen !== null && samePart(chosen, part);
        const width = effect === null ? 0 : (50 * Math.abs(effect)) / most;
        const share = effect === null || Math.abs(delta) < 0.02 ? "" : `, ${percentOf(effect / delta)} of Δ`;
        const said = effect === null ? "not left out yet" : `${nats(effect, true)} nats${share}`;
        return (
          <li
            key={span.start}
            data-longest={effect !== null && Math.abs(effect) === most ? "" : undefined}
            className={part.event === null ? `of-${span.kind} whole` : `of-${span.kind}`}
          >
            <button
              type="button"
              className="plain"
              aria-pressed={pressed}
              aria-label={`${partName(part)}: ${said}`}
              onClick={() => navigate({ part: pressed ? null : part })}
            >
              <span className="diverging" aria-hidden="true">
                {effect !== null && (
                  <span
                    style={{
                      width: `${width}%`,
                      left: effect < 0 ? `${50 - width}%` : "50%",
                      background: colour(effect),
                    }}
                  />
                )}
              </span>
              <span className="number" title={said}>
                {effect === null ? "" : nats(effect, true)}
              </span>
              <bdi className="record-text">
                {shownText(shortened(evidence.text.slice(span.start, span.end).trim(), SHOWN))}
              </bdi>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
