/** What was played in this visit: to be saved as records, or opened as a library. */
import { openDropped } from "../../session/open.ts";
import { playedHere, reportPlay, usePlay } from "../../session/play.ts";
import { isStudents, playedFiles } from "../../session/played-records.ts";
import { saveFile } from "../../session/save-file.ts";
import { Mark } from "../../shell/mark.tsx";
import { countOf } from "../../shell/plural.ts";
import { useUi } from "../../state/store.ts";
import { shownName } from "../../text/shown-text.ts";

export function PlayedPanel() {
  const before = usePlay((play) => play.before);
  const episode = usePlay((play) => play.episode);
  const opening = useUi((ui) => ui.opening !== null);
  const played = playedHere({ before, episode });
  if (played.length === 0) return null;
  const save = async (): Promise<void> => {
    for (const { path, file } of await playedFiles(played)) saveFile(path, file);
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
            <Mark
              success={each.outcome.success}
              label={each.outcome.success ? "succeeded" : "did not succeed"}
            />{" "}
            <bdi>{shownName(each.task.task, 80)}</bdi>, {countOf(each.decisions.length, "decision")}
            {!each.outcome.complete && ", not to its end"}
            <span className="note">{isStudents(each) ? " student episode" : " execution"}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
