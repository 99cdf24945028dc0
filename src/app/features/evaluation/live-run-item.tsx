/** One collection or evaluation: how far it is, and, once it has ended, what came of it. */
import { useEffect, useState } from "react";
import { countOf } from "../../../core/plural.ts";
import { episodesRemaining, formatRange } from "../../base/eta.ts";
import { faultNotice } from "../../base/faults.ts";
import { saveFile } from "../../base/save-file.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { openDropped } from "../../compute/open/open.ts";
import { setUi, useUi } from "../../compute/store.ts";
import { ComparedEvaluation } from "./compared-evaluation.tsx";
import { EvaluationFigures } from "./evaluation-figures.tsx";
import { collectedText, evaluationOf, liveRunWords } from "./live-run-results.ts";
import { liveRuns } from "./live-runs.ts";
import { type LiveRun, pageTime } from "./live-runs-store.ts";

const STATES: Record<LiveRun["state"], string> = {
  running: "playing",
  cancelling: "ending",
  cancelled: "cancelled",
  failed: "failed",
  lost: "interrupted",
  done: "done",
};

export function LiveRunItem({ run, all }: { run: LiveRun; all: readonly LiveRun[] }) {
  const present = useUi((ui) => ui.liveRun === run.id);
  const { plan, model, state, message, outcomes, ids, kept, id, endedNow, elsewhere } = run;
  const isCollection = plan.kind === "collect";
  const title = isCollection ? "Collection" : "Evaluation";
  return (
    <li className="live-run" data-testid="live-run" data-run={id}>
      <h3 tabIndex={-1}>
        {title} by the {plan.role}
        {model.name !== "" && model.name !== plan.role && (
          <>
            : <bdi>{shownName(model.name, 80)}</bdi>
          </>
        )}
      </h3>
      <p className="note">
        {liveRunWords(run)} · <span data-measured>{run.created.slice(0, 16).replace("T", " ")}</span> ·{" "}
        <span data-testid="live-run-state">
          {STATES[state]}
          {elsewhere && " · in another tab"}
        </span>
      </p>
      {(present || elsewhere) && <Playing run={run} />}
      {!present && (
        <>
          {state !== "done" && !elsewhere && (
            <p
              className={`run-line ${state === "failed" ? "error" : ""}`}
              role={state === "failed" && endedNow ? "alert" : undefined}
            >
              {message !== null && `${shownName(message, 2000).replace(/\.$/, "")}. `}
              {outcomes.size > 0 && `Kept: ${outcomes.size} of ${countOf(ids.length, "episode")}.`}
            </p>
          )}
          {isCollection && outcomes.size > 0 && <p data-testid="collected">{collectedText(run)}</p>}
          {!isCollection && state === "done" && <Evaluated run={run} all={all} />}
          {!kept && <p className="note">This browser does not keep it: save it before you close the page.</p>}
          <Buttons run={run} />
        </>
      )}
    </li>
  );
}

/** How far a run is, with the time that is left as the episodes since its start took it. */
function Playing({ run }: { run: LiveRun }) {
  const now = useSeconds();
  const { outcomes, ids, since, share, state, elsewhere } = run;
  const [done, total] = [outcomes.size, ids.length];
  const left =
    since === null
      ? null
      : episodesRemaining(done - since.ended, share, total - done, (now - since.at) / 1000);
  return (
    <div className="run-line" data-testid="live-run-progress">
      <span>
        <span role="status">
          {total === 0 ? "Opening the model" : `${done} of ${countOf(total, "episode")}`}
        </span>
        {total > 0 &&
          (left === null ? " · time left is known after the first one" : ` · ${formatRange(left)} left`)}
      </span>
      <progress max={total || 1} value={total === 0 ? undefined : done + share} aria-label="Episodes" />
      {!elsewhere && (
        <span>
          <button type="button" disabled={state === "cancelling"} onClick={() => void liveRuns.cancel()}>
            {state === "cancelling" ? "Ending…" : "Cancel"}
          </button>
        </span>
      )}
    </div>
  );
}

/** `pageTime()`, again each second. */
function useSeconds(): number {
  const [now, setNow] = useState(pageTime);
  useEffect(() => {
    const timer = setInterval(() => setNow(pageTime()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function Evaluated({ run, all }: { run: LiveRun; all: readonly LiveRun[] }) {
  const figures = evaluationOf(run);
  if ("problem" in figures)
    return (
      <p className="fault" role="alert">
        {shownName(figures.problem, 1000)}
      </p>
    );
  return (
    <>
      <EvaluationFigures results={figures.results} />
      <ComparedEvaluation run={run} all={all} />
    </>
  );
}

function Buttons({ run }: { run: LiveRun }) {
  const computing = useUi(isModelAtWork);
  const opening = useUi((ui) => ui.opening !== null);
  const { id, plan, state, outcomes, elsewhere } = run;
  const isCollection = plan.kind === "collect";
  const file = `${id}-${isCollection ? "sources" : "episodes"}.jsonl`;
  const some = [...outcomes.values()].some((outcome) => outcome !== null);
  const report = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      setUi({ notice: faultNotice(error) });
    }
  };
  const figures = !isCollection && state === "done" ? evaluationOf(run) : null;
  return (
    <div className="open-buttons">
      {isCollection && (
        <button
          type="button"
          disabled={!some || opening}
          onClick={() =>
            void report(async () =>
              openDropped([{ path: file, file: new File([await liveRuns.recordLines(run)], file) }]),
            )
          }
        >
          Open as a library
        </button>
      )}
      {figures !== null && "results" in figures && (
        <button
          type="button"
          onClick={() =>
            saveFile(`${id}-results.json`, new Blob([`${JSON.stringify(figures.results, null, 2)}\n`]))
          }
        >
          Save results.json
        </button>
      )}
      <button
        type="button"
        disabled={!some}
        onClick={() => void report(async () => saveFile(file, await liveRuns.recordLines(run)))}
      >
        Save {isCollection ? "sources" : "episodes"}.jsonl
      </button>
      {state !== "done" && !elsewhere && (
        <button type="button" disabled={computing} onClick={() => void liveRuns.goOn(id)}>
          Go on
        </button>
      )}
      {!elsewhere && (
        <button
          type="button"
          onClick={() => {
            if (window.confirm("Remove it with all episodes that were played? This cannot be undone."))
              void report(() => liveRuns.remove(id));
          }}
        >
          Remove…
        </button>
      )}
    </div>
  );
}
