/** Why a record is shown that shares no state with the student; nothing for one that does. */
import type { Reference } from "../../../../core/record/schema.ts";
import { LongText } from "../../../text/long-text.tsx";

export function Fallback({ reference, found }: { reference: Reference; found: string | null }) {
  if (found === null || reference.position !== null) return null;
  return (
    <p className="note" data-testid="fallback">
      Fallback: <LongText text={found} first={1000} />
    </p>
  );
}
