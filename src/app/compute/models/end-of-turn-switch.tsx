/** Whether a response that was recorded as text has the end-of-turn token appended, for scoring and training. */
import { switchEndOfTurn } from "../../data/end-of-turn.ts";
import { useUi } from "../store.ts";

export function EndOfTurnSwitch() {
  const endOfTurn = useUi((ui) => ui.place.endOfTurn);
  return (
    <label
      className="choice end-of-turn"
      title="The end-of-turn token, which a rollout samples, is appended to a response that was recorded as text. Off gives the numbers of earlier versions. Recorded token ids stay as they are."
    >
      <input type="checkbox" checked={endOfTurn} onChange={switchEndOfTurn} /> End-of-turn token
    </label>
  );
}
