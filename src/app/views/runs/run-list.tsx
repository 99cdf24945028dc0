/** All runs of the page and of the worker: what they are, how far, and what can be done with each. */

import { formatPlace } from "../../place/link.ts";
import { navigate } from "../../place/navigate.ts";
import { MOST_RUNS } from "../../place/place.ts";
import { ENDED, RESUMABLE, type Run } from "../../runs/run.ts";
import { runPolicy } from "../../runs/run-policy.ts";
import { cancelRun, removeRun, resumeRun, stopRun } from "../../session/run-actions.ts";
import { takenBackText, useTakenBack } from "../../session/taken-back.ts";
import { useUi } from "../../state/store.ts";
import { shownName } from "../../text/shown-text.ts";
import { figureText, LETTERS } from "./figures.ts";
import { leftText, RunStateLine, stepsText } from "./run-state.tsx";

export function RunList({ runs }: { runs: readonly Run[] }) {
  const place = useUi((ui) => ui.place);
  const { charted, run: shown } = place;
  const takenBack = useTakenBack();
  const toggle = (id: string): void =>
    navigate({
      charted: charted.includes(id)
        ? charted.filter((each) => each !== id)
        : [...charted, id].slice(-MOST_RUNS),
    });
  return (
    <div className="run-table-scroll">
      <table className="run-table" data-testid="run-list">
        <thead>
          <tr>
            <th scope="col">chart</th>
            <th scope="col">run</th>
            <th scope="col">where</th>
            <th scope="col">state</th>
            <th scope="col">steps</th>
            <th scope="col">loss</th>
            <th scope="col">started</th>
            <th scope="col">
              <span className="hidden-visually">what can be done</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => {
            const letter = charted.indexOf(run.id);
            return (
              <tr key={run.id} aria-current={shown === run.id ? "true" : undefined} data-run={run.id}>
                <td>
                  <label className={letter < 0 ? "" : `run-series run-${letter}`}>
                    <input
                      type="checkbox"
                      checked={letter >= 0}
                      onChange={() => toggle(run.id)}
                      aria-label={`${shownName(run.title)}, ${run.id}, on the chart`}
                    />{" "}
                    <b>{letter < 0 ? "" : LETTERS[letter]}</b>
                  </label>
                </td>
                <th scope="row">
                  <a
                    href={formatPlace({ ...place, view: "runs", run: run.id })}
                    onClick={(event) => {
                      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                      event.preventDefault();
                      navigate({ view: "runs", run: run.id }, "push");
                    }}
                  >
                    <bdi>{shownName(run.title)}</bdi>
                  </a>
                  <div className="note">{[run.id, runPolicy(run)].filter(Boolean).join(" · ")}</div>
                </th>
                <td>{run.where === "page" ? "this page" : "worker"}</td>
                <td>
                  <RunStateLine run={run} />
                  <div className="note">
                    {leftText(run) || (run.message !== null && shownName(run.message, 500))}
                  </div>
                  {takenBack[run.id] !== undefined && (
                    <div className="note">{takenBackText(takenBack[run.id]!)}</div>
                  )}
                </td>
                <td className="number">{stepsText(run)}</td>
                <td className="number">{figureText(run.figures.points.at(-1), "loss")}</td>
                <td>
                  <span data-measured>{run.created.slice(0, 16).replace("T", " ")}</span>
                </td>
                <td>
                  <RunButtons run={run} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** What a run's state allows. */
export function RunButtons({ run }: { run: Run }) {
  const { id, state, title, stream } = run;
  // Another tab has it until it is written down.
  const elsewhere = stream === "other-tab";
  const of = `${shownName(title)}, ${id}`;
  return (
    <span className="run-buttons">
      {(state === "running" || state === "queued") && (
        <button type="button" onClick={() => void stopRun(id)} aria-label={`Stop after this step: ${of}`}>
          Stop
        </button>
      )}
      {!ENDED.includes(state) && (
        <button type="button" onClick={() => void cancelRun(id)} aria-label={`Cancel at once: ${of}`}>
          Cancel
        </button>
      )}
      {RESUMABLE.includes(state) && !elsewhere && (
        <button type="button" onClick={() => void resumeRun(id)} aria-label={`Resume: ${of}`}>
          Resume
        </button>
      )}
      {ENDED.includes(state) && !elsewhere && (
        <button
          type="button"
          onClick={() => {
            if (
              window.confirm(
                `Remove “${shownName(title)}” with everything that was kept of it? This cannot be undone.`,
              )
            )
              void removeRun(id);
          }}
          aria-label={`Remove: ${of}`}
        >
          Remove…
        </button>
      )}
    </span>
  );
}
