/** In place of a view while no library is open: what it would show, and the ways to open one. */
import { shownName } from "../../base/text/shown-text.ts";
import { opensByItself, SHIPPED_TITLES, shippedName } from "../../url/library-link.ts";
import type { View } from "../../url/place.ts";
import { askEvidenceTest } from "../gate/run-gate.ts";
import { useUi } from "../store.ts";
import { LibrariesTable } from "./libraries-table.tsx";
import { OpenButtons } from "./open-panel.tsx";
import { askForTour, tourWasDone } from "./tour-state.ts";

/** What a view shows once there is something to show. */
export const PURPOSES: Record<View, { title: string; shows: string }> = {
  library: {
    title: "See what the teacher is shown, and what it changes",
    shows:
      "Open a library of recorded executions and a file of student episodes. For every student decision you see which executions visited the same state, which of them can serve as evidence and why the others cannot, the evidence as the teacher reads it, and how it changes each token’s probability.",
  },
  task: {
    title: "One task, decision by decision",
    shows:
      "The executions of a task side by side, with the student’s on top and one letter per state; below them the state graph; and beside them, for each student decision, what was retrieved, why, and the evidence as the teacher reads it.",
  },
  tokens: {
    title: "The same response under two contexts",
    shows:
      "A teacher reads the student’s unchanged response without and with the evidence. Every token is coloured by the change of its log-probability, and any decision can be copied as the paper’s case-study table.",
  },
  training: {
    title: "Update a student, and watch it",
    shows:
      "Update a student on its own episodes, first without evidence and then with it, and watch loss, gradient norm and token probabilities step by step. Nothing is written to your disk until you save it; runs and their students stay in this browser.",
  },
  runs: {
    title: "Every run, on one chart",
    shows:
      "The training runs of this page and of the worker: their states, curves, tokens and files, several on one chart.",
  },
  play: {
    title: "Play a game",
    shows:
      "Household games and shops, played in the page, and ScienceWorld, played on the worker: by hand, by the student or by the teacher, from their beginning or from any recorded decision. The state graph grows with what is played.",
  },
  "evidence-test": {
    title: "Does evidence help?",
    shows:
      "For student decisions whose optimal actions are known: how probable the teacher finds an optimal action without evidence, with the student’s hindsight, with fixed records, and with what the graph retrieves. Bars with intervals, and every decision behind them.",
  },
  statistics: {
    title: "The figures that the paper prints",
    shows:
      "Coverage, references, outcomes, evidence length and graph size of a whole library, and every ablation by source budget, to copy and save.",
  },
};

export function NothingOpen() {
  const view = useUi((ui) => ui.place.view);
  const own = useUi(({ place }) => place.library?.startsWith("own") === true && !opensByItself(place));
  const busy = useUi((ui) => ui.opening !== null);
  const linked = useUi(({ place, opening }) => opening !== null && opensByItself(place));
  const { title, shows } = PURPOSES[view];
  if (linked) return <OpeningLinked />;
  return (
    <section className="empty" aria-labelledby="empty-title" data-testid="nothing-open">
      <h2 id="empty-title">{title}</h2>
      {own && (
        <p data-testid="own-link">
          This link leads into files of your own, which a page cannot open by itself: pick or drop them again.
        </p>
      )}
      <LibrariesTable />
      <p>{shows}</p>
      <OpenButtons primary />
      <div>
        <button type="button" disabled={busy} onClick={askEvidenceTest}>
          Does evidence help?
        </button>{" "}
        <span className="note">Measured here and now, in a miniature world.</span>
      </div>
      <div>
        New here?{" "}
        <button type="button" disabled={busy} onClick={askForTour}>
          {tourWasDone() ? "Take the tour again" : "Take the tour"}
        </button>{" "}
        <span className="note">of the sample: two minutes, by keyboard or mouse.</span>
      </div>
      <p className="note">
        The sample is ten ScienceWorld tasks with a tiny teacher and a tiny student. Your own files:{" "}
        <code>sources.jsonl</code> and <code>episodes.jsonl</code>, plain or gzip, dropped anywhere on this
        page together. Recordings in other formats (the authors’ catalogs and student runs, verl dumps,
        ShareGPT and OpenAI chats, ATIF, Parquet) are imported when their folder or file is dropped. Nothing
        leaves this machine.
      </p>
      {view === "library" && (
        <ol className="steps">
          <li>
            <span className="key">2</span> <strong>Task</strong>: executions side by side, the state graph,
            each decision’s retrieval.
          </li>
          <li>
            <span className="key">3</span> <strong>Tokens</strong>: one teacher, two contexts, the same
            tokens.
          </li>
          <li>
            <span className="key">4</span> <strong>Training</strong>: steps on the student, vanilla first,
            then with evidence.
          </li>
          <li>
            <span className="key">5</span> <strong>Statistics</strong>: coverage, references, outcomes,
            graphs, as the paper prints them.
          </li>
          <li>
            <span className="key">6</span> <strong>Runs</strong>: every update of a student, side by side.
          </li>
          <li>
            <span className="key">7</span> <strong>Play</strong>: games in the page, by hand or by a model.
          </li>
          <li>
            <span className="key">8</span> <strong>Evidence</strong>: how probable each context makes an
            optimal action.
          </li>
        </ol>
      )}
    </section>
  );
}

/** In place of a view while the library that its link names is opened. */
function OpeningLinked() {
  const { library, disk, addresses } = useUi((ui) => ui.place);
  const shipped = shippedName({ library });
  const [first = "", ...more] = disk.length > 0 ? disk : addresses;
  return (
    <p className="opening-linked note" role="status" data-testid="opening-linked">
      Opening {shipped === null ? <bdi>{shownName(first)}</bdi> : SHIPPED_TITLES[shipped]}
      {more.length > 0 && ` and ${more.length} more`}…
    </p>
  );
}
