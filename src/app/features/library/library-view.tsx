/** The library: its tasks as a table, or, when nothing is open, what can be opened and what then happens. */
import { memo } from "react";
import { countOf } from "../../../core/plural.ts";
import { shownName, shownText } from "../../base/text/shown-text.ts";
import { LibrariesTable } from "../../compute/open/libraries-table.tsx";
import { NothingOpen } from "../../compute/open/nothing-open.tsx";
import { OpenMenu } from "../../compute/open/open-panel.tsx";
import { useUi } from "../../compute/store.ts";
import type { LibrarySummary, TaskSummary } from "../../data/model.ts";
import { shownColumns } from "../../data/open-libraries.ts";
import { ImportReport } from "./import-report.tsx";
import { saveIndex } from "./save-index.ts";
import { TaskTable } from "./task-table.tsx";

export function LibraryView() {
  const library = useUi((ui) => ui.library);
  if (library === null) return <NothingOpen />;
  return <OpenLibrary library={library} />;
}

/** The present library; it does not follow the place, so that typing into the filter draws the table only. */
const OpenLibrary = memo(function OpenLibrary({ library }: { library: LibrarySummary }) {
  const { tasks } = library;
  const count = (pick: (task: TaskSummary) => number): number =>
    tasks.reduce((sum, task) => sum + pick(task), 0);
  const sources = count((task) => task.sources);
  const admitted = count((task) => task.admitted);
  return (
    <section className="library" aria-labelledby="library-title">
      <LibrariesTable />
      <div className="library-head">
        <div>
          <h2 id="library-title">
            <bdi>{shownName(library.title)}</bdi>
          </h2>
          <p className="note">
            {countOf(tasks.length, "task")} · {countOf(sources, "recorded execution")}
            {admitted < sources && ` (${admitted.toLocaleString("en")} admitted)`} ·{" "}
            {countOf(
              count((task) => task.episodes),
              "student episode",
            )}{" "}
            with{" "}
            {countOf(
              count((task) => task.decisions),
              "decision",
            )}
            {library.recordedScores > 0 &&
              ` · recorded teacher scores of ${countOf(library.recordedScores, "decision")}`}
            <WithoutPrompts decisions={count((task) => task.decisions)} />
          </p>
        </div>
        <OpenMenu />
      </div>
      {library.imported && (
        <ImportReport key={`report ${library.id}`} library={library.id} report={library.imported} />
      )}
      {library.notes.map((note) => (
        <p key={note} className="note" data-testid="file-note">
          Note: {shownText(note)}
        </p>
      ))}
      {library.environmentNotes.map((note) => (
        <p key={note} className="note" data-testid="environment-note">
          Note: {shownText(note)}.
        </p>
      ))}
      <TaskTable key={`tasks ${library.id}`} tasks={tasks} />
      <p className="note">
        <strong>States</strong> are distinct locators over all executions of a task; <strong>shared</strong>{" "}
        ones were visited by two or more executions. <strong>Matched</strong> is the share of student
        decisions whose state some execution visited; <strong>fallbacks</strong> is the share whose successful
        reference is a whole record, since no successful execution shares a state so far.{" "}
        <strong>Mean Δ</strong> is of the decisions scored here, in nats per token. Files:{" "}
        {library.files
          .map((file) => `${shownName(file.name)} (${file.records.toLocaleString("en")} ${file.kind})`)
          .join(", ")}
        . <Indices library={library.id} indices={library.indices} />
      </p>
    </section>
  );
});

/** Where decisions were recorded without prompts: the library can be looked at but not scored. */
function WithoutPrompts({ decisions }: { decisions: number }) {
  const columns = useUi(shownColumns);
  if (columns === null || decisions === 0 || columns.prompted.some((count) => count < 0)) return null;
  const without = decisions - columns.prompted.reduce((sum, count) => sum + count, 0);
  if (without === 0) return null;
  return (
    <span data-testid="no-prompts">
      {" · "}
      {without === decisions
        ? "no prompts were recorded: retrieval and evidence can be read, but nothing can be scored"
        : `${countOf(without, "decision")} without a recorded prompt, which cannot be scored`}
    </span>
  );
}

/** Which files have their index from beside them, and those that can have it there next time. */
function Indices({ library, indices }: Pick<LibrarySummary, "indices"> & { library: string }) {
  const kept = indices.filter(({ from }) => from === "kept").map(({ file }) => file);
  const worth = indices.filter(({ keep }) => keep);
  return (
    <>
      {kept.length > 0 && `Opened by the index beside ${kept.map((file) => shownName(file)).join(" and ")}. `}
      {worth.map(({ file }) => (
        <button
          key={file}
          type="button"
          className="inline"
          title="Kept beside the file and opened with it, it makes the next opening instant."
          onClick={() => void saveIndex(library, file)}
        >
          Download the index of <bdi>{shownName(file)}</bdi>
        </button>
      ))}
    </>
  );
}
