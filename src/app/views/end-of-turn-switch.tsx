/** Whether a response that was recorded as text is read with the end-of-turn token after it: for scoring and training. */
import { switchEndOfTurn } from "../session/end-of-turn.ts";
import { useUi } from "../state/store.ts";

export function EndOfTurnSwitch() {
  const endOfTurn = useUi((ui) => ui.place.endOfTurn);
  return (
    <label
      className="choice end-of-turn"
      title="A response that was recorded as text ends with the end-of-turn token, as a rollout samples it. Off gives the numbers of earlier versions. Recorded token ids stay as they are."
    >
      <input type="checkbox" checked={endOfTurn} onChange={switchEndOfTurn} /> End-of-turn token
    </label>
  );
}
