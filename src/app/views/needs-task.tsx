/** In place of a view that has no task to show yet: what is missing and where to get it. */
import { goHome, navigate } from "../place/navigate.ts";
import { useUi } from "../state/store.ts";
import { LibraryView } from "./library/library-view.tsx";

export function NeedsTask() {
  const library = useUi((ui) => ui.library);
  const problem = useUi((ui) => ui.viewProblem);
  const task = useUi((ui) => ui.place.task);
  const opening = useUi((ui) => ui.opening);
  if (problem !== null) return <ViewProblem text={problem} />;
  if (library === null) return opening === null ? <LibraryView /> : null;
  if (task !== null) return <p className="note">Reading the task…</p>;
  const first = library.tasks[0];
  return (
    <section className="empty">
      <h2>Pick a task first</h2>
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
            Take {first.task}
          </button>
        )}
      </div>
    </section>
  );
}

/** A link that names what is not there. */
export function ViewProblem({ text }: { text: string }) {
  return (
    <section className="empty" role="alert" data-testid="view-problem">
      <h2>Nothing to show here</h2>
      <p>{text}</p>
      <div className="open-buttons">
        <button
          type="button"
          onClick={() => navigate({ episode: null, decision: 0, visit: null, token: null }, "push")}
        >
          First decision of the task
        </button>
        <button type="button" onClick={goHome}>
          Go to the library
        </button>
      </div>
    </section>
  );
}
