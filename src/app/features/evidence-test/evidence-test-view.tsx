/** Does evidence help? The teacher's probability of an optimal action under each context: the answer, bars, decisions. */
import { useEffect, useMemo, useRef } from "react";
import { FEWEST_EPISODES, gateLine, gateReport } from "../../../core/gate/index.ts";
import { countOf } from "../../../core/plural.ts";
import { keysOfSelection } from "../../../core/retrieval/selection-keys.ts";
import type { Drawn } from "../../base/export/picture.ts";
import { SaveMenu } from "../../base/export/save-menu.tsx";
import { describeFault } from "../../base/faults.ts";
import { PickButton } from "../../base/pick-button.tsx";
import { WithRail } from "../../base/rail.tsx";
import { saveFile } from "../../base/save-file.ts";
import { shownName, shownText } from "../../base/text/shown-text.ts";
import { isDeviceBusy } from "../../compute/computing.ts";
import { GATE_SEED, type Gate, useGate } from "../../compute/gate/gate-store.ts";
import {
  askEvidenceTest,
  GATE_KEY,
  gateSelection,
  gateSetting,
  presentGate,
  scoreGate,
} from "../../compute/gate/run-gate.ts";
import { useMemory } from "../../compute/models/memory.ts";
import { NothingOpen } from "../../compute/open/nothing-open.tsx";
import { openDropped } from "../../compute/open/open.ts";
import { askForOptimal, useOptimal } from "../../compute/open/optimal.ts";
import { setUi, useUi } from "../../compute/store.ts";
import type { KnownOptimal, LibrarySummary } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { shippedName } from "../../url/library-link.ts";
import { selectionWords } from "../../url/what-if.ts";
import { DecisionPanel } from "./decision-panel.tsx";
import { GateChart } from "./gate-chart.tsx";
import { GateSettings, GateStart } from "./gate-controls.tsx";
import { answer, changeText, gateCsv, pairName } from "./gate-words.ts";
import { decisionLocation, ordered, shownAt, useOrder } from "./step-decisions.ts";
import { StudentsSettings } from "./students/students-controls.tsx";
import { StudentsPanel } from "./students/students-panel.tsx";
import { SweepPanel } from "./sweep-panel.tsx";

export function EvidenceTestView() {
  const library = useUi((ui) => ui.library);
  if (library === null) return <NothingOpen />;
  return <OfLibrary key={library.id} library={library} />;
}

function OfLibrary({ library }: { library: LibrarySummary }) {
  const known = useOptimal((all) => all[library.id]);
  const wanted = useGate((state) => state.wanted);
  const busy = useUi(isDeviceBusy);
  useEffect(() => {
    askForOptimal(library.id).catch((error: unknown) =>
      setUi({ notice: { kind: "error", text: describeFault(error) } }),
    );
  }, [library.id]);
  const ready = wanted && shippedName(library.link) === "miniature" && known != null && !busy;
  useEffect(() => {
    if (ready) void scoreGate();
  }, [ready]);
  if (known === undefined) return <p role="status">Looking for optimal actions…</p>;
  if (known === null) return <WithoutOptimal busy={busy} />;
  return <Test library={library} known={known} />;
}

/** What the test needs, where the library has none of it. */
function WithoutOptimal({ busy }: { busy: boolean }) {
  return (
    <section className="evidence-test" aria-labelledby="evidence-test-title">
      <h2 id="evidence-test-title">Does evidence help?</h2>
      <p>
        The test needs decisions whose optimal actions are known, and none are given for this library. Drop a
        file on this page, one line per decision:
      </p>
      <pre>{`{ "task": "…", "episode": "…", "decision": 3, "optimal": ["go to cabinet 1"] }`}</pre>
      <p className="gate-controls">
        <PickButton
          label="Optimal actions"
          testId="pick-optimal"
          accept=".jsonl,.ndjson,.gz"
          disabled={busy}
          onPick={openDropped}
        >
          Open optimal actions…
        </PickButton>
        <button type="button" disabled={busy} onClick={askEvidenceTest}>
          Test the miniature world
        </button>
      </p>
    </section>
  );
}

function Test({ library, known }: { library: LibrarySummary; known: KnownOptimal }) {
  const { gate, contexts } = useGate();
  // Another teacher, or the same one kept in another way, has figures of its own.
  useUi((ui) => ui.models.teacher);
  useMemory(({ weights }) => weights);
  const place = useUi((ui) => ui.place);
  const scoring = useUi((ui) => ui.scoring);
  const order = useOrder((state) => state.order);
  const here = presentGate(gate, gateSetting(library.id, known, gateSelection(place), contexts));
  const list = useMemo(() => ordered(here?.decisions ?? [], order), [here, order]);
  const at = shownAt(list, place);
  const [first] = list;
  const running = scoring.status === "running" && scoring.job === "gate";
  // The address names what is shown: the other views then show the same decision. One that a link names may be scored yet.
  const lost = at < 0 && first !== undefined && (place.episode === null || !running);
  useEffect(() => {
    if (lost) navigate(decisionLocation(first));
  }, [lost, first]);
  const said = here === null ? null : answer(here.summary);
  const ofMiniature = shippedName(library.link) === "miniature";
  return (
    <section className="evidence-test" aria-labelledby="evidence-test-title">
      <header className="gate-answer">
        <h2 id="evidence-test-title">Does evidence help?</h2>
        {said === null ? (
          <p>
            Optimal actions are known for {countOf(known.decisions.length, "student decision")}. The teacher
            reads each without evidence and with more and more of it: how probable does it then find an
            optimal action?
          </p>
        ) : (
          <p data-testid="gate-answer">
            <strong>{said.word}.</strong> {said.sentence}
          </p>
        )}
        <p className="hidden-visually" role="status">
          {running ? "Scoring" : said !== null && `${said.word}. ${said.sentence}`}
        </p>
      </header>
      <GateStart known={known.decisions.length} here={here} />
      {scoring.status === "failed" && scoring.key === GATE_KEY && (
        <p className="fault" role="alert">
          {shownText(scoring.message)}
        </p>
      )}
      <WithRail
        view="evidence"
        controls={
          <>
            <GateSettings library={library.id} known={known.decisions.length} />
            {ofMiniature && <StudentsSettings />}
          </>
        }
      >
        <div className="evidence-halves">
          {here !== null && here.decisions.length > 0 && <Figures gate={here} title={library.title} />}
          {ofMiniature && <StudentsPanel library={library} />}
        </div>
        {at >= 0 && <DecisionPanel list={list} at={at} />}
        <SweepPanel library={library.id} known={known} />
      </WithRail>
    </section>
  );
}

function Figures({ gate, title }: { gate: Gate; title: string }) {
  const drawing = useRef<SVGSVGElement>(null);
  const { summary, teacher, leftOut, known, selection } = gate;
  const caption =
    `${shownName(title)}: ${countOf(summary.decisions, "decision")} of ${countOf(summary.episodes, "student episode")}, ` +
    `${countOf(summary.tasks, "task")}${["", ...selectionWords(selection, {})].join(", ")}. ` +
    `Teacher ${shownName(teacher.model)} (${teacher.dtype}, ${teacher.device}). ` +
    "Bars: mean probability of an optimal action. Intervals: 95 %, bootstrap over episodes.";
  const drawn = (): Drawn | null =>
    drawing.current && { svg: drawing.current, title: "Does evidence help the teacher?", caption };
  const save = (): void => {
    const report = gateReport(summary, {
      seed: GATE_SEED,
      sources_per_task: selection.sourcesPerTask ?? null,
      augmentation: selection.augmentation ?? true,
      ...keysOfSelection({ subset: selection.subset }),
      teacher,
      left_out: leftOut,
    });
    const lines = gate.decisions.map(gateLine);
    const text = `${JSON.stringify({ ...report, scored: lines }, null, 2)}\n`;
    saveFile("evidence-test.json", new Blob([text], { type: "application/json" }));
  };
  return (
    <section className="panel" aria-labelledby="gate-figures-title" data-testid="gate-figures">
      <div className="panel-head">
        <h2 id="gate-figures-title">Probability of an optimal action</h2>
        <span className="note" data-testid="gate-count">
          n = {summary.decisions.toLocaleString("en")} of {known.decisions.length.toLocaleString("en")}
        </span>
        <span className="gate-save">
          <button type="button" onClick={save}>
            Save as JSON
          </button>
          <button
            type="button"
            onClick={() =>
              saveFile("evidence-test.csv", new Blob([gateCsv(gate.decisions)], { type: "text/csv" }))
            }
          >
            Save as CSV
          </button>
          <SaveMenu what="Does evidence help" fileName="evidence-test" picture={drawn} />
        </span>
      </div>
      <div className="gate-panes">
        <figure>
          <GateChart ref={drawing} summary={summary} />
        </figure>
        <Separations gate={gate} />
      </div>
      <p className="note gate-note">
        {caption} At {countOf(summary.studentOptimal, "decision")} the student took an optimal action itself.
        {leftOut.length > 0 &&
          ` ${countOf(leftOut.length, "decision")} could not be scored; the first: decision ${leftOut[0]!.decision} of ${shownName(leftOut[0]!.episode, 80)}, ${shownText(leftOut[0]!.reason)}.`}
      </p>
    </section>
  );
}

/** Which contexts are different, and which are not. */
function Separations({ gate: { summary } }: { gate: Gate }) {
  const pairsWhere = (is: (pair: (typeof summary.differences)[number]) => boolean) =>
    summary.differences.filter(is);
  const enough = summary.episodes >= FEWEST_EPISODES;
  const groups = [
    { title: "Different", pairs: pairsWhere(({ separated }) => separated) },
    {
      title: "No clear difference: the interval includes 0",
      pairs: pairsWhere(({ separated }) => !separated && enough),
    },
    { title: "Too few episodes", pairs: pairsWhere(() => !enough) },
  ];
  return (
    <div className="gate-separations" data-testid="gate-separations">
      {groups.map(
        ({ title, pairs }) =>
          pairs.length > 0 && (
            <div key={title}>
              <h3>{title}</h3>
              <ul>
                {pairs.map((pair) => (
                  <li key={pairName(pair)}>
                    {pairName(pair)}: <span className="number">{changeText(pair.difference)}</span>
                    {pair.differing === 0 && ", the same at every decision"}
                  </li>
                ))}
              </ul>
            </div>
          ),
      )}
      <p className="note">Paired: the same decisions under both. Each interval is for its pair alone.</p>
    </div>
  );
}
