/** Evidence changed by hand: parts left out one by one, or the text itself. */
import { useEffect, useRef, useState } from "react";
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import { eventNumber } from "../../../../core/evidence/phrases.ts";
import type { Evidence } from "../../../../core/evidence/types.ts";
import { countOf } from "../../../../core/plural.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import { saveWhatIf } from "../../../compute/scoring/what-if-record.ts";
import type { DecisionModel } from "../../../data/model.ts";
import { MOST_LINK_TEXT, packText } from "../../../url/evidence-text.ts";
import { partName, samePart } from "../../../url/part-name.ts";
import { evidenceEditorShown, keepDraft, showEvidence, useDrafts } from "../evidence-editing.ts";
import { editEvidence, showPart } from "../what-if.ts";
import { evidencePieces } from "./evidence-pieces.ts";

/** Every record and event of the evidence in order, those that are left out included. */
function partsOf(
  evidence: Evidence,
  leftOut: readonly EvidencePart[],
): { part: EvidencePart; line: string }[] {
  const order = ["note", "student", "success", "failure"];
  const found = new Map<string, { part: EvidencePart; line: string }>();
  const add = (part: EvidencePart, line: string): void => {
    const key = `${part.record}@${part.event}`;
    if (!found.has(key)) found.set(key, { part, line });
  };
  for (const { part, text } of evidencePieces(evidence)) {
    if (part === null) continue;
    add({ record: part.record, event: null }, "");
    if (part.event !== null) add(part, /^Recorded action: (.*)$/m.exec(text)?.[1] ?? "");
  }
  for (const part of leftOut) add(part, "");
  const place = ({ part }: { part: EvidencePart }): number =>
    order.indexOf(part.record) * 1e9 + (part.event === null ? 0 : part.event + 1);
  return [...found.values()].sort((a, b) => place(a) - place(b));
}

/** Longest text that can be edited here, in UTF-16 units: beyond it, browsers take seconds per keystroke. */
const MOST_EDITED = 1_000_000;

/** Milliseconds after the last keystroke: packing megabytes of text takes longer than the time between two. */
const REST = 400;

/** Whether the text is too long for a link; decided once typing pauses. */
function useTooLong(draft: string): boolean {
  const [tooLong, setTooLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setTooLong(packText(draft) === null), REST);
    return () => clearTimeout(timer);
  }, [draft]);
  return tooLong;
}

/** @param at the decision, as drafts are kept by it */
export function EvidenceEditor({ decision, at }: { decision: DecisionModel; at: string }) {
  const { evidence, selection, full } = decision;
  /** Null until something is typed: until then the text follows the parts. */
  const typed = useDrafts((drafts) => drafts[at] ?? null);
  const draft = typed ?? evidence.text;
  const leftOut = selection.leaveOut ?? [];
  const parts = partsOf(evidence, leftOut);
  const edited = selection.text !== undefined;
  const leave = (): void => {
    keepDraft(at, null);
    showEvidence(null);
  };
  const apply = (): void => {
    // What was rendered anyhow is not an edit.
    const same = draft === evidence.text && !edited;
    if (!same) editEvidence(full !== null && draft === full.evidence.text ? null : draft);
    leave();
  };
  const tooLarge = typed === null && draft.length > MOST_EDITED;
  const tooLong = useTooLong(tooLarge ? "" : draft);
  const editor = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      evidenceEditorShown(() => {
        const { current: shown } = editor;
        shown?.scrollIntoView({ block: "nearest" });
        // A text that is too long for editing still has its list of parts.
        (shown?.querySelector("textarea") ?? shown?.querySelector("summary"))?.focus();
      }),
    [],
  );
  return (
    <div ref={editor} className="evidence-editor" data-testid="evidence-editor">
      <details>
        <summary>
          Leave parts out
          {leftOut.length > 0 && ` (${countOf(leftOut.length, "part")} left out)`}
        </summary>
        {edited ? (
          <p className="note">
            The text was edited by hand. Go back to the rendered text to leave parts out.
          </p>
        ) : (
          <ul className="evidence-parts">
            {parts.map(({ part, line }) => {
              const off = leftOut.some((each) => samePart(each, part));
              const whole = leftOut.some(({ record, event }) => record === part.record && event === null);
              return (
                <li key={`${part.record}@${part.event}`} className={part.event === null ? "" : "event"}>
                  <label>
                    <input
                      type="checkbox"
                      checked={!off && !whole}
                      disabled={whole && part.event !== null}
                      onChange={(event) => showPart(part, event.target.checked)}
                    />
                    <span>
                      {part.event === null ? partName(part) : `event ${eventNumber(part.event)}`}
                      {part.event !== null && (
                        <span className="hidden-visually"> of {partName({ ...part, event: null })}</span>
                      )}
                    </span>
                    {line !== "" && <code>{shownName(line)}</code>}
                  </label>
                </li>
              );
            })}
          </ul>
        )}
      </details>
      {tooLarge ? (
        <p className="note" role="status" data-testid="not-editable">
          This evidence has {draft.length.toLocaleString("en")} characters; up to{" "}
          {MOST_EDITED.toLocaleString("en")} can be edited here. Parts can be left out.
        </p>
      ) : (
        <textarea
          aria-label="Evidence as the teacher is to read it"
          spellCheck={false}
          value={draft}
          onChange={(event) => keepDraft(at, event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              apply();
            }
          }}
        />
      )}
      {!tooLarge && (
        <p className="note" role={tooLong ? "status" : undefined}>
          {draft.trim() === ""
            ? "With no text the teacher reads the context without evidence."
            : tooLong
              ? `Packed, this text exceeds the ${MOST_LINK_TEXT.toLocaleString("en")} characters that a link can hold, so links leave it out. Save the record instead.`
              : draft !== evidence.text
                ? "Not applied yet. Once it is, the teacher reads this text whatever is retrieved. The scored response does not change."
                : "The teacher reads this text whatever is retrieved. The scored response does not change."}
        </p>
      )}
      <div className="evidence-tools">
        {!tooLarge && (
          <button type="button" className="primary" onClick={apply}>
            Apply <span className="key">Ctrl Enter</span>
          </button>
        )}
        <button type="button" onClick={leave}>
          Cancel
        </button>
        {edited && (
          <button
            type="button"
            onClick={() => {
              editEvidence(null);
              leave();
            }}
          >
            Back to the rendered text
          </button>
        )}
        {full !== null && (
          <button type="button" onClick={saveWhatIf}>
            Save as record
          </button>
        )}
      </div>
    </div>
  );
}
