/** Students trained live in the page under several methods, from one parent: curves, what they tell apart, files. */
import { useRef } from "react";
import { countOf } from "../../../../core/plural.ts";
import { cellsCsv, resultsTex } from "../../../../formats/export/grid-tables.ts";
import type { Drawn } from "../../../base/export/picture.ts";
import { SaveMenu } from "../../../base/export/save-menu.tsx";
import { faultNotice } from "../../../base/faults.ts";
import { PickButton } from "../../../base/pick-button.tsx";
import { saveFile } from "../../../base/save-file.ts";
import { shownName, shownText } from "../../../base/text/shown-text.ts";
import { useMemory } from "../../../compute/models/memory.ts";
import { setUi, useUi } from "../../../compute/store.ts";
import { openRecorded } from "../../../compute/students/open-recorded.ts";
import { stepsOf } from "../../../compute/students/students-config.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { curvesOf, type Study } from "../../../compute/students/study.ts";
import type { LibrarySummary } from "../../../data/model.ts";
import { RegisteredMethods, RegisteredResult } from "./registered-result.tsx";
import { studentComparison } from "./run-students.ts";
import { StudentsChart } from "./students-chart.tsx";
import { StudentsStart } from "./students-controls.tsx";
import { studyFile, studyPairs, studyTables } from "./study-results.ts";
import { checkpointWords, pairText, percent, verdict } from "./study-words.ts";
import { useRegistered } from "./use-registered.ts";

export function StudentsPanel({ library }: { library: LibrarySummary }) {
  const state = useStudents();
  const place = useUi((ui) => ui.place);
  // Another teacher or student has students of its own.
  useUi((ui) => ui.models);
  useUi((ui) => ui.device.compute);
  useMemory(({ weights }) => weights);
  const drawing = useRef<SVGSVGElement>(null);
  const { registered, unread } = useRegistered();
  const { choices } = state;
  const problem = state.problem ?? unread;
  const study = studentComparison.present(state, library.id, choices, place);
  // Behind the user's own students only when asked for.
  const recorded = state.recorded ?? (study === null ? (registered?.bands ?? null) : null);
  const curves = study === null ? [] : curvesOf(study);
  const parent = study?.untrained?.sr ?? null;
  const measured = curves.some(({ points }) => points.length > 0);
  const caption = study === null ? "" : captionOf(study);
  const drawn = (): Drawn | null =>
    drawing.current && { svg: drawing.current, title: "Students: success on unseen tasks", caption };
  return (
    <section className="panel students" aria-labelledby="students-title" data-testid="students">
      <div className="panel-head">
        <h2 id="students-title">What students learn from it</h2>
        <span className="gate-save">
          <Saves library={library} study={measured ? study : null} />
          <SaveMenu what="Students" fileName="students" picture={drawn} />
        </span>
      </div>
      <StudentsStart study={study} />
      {problem !== null && (
        <p className="fault" role="alert">
          {shownText(problem)}
        </p>
      )}
      {parent === null && (
        <p className="note gate-note">
          Each method trains a student from the same parent, playing live in games of this world; each is
          measured on tasks that it never played. A few trainings cannot tell methods apart: they show how
          training goes, and whether success changes at all.
        </p>
      )}
      {registered !== null && (
        <RegisteredResult registered={registered} drawn={recorded === registered.bands} />
      )}
      {(parent !== null || recorded !== null) && (
        <figure>
          <StudentsChart
            ref={drawing}
            curves={curves}
            parent={parent}
            oracle={study?.oracle ?? null}
            recorded={recorded}
            steps={stepsOf(choices)}
          />
        </figure>
      )}
      {registered !== null && recorded === registered.bands && <RegisteredMethods registered={registered} />}
      {study !== null && measured && <Pairs study={study} />}
      {study !== null && parent !== null && <p className="note gate-note">{caption}</p>}
      {state.recorded !== null && (
        <p className="note gate-note">
          Bands: {shownName(state.recorded.file, 80)}, evaluation {shownName(state.recorded.evaluation, 80)},
          mean and 95 % over its training seeds.{" "}
          <button type="button" onClick={() => useStudents.setState({ recorded: null })}>
            Take away
          </button>
        </p>
      )}
    </section>
  );
}

function captionOf({ choices, grid, cells, untrained, oracle, about, tasks }: Study): string {
  const trained = cells.filter(({ measured }) => measured.length > 0).length;
  const failed = cells.filter(({ state }) => state === "failed");
  const played = choices.temperature === 0 ? "greedily" : `at temperature ${choices.temperature}`;
  return [
    `${countOf(trained, "training")} of ${grid.cells.length}: ${countOf(choices.batch, "episode")} per step on ${countOf(tasks, "task")}, learning rate ${choices.learningRate}, max gradient norm ${choices.maxGradNorm}.`,
    `Measured on ${countOf(choices.unseen, "unseen task")} of the same world, each played once ${played}.`,
    untrained !== null && `The parent wins ${percent(untrained.sr)}.`,
    oracle !== null &&
      `A player who knows the whole game wins ${oracle.won} of ${oracle.tasks} within the limit.`,
    "Curves: mean over training seeds, bars: 95 % by Student’s t, thin lines: each training.",
    about !== null &&
      `Models: ${shownName(about.student)} (parent)${about.teacher === null ? "" : `, ${shownName(about.teacher)} (teacher)`}; ${shownName(about.device, 120)}.`,
    ...failed.map(({ run, reason }) => `${run.name} failed: ${shownText(reason ?? "")}.`),
  ]
    .filter((sentence) => sentence !== false)
    .join(" ");
}

function Pairs({ study }: { study: Study }) {
  const found = studyPairs(study);
  if (found === null) return null;
  return (
    <div className="students-pairs" data-testid="students-pairs">
      <p>
        <strong>{verdict(found.pairs)}</strong> {checkpointWords(found.checkpoint).replace(/^a/, "A")}, paired
        by training seed:
      </p>
      <ul>
        {found.pairs.map((pair) => (
          <li key={`${pair.a} ${pair.b}`}>{pairText(pair)}</li>
        ))}
      </ul>
    </div>
  );
}

/** What goes wrong is the page's notice. */
async function shown(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

const json = (value: unknown): Blob =>
  new Blob([`${JSON.stringify(value, null, 2)}\n`], { type: "application/json" });

function Saves({ library, study }: { library: LibrarySummary; study: Study | null }) {
  const saveConfig = async (): Promise<void> => {
    saveFile("experiment.json", json(await studentComparison.config(library)));
  };
  return (
    <>
      {study !== null && (
        <>
          <button type="button" onClick={() => saveFile("students.json", json(studyFile(study)))}>
            Students as JSON
          </button>
          <button
            type="button"
            onClick={() =>
              saveFile("students.csv", new Blob([cellsCsv(studyTables(study))], { type: "text/csv" }))
            }
          >
            Students as CSV
          </button>
          <button
            type="button"
            onClick={() =>
              saveFile("students.tex", new Blob([resultsTex(studyTables(study))], { type: "text/x-tex" }))
            }
          >
            Table as LaTeX
          </button>
        </>
      )}
      <button
        type="button"
        title="Runs the same with gcopd experiment --config, beside the files of this library"
        onClick={() => void shown(saveConfig)}
      >
        Save as config
      </button>
      <PickButton
        label="Results of gcopd experiment"
        testId="pick-recorded"
        accept=".json"
        disabled={false}
        onPick={([picked]) => picked && shown(() => openRecorded(picked))}
      >
        Open recorded results…
      </PickButton>
    </>
  );
}
