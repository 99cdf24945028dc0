/** Says on every view that what is shown is not the full method, and leads back to it. */

import { saveWhatIf } from "../compute/scoring/what-if-record.ts";
import { useUi } from "../compute/store.ts";
import { resetWhatIf } from "../features/task/reset-what-if.ts";
import { FULL_METHOD, isByHand, whatIfWords } from "../url/what-if.ts";

export function WhatIfBadge() {
  const place = useUi((ui) => ui.place);
  const savable = useUi((ui) => ui.decision !== null && ui.decision.full !== null);
  const words = whatIfWords(place);
  if (words.length === 0) return null;
  return (
    <div className="banner what-if" role="status" data-testid="what-if">
      <p>
        <strong>What if:</strong> {words.join(" · ")}.{" "}
        {isByHand(place)
          ? "Retrieval, evidence and scores here follow it; statistics and the training form follow only the controls, budgets and parts of the library."
          : "Retrieval, evidence, scoring and the training form follow it."}
      </p>
      {savable && (
        <button type="button" onClick={saveWhatIf}>
          Save as record
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          resetWhatIf();
          // This button goes: on from the controls, where the view has them.
          const controls = document.querySelector<HTMLElement>("[aria-controls=what-if-controls]");
          (controls ?? document.getElementById("view"))?.focus();
        }}
      >
        Reset to {FULL_METHOD}
      </button>
    </div>
  );
}
