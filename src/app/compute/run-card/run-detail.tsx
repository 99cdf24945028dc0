/** One run: its state, what it was asked, its command, its log and files, and its export. */
import { type ReactNode, useState } from "react";
import { startedPolicy } from "../../../core/loop/train-config.ts";
import { countOf } from "../../../core/plural.ts";
import { servedWords, TOLD_ABOVE } from "../../../engine/remote/calibration.ts";
import { ENDED } from "../../../protocol/job-state.ts";
import { faultNotice } from "../../base/faults.ts";
import { saveFile } from "../../base/save-file.ts";
import { againCommand, shellLine } from "../../base/shell-command.ts";
import { LongText } from "../../base/text/long-text.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { takenBackText, useTakenBack } from "../models/taken-back.ts";
import { namesHubModel, TOKEN_SENTENCE } from "../runs/hub-models.ts";
import { eventLines } from "../runs/internal/export-run.ts";
import type { Figures, Run } from "../runs/run.ts";
import { useRuns } from "../runs/runs-store.ts";
import { worker } from "../runs/worker-client.ts";
import { setUi } from "../store.ts";
import { CopyText } from "./copy-text.tsx";
import { BatchPanel } from "./internal/batch-panel.tsx";
import { LaunchedPart } from "./internal/launched-part.tsx";
import { ResumeWithin } from "./internal/resume-within.tsx";
import { RunEvaluations } from "./internal/run-evaluations.tsx";
import { RunFacts } from "./internal/run-facts.tsx";
import { RunHeldOut } from "./internal/run-held-out.tsx";
import { RunStudents } from "./internal/run-students.tsx";
import { RunButtons } from "./run-buttons.tsx";
import { RunName } from "./run-name.tsx";
import { leftText, RunStateLine, stepsText } from "./run-state.tsx";

const LOG_LINES = 1000;
/** Lines have no greatest length. */
const LOG_CHARACTERS = 400_000;

async function saved(name: string, content: () => Promise<Blob>): Promise<void> {
  try {
    saveFile(name, await content());
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/**
 * `progress` says how far a run of this page is, in place of what its events say, and `told` is what it says of the
 * run's end, which is not said twice; `children` stand above its parts.
 */
export function RunDetail({
  run,
  progress = null,
  told = null,
  children,
}: {
  run: Run;
  progress?: ReactNode;
  told?: string | null;
  children?: ReactNode;
}) {
  const { id, figures, work, launched } = { ...run, work: run.figures.work };
  const json = JSON.stringify(run.config, null, 2);
  const files = useRuns((state) => state.worker.files);
  const going = !ENDED.includes(run.state);
  const takenBack = useTakenBack((taken) => taken[id]);
  const saysAll = told !== null && !going && (run.state !== "failed" || run.message === told);
  return (
    <>
      <section className="panel run-detail" aria-labelledby="run-title" data-testid="run-detail">
        <div className="panel-head">
          <RunName run={run} />
          <RunButtons run={run} />
        </div>
        {!saysAll && (
          <p className="run-line" role="status">
            <span>
              <RunStateLine run={run} /> · step {stepsText(run)}
              {going && progress === null && ` · ${leftText(run)}`}
              {going &&
                progress === null &&
                work !== null &&
                ` · ${work.what}: ${work.done} of ${work.total} ${work.unit}`}
              {run.message !== null && launched === undefined && ` · ${shownName(run.message, 1000)}`}
              {takenBack !== undefined && !going && ` · ${takenBackText(takenBack)}`}
            </span>
            {going && progress === null && figures.total > 0 && (
              <progress max={figures.total} value={figures.done} aria-label="Steps done" />
            )}
          </p>
        )}
        {progress}
        <RunFacts run={run} />
        {launched !== undefined && <LaunchedPart run={run} launched={launched} />}
        {figures.marks.length > 0 && (
          <ul className="note run-marks">
            {figures.marks.map((mark, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: marks are only ever added
              <li key={n}>
                {mark.at !== null && (
                  <>
                    <time dateTime={mark.at} data-measured>
                      {mark.at.slice(0, 19).replace("T", " ")} UTC
                    </time>
                    ,{" "}
                  </>
                )}
                after step {mark.step}: {shownName(mark.text, 1000)}
              </li>
            ))}
          </ul>
        )}
        {served(figures).map(({ text, isFar }) => (
          <p key={text} className={isFar ? "fault" : "note"} data-testid="served">
            {text}
          </p>
        ))}
        {notes(figures).map((note) => (
          <p key={note} className="note">
            {note}
          </p>
        ))}
        {children}
        <RunHeldOut run={run} />
        <div className="run-parts">
          <ResumeWithin run={run} />
          <details>
            <summary>Config</summary>
            <CopyText text={json} label="the config" />
          </details>
          {run.command !== null && (
            <details>
              <summary>Command</summary>
              <CopyText
                text={shellLine(run.command)}
                label="the command"
                also={
                  files === null
                    ? []
                    : [{ label: "it for a shell", text: againCommand(run.command, files, `${id}-again`) }]
                }
              />
              <p className="note">
                In a shell of the worker’s machine the second takes the same run again, into the folder {id}
                -again.{namesHubModel(run.config) && ` ${TOKEN_SENTENCE}`}
              </p>
            </details>
          )}
          <RunEvaluations run={run} />
          {figures.done > 0 && hasFiles(run) && <RunStudents run={run} />}
          {run.where !== "page" && <Log run={run} />}
          {run.where !== "page" && hasFiles(run) && <Files run={run} />}
          <span className="run-export">
            <button type="button" onClick={() => saveFile(`${id}-events.jsonl`, new Blob([eventLines(run)]))}>
              Events (JSONL)
            </button>
            <button type="button" onClick={() => saveFile(`${id}-config.json`, new Blob([`${json}\n`]))}>
              Config (JSON)
            </button>
          </span>
        </div>
      </section>
      <BatchPanel run={run} />
    </>
  );
}

const DATA_NOTES = {
  episode: "Trains on recorded responses",
  task: "Its student plays each batch before the step",
} as const;

function dataNote(start: Figures["start"]): string[] {
  if (start?.unit === undefined) return [];
  const policy = startedPolicy(start.unit, start);
  return [`${DATA_NOTES[start.unit]}${policy === null ? "" : `: ${policy}`}.`];
}

/** Whether what it wrote can be read: of a run on a target, what was fetched. */
const hasFiles = ({ where, launched }: Run): boolean => where !== "target" || launched?.fetched_at != null;

/** What serves the models of a run, and how far it was seen to be from our own engine. */
const served = ({ start }: Figures): { text: string; isFar: boolean }[] =>
  (["teacher", "student"] as const).flatMap((role) => {
    const model = start?.[role];
    if (model?.served === undefined) return [];
    const isFar = (model.served.calibration?.largest ?? 0) > TOLD_ABOVE;
    return [{ text: `The ${role}: ${shownName(servedWords(model), 1000)}.`, isFar }];
  });

/** What a run trains on, and how its data differ from the paper's: one sentence each. */
function notes({ excluded, epoch, start }: Figures): string[] {
  const noTurn = excluded.reduce((sum, each) => sum + each.noTurn, 0);
  const technical = excluded.reduce((sum, each) => sum + each.episodes, -noTurn);
  const left = (episodes: number): string => `${episodes === 1 ? "is" : "are"} not part of the updates`;
  const batches = excluded.filter(({ whole }) => whole).length;
  const repeating = epoch?.repeating ?? 0;
  return [
    dataNote(start),
    excluded.length > 0
      ? [
          technical > 0
            ? `${countOf(technical, "episode")} ended for technical reasons and ${left(technical)}.`
            : [],
          noTurn > 0 ? `${countOf(noTurn, "episode")} had nothing to train on and ${left(noTurn)}.` : [],
          batches > 0 ? `${countOf(batches, "batch")} had no other and took no step.` : [],
        ]
          .flat()
          .join(" ")
      : [],
    repeating > 0
      ? `In ${repeating} of the ${countOf(epoch?.batches ?? 0, "batch")} of the present epoch a task comes more than once: there are too few tasks.`
      : [],
  ].flat();
}

function Log({ run }: { run: Run }) {
  const [text, setText] = useState<string | null>(null);
  const read = async (): Promise<void> => {
    try {
      setText((await (await worker.log(run, LOG_LINES)).text()) || "It is empty.");
    } catch (error) {
      setText(faultNotice(error).text);
    }
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && void read()}>
      <summary>Log</summary>
      <p className="note">
        The last {LOG_LINES.toLocaleString("en")} lines at most.{" "}
        <button type="button" onClick={() => void read()}>
          Read again
        </button>{" "}
        <button type="button" onClick={() => void saved(`${run.id}.log`, () => worker.log(run))}>
          Save the whole log
        </button>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre className="run-log" tabIndex={0}>
        {text === null ? "Reading…" : <LongText text={text} first={LOG_CHARACTERS} />}
      </pre>
    </details>
  );
}

function Files({ run }: { run: Run }) {
  const [files, setFiles] = useState<{ path: string; bytes: number }[] | null>(null);
  const read = (): void => {
    worker.results(run).then(setFiles, (error) => setUi({ notice: faultNotice(error) }));
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && read()}>
      <summary>Files</summary>
      <ul className="run-files">
        {files?.map(({ path, bytes }) => (
          <li key={path}>
            <button
              type="button"
              onClick={() => void saved(path.split("/").at(-1)!, () => worker.file(run, path))}
            >
              <bdi>{shownName(path)}</bdi>
            </button>{" "}
            <span className="note">{bytes.toLocaleString("en")} bytes</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
