/** Says on every view that what is shown is not the full method, and leads back to it. */
import { navigate } from "../place/navigate.ts";
import { NO_WHAT_IF, whatIfWords } from "../place/what-if.ts";
import { useUi } from "../state/store.ts";

export function WhatIfBadge() {
  const place = useUi((ui) => ui.place);
  const words = whatIfWords(place);
  if (words.length === 0) return null;
  return (
    <div className="banner what-if" role="status" data-testid="what-if">
      <p>
        <strong>What if:</strong> {words.join(" · ")}. Retrieval, evidence, scoring and training follow it.
      </p>
      <button type="button" onClick={() => navigate(NO_WHAT_IF, "push")}>
        Reset to the full method
      </button>
    </div>
  );
}
