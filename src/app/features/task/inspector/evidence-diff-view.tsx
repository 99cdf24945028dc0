/** What a what-if changes in the evidence, line by line; what is the same far from any change folds. */
import { useMemo, useState } from "react";
import { countOf } from "../../../../core/plural.ts";
import { LongText } from "../../../base/text/long-text.tsx";
import { type DiffLine, diffBlocks, type EvidenceDiff } from "../../../data/library/evidence-diff.ts";
import { FULL_METHOD } from "../../../url/what-if.ts";

export function EvidenceDiffView({ diff }: { diff: EvidenceDiff }) {
  const blocks = useMemo(() => diffBlocks(diff.lines), [diff]);
  const { removed, added, whole } = diff;
  return (
    <>
      <p className="note" data-testid="diff-counts">
        {removed + added === 0
          ? "The evidence is the same, to the letter."
          : `${countOf(removed, "line")} of the evidence of ${FULL_METHOD} gone (−), ${countOf(added, "line")} in their place (+)`}
        {whole && "; the texts differ too much to be matched line by line"}
      </p>
      <section className="evidence diff" aria-label="Changes of the evidence" data-testid="evidence-diff">
        {blocks.map(({ kind, lines, start }) =>
          kind === "folded" ? <Folded key={start} lines={lines} /> : <Lines key={start} lines={lines} />,
        )}
      </section>
    </>
  );
}

/** Lines far from any change; they are drawn when they are asked for. */
function Folded({ lines }: { lines: readonly DiffLine[] }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{countOf(lines.length, "line")} the same</summary>
      {open && <Lines lines={lines} />}
    </details>
  );
}

/** How many lines are shown at first, and added with each press: an observation may have a hundred thousand. */
const MOST_LINES = 1000;
/** And so many characters of each of their pieces. */
const MOST_OF_PIECE = 5000;

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  const [most, setMost] = useState(MOST_LINES);
  return (
    <>
      <pre>
        {lines.slice(0, most).map((line, i) =>
          line.kind === "same" ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are what they are by their place
            <span key={i} className="same">
              <LongText text={line.text} first={MOST_OF_PIECE} />
            </span>
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <Changed key={i} line={line} />
          ),
        )}
      </pre>
      {lines.length > most && (
        <button type="button" onClick={() => setMost(most + MOST_LINES)}>
          Show {Math.min(MOST_LINES, lines.length - most).toLocaleString("en")} more of{" "}
          {lines.length.toLocaleString("en")} lines
        </button>
      )}
    </>
  );
}

function Changed({ line }: { line: Extract<DiffLine, { pieces: unknown }> }) {
  const Side = line.kind === "added" ? "ins" : "del";
  return (
    <Side className={line.kind}>
      {line.pieces.map(({ text, marked }, i) =>
        marked ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces are what they are by their place
          <mark key={i}>
            <LongText text={text} first={MOST_OF_PIECE} />
          </mark>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <LongText key={i} text={text} first={MOST_OF_PIECE} />
        ),
      )}
    </Side>
  );
}
