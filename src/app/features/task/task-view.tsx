/** One task: its executions and its graph on the left, the decision's retrieval and evidence on the right. */
import { useDeferredValue, useMemo } from "react";
import { episodeAt } from "../../compute/open/follow-place.ts";
import { NeedsTask } from "../../compute/open/needs-task.tsx";
import { StepBar } from "../../compute/open/step-bar.tsx";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { StateGraph } from "../../data/state-graph/state-graph.tsx";
import type { VisitRef } from "../../url/place.ts";
import { CompareDialog } from "./compare/compare-dialog.tsx";
import { Inspector } from "./inspector/inspector.tsx";
import { visitMarks } from "./marks.ts";
import { Matrix } from "./matrix.tsx";
import { Timeline } from "./timeline.tsx";
import { WhatIfControls } from "./what-if-controls.tsx";

const openVisit = (visit: VisitRef): void => navigate({ visit });

export function TaskView() {
  const place = useUi((ui) => ui.place);
  const opened = useUi((ui) => ui.task);
  // Deferred: hundreds of cells and nodes are drawn in slices, and a key pressed meanwhile is heard at once.
  const task = useDeferredValue(opened, null);
  const decision = useUi((ui) => ui.decision);
  const episode = task === null ? null : episodeAt(task, place);
  // The last decision's marks stay until the next one's are there; they name the decision that they belong to.
  const here =
    decision !== null && decision.task === task?.task && decision.episode === episode?.id ? decision : null;
  const shown = here?.decision ?? place.decision;
  const marks = useMemo(
    () => (here === null ? null : visitMarks(here.retrieval, here.decision, place.visit)),
    [here, place.visit],
  );
  if (task === null || opened === null) return <NeedsTask />;
  return (
    <div className="task-view">
      <StepBar task={task}>
        {episode !== null && episode.decisions > 0 && (
          <Timeline
            task={task}
            episode={episode}
            decision={Math.min(place.decision, episode.decisions - 1)}
          />
        )}
      </StepBar>
      <WhatIfControls leftOut={task.leftOut} />
      <div className="task-panes">
        <div className="task-left">
          <Matrix task={task} episode={episode} decision={shown} marks={marks} />
          <StateGraph
            task={task}
            episode={episode}
            decision={shown}
            retrieval={here?.retrieval ?? null}
            axis={place.axis}
            highlights={place.highlights}
            onOpen={openVisit}
          />
        </div>
        <CompareDialog task={task} />
        <Inspector task={task} decision={decision} />
      </div>
    </div>
  );
}
