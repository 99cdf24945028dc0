/** One task: its executions and its graph on the left, the decision's retrieval and evidence on the right. */
import { useMemo } from "react";
import { episodeAt } from "../../session/follow-place.ts";
import { useUi } from "../../state/store.ts";
import { NeedsTask } from "../needs-task.tsx";
import { Inspector } from "./inspector/inspector.tsx";
import { visitMarks } from "./marks.ts";
import { Matrix } from "./matrix.tsx";
import { StateGraph } from "./state-graph.tsx";
import { StepBar } from "./step-bar.tsx";

export function TaskView() {
  const task = useUi((ui) => ui.task);
  const decision = useUi((ui) => ui.decision);
  const place = useUi((ui) => ui.place);
  // Until the next decision is there, the last one's marks would be wrong: they are shown for what they belong to only.
  const here = decision !== null && decision.decision === place.decision ? decision : null;
  const marks = useMemo(
    () => (here === null ? null : visitMarks(here.retrieval, here.decision, place.visit)),
    [here, place.visit],
  );
  if (task === null) return <NeedsTask />;
  const episode = episodeAt(task, place);
  return (
    <div className="task-view">
      <StepBar task={task} />
      <div className="task-panes">
        <div className="task-left">
          <Matrix task={task} episode={episode} decision={place.decision} marks={marks} />
          <StateGraph
            task={task}
            episode={episode}
            decision={place.decision}
            retrieval={here?.retrieval ?? null}
            axis={place.axis}
          />
        </div>
        <Inspector task={task} decision={decision} />
      </div>
    </div>
  );
}
