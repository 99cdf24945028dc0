/** The visit that was chosen and waits for another. */
import { navigate } from "../../../place/navigate.ts";
import { useUi } from "../../../state/store.ts";
import { shownName } from "../../../text/shown-text.ts";

export function CompareBar() {
  const [first, second] = useUi((ui) => ui.place.compared);
  if (first === undefined || second !== undefined) return null;
  return (
    <p className="visit-waits" role="status">
      <span>
        Comparing <bdi>{first.kind === "episode" ? "the student" : shownName(first.id, 60)}</bdi>, visit{" "}
        {first.position}: press <kbd>v</kbd> on another visit.
      </span>
      <button type="button" onClick={() => navigate({ compared: [] })}>
        Stop
      </button>
    </p>
  );
}
