/** The visit that was chosen and waits for another. */

import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { useUi } from "../../../compute/store.ts";
import { navigate } from "../../../data/navigate.ts";

export function CompareBar() {
  const [first, second] = useUi((ui) => ui.place.compared);
  if (first === undefined || second !== undefined) return null;
  return (
    <p className="visit-waits" role="status">
      <span>
        Comparing <Name>{first.kind === "episode" ? "the student" : shownName(first.id, 60)}</Name>, visit{" "}
        {first.position}: press <kbd>v</kbd> on another visit, or <kbd>Esc</kbd> to stop.
      </span>
      <button type="button" onClick={() => navigate({ compared: [] })}>
        Stop
      </button>
    </p>
  );
}
