/** The evidence test over a property of the library: each context's figure, and how many tasks are covered, against it. */
import { useRef } from "react";
import { FEWEST_EPISODES } from "../../../core/gate/index.ts";
import { countOf } from "../../../core/plural.ts";
import { formatRange } from "../../base/eta.ts";
import type { Drawn } from "../../base/export/picture.ts";
import { SaveMenu } from "../../base/export/save-menu.tsx";
import { saveFile } from "../../base/save-file.ts";
import { shownText } from "../../base/text/shown-text.ts";
import { isDeviceBusy } from "../../compute/computing.ts";
import { gateSelection } from "../../compute/gate/run-gate.ts";
import { useMemory } from "../../compute/models/memory.ts";
import { scoringRuns } from "../../compute/scoring/score.ts";
import { useUi } from "../../compute/store.ts";
import type { KnownOptimal } from "../../data/model.ts";
import { selectionWords } from "../../url/what-if.ts";
import {
  presentSweep,
  SWEEP_DECISIONS,
  SWEEP_IDS,
  SWEEP_KEY,
  type Swept,
  scoreSweep,
  sweepSetting,
  useSweeps,
} from "./run-sweep.ts";
import { SweepChart } from "./sweep-chart.tsx";
import { coverageSeries, gateSeries, SWEEP_WORDS, sweepAxis, sweepCsv } from "./sweep-words.ts";

export function SweepPanel({ library, known }: { library: string; known: KnownOptimal }) {
  const { drawn, shown } = useSweeps();
  const place = useUi((ui) => ui.place);
  const busy = useUi(isDeviceBusy);
  const scoring = useUi((ui) => ui.scoring);
  useUi((ui) => ui.models.teacher);
  useMemory(({ weights }) => weights);
  const selection = gateSelection(place);
  const present = presentSweep(drawn, shown, sweepSetting(shown, library, known, selection));
  const running = scoring.status === "running" && scoring.job === "gate-sweep";
  const whole = present?.rows.every(({ summary }) => summary !== null) ?? false;
  const sample = Math.min(SWEEP_DECISIONS, known.decisions.length);
  const { name } = SWEEP_WORDS[shown];
  return (
    <section className="panel sweep" aria-labelledby="sweep-title" data-testid="sweep">
      <div className="panel-head">
        <h2 id="sweep-title">What the library has to hold</h2>
      </div>
      <div className="gate-controls">
        {running ? (
          <button type="button" onClick={() => void scoringRuns.cancel()}>
            Stop drawing
          </button>
        ) : (
          <button type="button" disabled={busy || whole} onClick={() => void scoreSweep()}>
            {whole ? `Drawn over ${name}` : present === null ? `Draw over ${name}` : `Go on over ${name}`}
          </button>
        )}
        <label>
          Over{" "}
          <select
            value={shown}
            disabled={running}
            onChange={({ target }) =>
              useSweeps.setState({ shown: SWEEP_IDS.find((id) => id === target.value) ?? "k" })
            }
          >
            {SWEEP_IDS.map((id) => (
              <option key={id} value={id}>
                {SWEEP_WORDS[id].name}
              </option>
            ))}
          </select>
        </label>
        <span className="gate-progress">
          {running && `${scoring.label}${scoring.total > 0 ? `, ${scoring.done} of ${scoring.total}` : ""}`}
          {running && scoring.eta !== null && `, ${formatRange(scoring.eta)} left`}
        </span>
        {scoring.status === "failed" && scoring.key === SWEEP_KEY && (
          <span className="fault" role="alert">
            {shownText(scoring.message)}
          </span>
        )}
      </div>
      {present === null ? (
        <p className="note gate-note">
          The test on {countOf(sample, "decision")}, again and again with another part of the library:{" "}
          {SWEEP_WORDS[shown].caption}.
        </p>
      ) : (
        <Curves swept={present} sample={sample} />
      )}
    </section>
  );
}

function Curves({ swept, sample }: { swept: Swept; sample: number }) {
  const gate = useRef<SVGSVGElement>(null);
  const covered = useRef<SVGSVGElement>(null);
  const { sweep, selection } = swept;
  const { title, caption: what, file } = SWEEP_WORDS[sweep];
  const axis = sweepAxis(swept);
  const coverageTitle = "Share of tasks covered by K";
  const others = selectionWords(sweep === "k" ? { ...selection, sourcesPerTask: undefined } : selection, {});
  const caption =
    `${countOf(sample, "decision")}, the same for each point: ${what}${["", ...others].join(", ")}. ` +
    "Intervals: 95 %, bootstrap over episodes.";
  const picture = (svg: SVGSVGElement | null, heading: string): Drawn | null =>
    svg && { svg, title: heading, caption };
  return (
    <>
      <div className="sweep-charts">
        <figure>
          <figcaption>
            {title} <SaveMenu what={title} fileName={file} picture={() => picture(gate.current, title)} />
            <button
              type="button"
              onClick={() => saveFile(`${file}.csv`, new Blob([sweepCsv(swept)], { type: "text/csv" }))}
            >
              Save curve as CSV
            </button>
          </figcaption>
          <SweepChart ref={gate} title={title} axis={axis} series={gateSeries(swept)} />
        </figure>
        {sweep === "k" && (
          <figure>
            <figcaption>
              {coverageTitle}
              <SaveMenu
                what={coverageTitle}
                fileName="coverage-by-k"
                picture={() => picture(covered.current, coverageTitle)}
              />
            </figcaption>
            <SweepChart ref={covered} title={coverageTitle} axis={axis} series={coverageSeries(swept)} />
          </figure>
        )}
      </div>
      <p className="note gate-note">
        {caption}
        {fewest(swept) < FEWEST_EPISODES && " Fewer than six episodes: nothing is told apart."}
      </p>
    </>
  );
}

/** Episodes of the smallest summary. */
const fewest = ({ rows }: Swept): number =>
  Math.min(...rows.map(({ summary }) => summary?.episodes ?? Number.POSITIVE_INFINITY));
