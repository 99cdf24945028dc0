/** A retained record in one line; pressing it pins its visit. */
import type { Reference } from "../../../../core/record/schema.ts";
import { navigate } from "../../../place/navigate.ts";
import { shownName } from "../../../text/shown-text.ts";
import { SourceButton } from "./what-if-buttons.tsx";

const RELATIONS: Record<Reference["relation"], string> = {
  current: "at the current state",
  historical: "at an earlier state of the student",
  unaligned: "no shared state: unaligned",
  unverified: "no shared state: a raw record, unaligned",
};

export function ReferenceLine({ reference }: { reference: Reference }) {
  const { source, position, student_position: student } = reference;
  return (
    <p className="reference">
      <button
        type="button"
        className="plain link"
        onClick={() => navigate({ visit: { source, position: position ?? 0 } })}
      >
        <bdi>{shownName(source, 80)}</bdi>
      </button>{" "}
      {position === null ? "whole record" : `visit ${position}`}
      {student !== null && <> ↔ student decision {student}</>}{" "}
      <span className="muted">({RELATIONS[reference.relation]})</span> <SourceButton source={source} />
    </p>
  );
}
