/** Takes a visit for the comparison, or compares it with the one that waits. */

import { useUi } from "../../../compute/store.ts";
import { chooseVisit, sameVisit } from "../../../data/compared-visits.ts";
import type { ComparedVisit } from "../../../url/place.ts";

export function CompareButton({ visit }: { visit: ComparedVisit }) {
  const [first, second] = useUi((ui) => ui.place.compared);
  const waiting = first !== undefined && second === undefined ? first : null;
  const mine = waiting !== null && sameVisit(waiting, visit);
  return (
    <button type="button" className="visit-choose" aria-pressed={mine} onClick={() => chooseVisit(visit)}>
      {mine ? "Chosen" : waiting !== null ? "Compare with the chosen" : "Compare…"} <kbd>v</kbd>
    </button>
  );
}
