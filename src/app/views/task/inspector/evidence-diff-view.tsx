/** What a what-if changes in the evidence, line by line; what is the same far from any change folds. */
import { useMemo } from "react";
import { type DiffLine, diffBlocks, type EvidenceDiff } from "../../../library/evidence-diff.ts";
import { countOf } from "../../../shell/plural.ts";
import { Scroller } from "../../../shell/scroller.tsx";

export function EvidenceDiffView({ diff }: { diff: EvidenceDiff }) {
  const blocks = useMemo(() => diffBlocks(diff.lines), [diff]);
  const { removed, added, whole } = diff;
  return (
    <>
      <p className="note" data-testid="diff-counts">
        {removed + added === 0
          ? "The evidence is the same, to the letter."
          : `${countOf(removed, "line")} of the full method’s evidence gone (−), ${countOf(added, "line")} in their place (+)`}
        {whole && "; the texts differ too much to be matched line by line"}
      </p>
      <Scroller className="evidence diff" label="Changes of the evidence" testId="evidence-diff">
        {blocks.map(({ kind, lines, start }) =>
          kind === "folded" ? (
            <details key={start}>
              <summary>{countOf(lines.length, "line")} the same</summary>
              <Lines lines={lines} />
            </details>
          ) : (
            <Lines key={start} lines={lines} />
          ),
        )}
      </Scroller>
    </>
  );
}

function Lines({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <pre>
      {lines.map((line, i) =>
        line.kind === "same" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines are what they are by their place
          <span key={i} className="same">
            {line.text}
          </span>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <Changed key={i} line={line} />
        ),
      )}
    </pre>
  );
}

function Changed({ line }: { line: Extract<DiffLine, { pieces: unknown }> }) {
  const Side = line.kind === "added" ? "ins" : "del";
  return (
    <Side className={line.kind}>
      {line.pieces.map(({ text, marked }, i) =>
        marked ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces are what they are by their place
          <mark key={i}>{text}</mark>
        ) : (
          text
        ),
      )}
    </Side>
  );
}
