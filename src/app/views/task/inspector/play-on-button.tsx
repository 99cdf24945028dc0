import { playOn } from "../../../session/play.ts";
import { type RecordRef, unplayable } from "../../../session/play-record.ts";

/** Plays a record on from one of its decisions; nothing where its environment cannot be played in the page. */
export function PlayOnButton({ record, position }: { record: RecordRef; position: number }) {
  if (unplayable(record) !== null) return null;
  return (
    <button type="button" onClick={() => void playOn(record, position)}>
      Play on from here <kbd>r</kbd>
    </button>
  );
}
