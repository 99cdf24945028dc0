import { player, usePlay } from "../../../compute/games/play.ts";
import { type RecordRef, unplayable } from "../../../compute/games/play-record.ts";
import { useSimulatorProblem } from "../../../compute/games/simulator.ts";
import { useUi } from "../../../compute/store.ts";

/** Plays a record on from one of its decisions; nothing where its environment cannot be played in the page. */
export function PlayOnButton({ record, position }: { record: RecordRef; position: number }) {
  const busy = usePlay((play) => play.busy);
  const playing = useUi((ui) => ui.playing !== null);
  // Whether the worker plays ScienceWorld may be known later.
  useSimulatorProblem();
  if (unplayable(record) !== null) return null;
  return (
    <button type="button" disabled={busy || playing} onClick={() => void player.playOn(record, position)}>
      Play on from here <kbd>r</kbd>
    </button>
  );
}
