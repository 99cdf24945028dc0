/** What was played in this visit: to be saved as records, or opened as a library. */

import { countOf } from "../../../core/plural.ts";
import { Mark } from "../../base/mark.tsx";
import { saveFile } from "../../base/save-file.ts";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { player, reportPlay, usePlay } from "../../compute/games/play.ts";
import { isStudents, playedFiles } from "../../compute/games/played-records.ts";
import { openDropped } from "../../compute/open/open.ts";
import { useUi } from "../../compute/store.ts";

export function PlayedPanel() {
  const before = usePlay((play) => play.before);
  const episode = usePlay((play) => play.episode);
  const opening = useUi((ui) => ui.opening !== null);
  const played = player.records({ before, episode });
  if (played.length === 0) return null;
  const save = async (): Promise<void> => {
    for (const { path, file } of await playedFiles(played)) saveFile(path, file);
    player.markSaved();
  };
  const open = async (): Promise<void> => openDropped(await playedFiles(played));
  return (
    <section className="panel played-panel" aria-labelledby="played-title">
      <div className="panel-head">
        <h2 id="played-title">Played here</h2>
        <button type="button" onClick={() => void reportPlay(save)}>
          Save as records
        </button>
        <button type="button" disabled={opening} onClick={() => void reportPlay(open)}>
          Open as a library
        </button>
      </div>
      <ul className="played-list">
        {played.map((each) => (
          <li key={each.number}>
            <Mark success={each.outcome.success} /> <Name>{shownName(each.task.task, 80)}</Name>,{" "}
            {countOf(each.decisions.length, "decision")}
            {!each.outcome.complete && ", not to its end"}
            <span className="note">{isStudents(each) ? " student episode" : " execution"}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
