/** What a run on a target does now and since when, what it cost, and how its results come here. */
import { useState } from "react";
import { shownName } from "../../../base/text/shown-text.ts";
import { amountText, costToCome } from "../../runs/launch-cost.ts";
import type { Run } from "../../runs/run.ts";
import { fetchLaunched } from "../../runs/run-actions.ts";
import type { Launched } from "../../runs/worker-answers.ts";

/** Seconds without output after which it is said that there was none: a step may take long, and reports how far it is. */
const SILENT_SECONDS = 600;

const DOINGS: Record<NonNullable<Launched["doing"]>["what"], string> = {
  launch: "being sent to its target",
  stop: "its target is being asked to stop it",
  cancel: "its target is being asked to cancel it",
  resume: "being submitted again",
  fetch: "its results are being fetched",
};

const time = (iso: string): string => `${iso.slice(0, 19).replace("T", " ")} UTC`;

function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes} min`;
}

/** What is left of a run that goes on, in a sentence; null where that is not known. */
function toCome(run: Run): string | null {
  const { gpuHours, price } = costToCome(run);
  if (gpuHours === null) return null;
  const cost = price === null ? "" : `, ${amountText(price, 2)} at your price`;
  return `Still to come, by its steps so far: ${amountText(gpuHours, 2)} GPU-hours${cost}.`;
}

export function LaunchedPart({ run, launched }: { run: Run; launched: Launched }) {
  const { id } = run;
  const left = toCome(run);
  const [checkpoints, setCheckpoints] = useState(false);
  const { doing, problem, submitted, began_at: began, fetched_at: fetched, as_of: asOf, silent } = launched;
  const isQuiet = launched.state === "running" && silent !== null && silent >= SILENT_SECONDS;
  return (
    <div className="launched" data-testid="launched">
      <p role="status">
        {doing !== null && (
          <>
            <strong>{DOINGS[doing.what]}</strong> since <span data-measured>{time(doing.since)}</span>.{" "}
          </>
        )}
        Target {shownName(launched.target)}, attempt {launched.attempt}: {shownName(launched.words, 500)}
        {began !== null && (
          <>
            , begun <span data-measured>{time(began)}</span>
          </>
        )}
        {launched.seconds !== null && (
          <>
            , <span data-measured>{duration(launched.seconds)}</span>
          </>
        )}
        .{launched.reason !== null && ` Scheduler: ${shownName(launched.reason, 500)}.`}
        {launched.state === "queued" &&
          (launched.expected === null
            ? " Its start time is not known."
            : ` It is expected to start ${shownName(launched.expected)}.`)}
        {launched.unreached !== null &&
          (asOf === null
            ? " Not reached yet: "
            : ` Not reached since ${time(asOf)}, which says nothing about the run: `)}
        {launched.unreached !== null && shownName(launched.unreached, 1000)}
      </p>
      {isQuiet && (
        <p className="fault" data-testid="quiet">
          No output for {duration(silent)}: check its log.
        </p>
      )}
      {problem !== null && (
        <p className="fault" role="alert">
          {shownName(problem, 1000)}
        </p>
      )}
      <p className="note">
        {launched.gpu_hours !== null && (
          <>
            This attempt has used <span data-measured>{launched.gpu_hours.toFixed(2)}</span> GPU-hours
            {launched.price !== null && (
              <>
                , <span data-measured>{launched.price.toFixed(2)}</span> at your price
              </>
            )}
            .{" "}
          </>
        )}
        {left !== null && <span data-measured>{left} </span>}
        Folder on the target: {shownName(launched.folder, 500)}
      </p>
      {submitted && (
        <p className="run-buttons">
          <button type="button" disabled={doing !== null} onClick={() => void fetchLaunched(id, checkpoints)}>
            {fetched === null ? "Fetch results" : "Fetch again"}
          </button>
          <label>
            <input
              type="checkbox"
              checked={checkpoints}
              onChange={(event) => setCheckpoints(event.target.checked)}
            />{" "}
            including checkpoints
          </label>
          {fetched !== null && (
            <span className="note">
              Fetched <span data-measured>{time(fetched)}</span>: students and files are below.
            </span>
          )}
        </p>
      )}
    </div>
  );
}
