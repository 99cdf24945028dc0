/** In place of a view that has no task to show yet: what is missing and where to get it. */

import { Name } from "../../base/text/name.tsx";
import { shownName, shownText } from "../../base/text/shown-text.ts";
import { goHome, navigate } from "../../data/navigate.ts";
import { useUi } from "../store.ts";
import { placeFollower } from "./follow-place.ts";
import { NothingOpen, PURPOSES } from "./nothing-open.tsx";
import { OpenMenu } from "./open-panel.tsx";

export function NeedsTask() {
  const library = useUi((ui) => ui.library);
  const problem = useUi((ui) => ui.viewProblem);
  const task = useUi((ui) => ui.place.task);
  const view = useUi((ui) => ui.place.view);
  if (problem !== null) return <ViewProblem text={problem} />;
  if (library === null) return <NothingOpen />;
  if (task !== null) return <p className="note">Reading the task…</p>;
  const first = library.tasks[0];
  return (
    <section className="empty">
      <h2>Pick a task first</h2>
      <p>{PURPOSES[view].shows}</p>
      <p>Each task has its own executions, state graph and student episodes.</p>
      <div className="open-buttons">
        <button type="button" className="primary" onClick={goHome}>
          Choose in the library <span className="key">1</span>
        </button>
        {first && (
          <button
            type="button"
            onClick={() => navigate({ task: first.task, environment: first.environment }, "push")}
          >
            Take <Name>{shownName(first.task, 80)}</Name>
          </button>
        )}
      </div>
    </section>
  );
}

/** In place of what needs a student's decision, on a task without one. */
export function NeedsEpisode() {
  const view = useUi((ui) => ui.place.view);
  return (
    <section className="empty" data-testid="no-episode">
      <h2>This task has no student episode</h2>
      <p>{PURPOSES[view].shows}</p>
      <p>
        Open a file of student episodes together with the library, or pick a task that has some: the library
        says how many each one has.
      </p>
      <div className="open-buttons">
        <OpenMenu />
        <button
          type="button"
          onClick={() => navigate({ view: "library", sort: "episodes", descending: true }, "push")}
        >
          Tasks with episodes
        </button>
        <button type="button" onClick={() => navigate({ view: "task" }, "push")}>
          This task’s executions <span className="key">2</span>
        </button>
      </div>
    </section>
  );
}

/** Ways on from a task or decision that is not there, or could not be read. */
export function ProblemButtons() {
  return (
    <>
      <button type="button" onClick={placeFollower.readAgain}>
        Try again
      </button>{" "}
      <button
        type="button"
        onClick={() => navigate({ episode: null, decision: 0, visit: null, part: null, token: null }, "push")}
      >
        First decision of the task
      </button>
    </>
  );
}

/** A link that names what is not there, or what could not be read. */
export function ViewProblem({ text }: { text: string }) {
  return (
    <section className="empty" role="alert" data-testid="view-problem">
      <h2>Nothing to show here</h2>
      <p>{shownText(text)}</p>
      <div className="open-buttons">
        <ProblemButtons />
        <button type="button" onClick={goHome}>
          Go to the library
        </button>
      </div>
    </section>
  );
}
