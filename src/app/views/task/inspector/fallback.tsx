/** Why a record is shown that shares no state with the student; nothing for one that does. */
import type { Reference } from "../../../../core/record/schema.ts";

export function Fallback({ reference, why }: { reference: Reference; why: string }) {
  if (reference.relation !== "unaligned" && reference.relation !== "unverified") return null;
  return (
    <p className="note" data-testid="fallback">
      Fallback: {why};{" "}
      {reference.relation === "unaligned"
        ? "the shortest verified record of the task is taken, whole and not aligned."
        : "no verified record is there either, so a raw one is taken, labelled unverified."}
    </p>
  );
}
