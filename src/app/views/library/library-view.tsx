/** The library: its tasks as a table, or, when nothing is open, what can be opened and what then happens. */
import { memo } from "react";
import type { LibrarySummary, TaskSummary } from "../../model.ts";
import { useUi } from "../../state/store.ts";
import { ImportReport } from "./import-report.tsx";
import { OpenButtons } from "./open-panel.tsx";
import { TaskTable } from "./task-table.tsx";

export function LibraryView() {
  const library = useUi((ui) => ui.library);
  const wanted = useUi((ui) => ui.place.library);
  if (library === null) return <NothingOpen own={wanted === "own"} />;
  return <OpenLibrary library={library} />;
}

/** The present library; it does not follow the place, so that typing into the filter draws the table only. */
const OpenLibrary = memo(function OpenLibrary({ library }: { library: LibrarySummary }) {
  const { tasks } = library;
  const count = (pick: (task: TaskSummary) => number): number =>
    tasks.reduce((sum, task) => sum + pick(task), 0);
  return (
    <section className="library" aria-labelledby="library-title">
      <div className="library-head">
        <div>
          <h2 id="library-title">{library.title}</h2>
          <p className="note">
            {tasks.length} tasks · {count((task) => task.sources)} recorded executions ·{" "}
            {count((task) => task.episodes)} student episodes with {count((task) => task.decisions)} decisions
          </p>
        </div>
        <OpenButtons />
      </div>
      {library.imported && <ImportReport report={library.imported} />}
      {library.environmentNotes.map((note) => (
        <p key={note} className="note" data-testid="environment-note">
          Note: {note}.
        </p>
      ))}
      <TaskTable tasks={tasks} />
      <p className="note">
        <strong>States</strong> are distinct locators over all executions of a task; <strong>shared</strong>{" "}
        ones were visited by two or more executions. <strong>Matched</strong> is the share of student
        decisions whose state some execution visited. Files:{" "}
        {library.files.map((file) => `${file.name} (${file.records} ${file.kind})`).join(", ")}.
      </p>
    </section>
  );
});

function NothingOpen({ own }: { own: boolean }) {
  return (
    <section className="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">See what the teacher is shown, and what it changes</h2>
      {own && (
        <p data-testid="own-link">
          This link leads into files of your own, which a page cannot open by itself: pick or drop them again.
        </p>
      )}
      <p>
        A library of recorded executions and a file of student episodes go in. For every student decision you
        see which executions passed the same state, which of them may serve as evidence and why the others may
        not, the evidence as the teacher reads it, and how it moves the probability of each token.
      </p>
      <OpenButtons primary />
      <p className="note">
        The sample is ten ScienceWorld tasks with a tiny teacher and a tiny student. Your own files:{" "}
        <code>sources.jsonl</code> and <code>episodes.jsonl</code>, plain or gzip, dropped anywhere on this
        page together. Recordings in other formats (the authors’ catalogs and student runs, verl dumps,
        ShareGPT and OpenAI chats, ATIF, Parquet) are imported when their folder or file is dropped. Nothing
        leaves this machine.
      </p>
      <ol className="steps">
        <li>
          <span className="key">2</span> <strong>Task</strong>: executions side by side, the state graph, each
          decision’s retrieval.
        </li>
        <li>
          <span className="key">3</span> <strong>Tokens</strong>: one teacher, two contexts, the same tokens.
        </li>
        <li>
          <span className="key">4</span> <strong>Training</strong>: steps on the student, vanilla first, then
          with evidence.
        </li>
        <li>
          <span className="key">5</span> <strong>Statistics</strong>: coverage, references, outcomes, graphs,
          as the paper prints them.
        </li>
      </ol>
    </section>
  );
}
