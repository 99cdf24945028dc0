/**
 * G_x with the student's path on it. Area ∝ distinct executions; ears are self-loops; arcs below go back. The matrix
 * beside it holds the same visits, one by one.
 */
import { memo, useDeferredValue, useMemo, useRef, useState } from "react";
import { create } from "zustand";
import { countOf } from "../../../core/plural.ts";
import type { Retrieval } from "../../../core/retrieval/types.ts";
import { useSize } from "../../base/use-size.ts";
import { AXES, type Axis, type VisitRef } from "../../url/place.ts";
import type { Execution, TaskModel } from "../model.ts";
import { navigate } from "../navigate.ts";
import { useData } from "../store.ts";
import { describeNode, visitsOf } from "./describe-node.ts";
import { ZOOM_STEP } from "./graph-view.ts";
import { HighlightChips } from "./highlight-chips.tsx";
import { axisLabels } from "./internal/axis-labels.ts";
import { edgeTotals } from "./internal/edge-kinds.ts";
import { CANVAS_FROM, graphScene } from "./internal/graph-canvas.ts";
import {
  Edges,
  HighlightPaths,
  Lines,
  Nodes,
  References,
  StudentMarks,
  StudentPath,
} from "./internal/graph-drawing.tsx";
import { executionPath, geometry } from "./internal/graph-geometry.ts";
import { graphLabels } from "./internal/graph-labels.ts";
import { GraphViewport } from "./internal/graph-viewport.tsx";
import { partOfTask, RELEVANT_FROM, relevantStates } from "./internal/relevant.ts";
import { shownGraph } from "./shown-graph.ts";

/** Which states are drawn; null: all of a small graph, the relevant ones of a large one. */
const useDrawnStates = create<{ states: "relevant" | "all" | null }>(() => ({ states: null }));

const AXIS_TITLES: Record<Axis, string> = { step: "first visit", cost: "remaining cost" };

export const StateGraph = memo(function StateGraph({
  task,
  episode,
  decision,
  retrieval,
  axis,
  highlights,
  onOpen,
}: {
  task: TaskModel;
  episode: Execution | null;
  decision: number;
  retrieval: Retrieval | null;
  axis: Axis;
  /** Executions with a path of their own. */
  highlights: readonly string[];
  /** Opens a visit: the first to the state that is pressed; null where there is nowhere to show it. */
  onOpen: ((visit: VisitRef) => void) | null;
}) {
  const viewport = useRef<HTMLDivElement>(null);
  const room = useSize(viewport);
  const [at, setAt] = useState<{ task: TaskModel; state: number } | null>(null);
  const cursor = at !== null && at.task === task ? at.state : null;
  const chosen = useDrawnStates(({ states }) => states);
  const mode =
    onOpen === null ? "all" : (chosen ?? (task.states.length > RELEVANT_FROM ? "relevant" : "all"));
  const success = retrieval?.record.success?.source;
  const failure = retrieval?.record.failure?.source;
  // By its text: the next decision mostly has the same states, and the drawing stays then.
  const relevant = useMemo(() => {
    if (mode === "all") return { task, names: null };
    const states = relevantStates(task, episode, new Set([success, failure, ...highlights]));
    return { task, names: [...states].sort((a, b) => a - b).join() };
  }, [mode, task, episode, success, failure, highlights]);
  // Where other references pass other states, those are laid out and drawn after the decision itself.
  const names = useStates(relevant);
  const part = useMemo(
    () => (names === null ? undefined : new Set(names === "" ? [] : names.split(",").map(Number))),
    [names],
  );
  const drawn = useMemo(() => (part === undefined ? task : partOfTask(task, axis, part)), [task, axis, part]);
  const layout = drawn.layouts[axis];
  const place = useMemo(() => geometry(task, layout, room, part), [task, layout, room, part]);
  const labels = useMemo(() => axisLabels(axis, layout), [axis, layout]);
  const columns = useMemo(() => labels.map(({ column }) => column), [labels]);
  const large = (part?.size ?? task.states.length) > CANVAS_FROM;
  const scene = useMemo(
    () => (large ? graphScene(drawn, layout, place) : null),
    [large, drawn, layout, place],
  );
  const path = useMemo(
    () => (episode === null ? [] : executionPath(episode, layout, axis, place)),
    [episode, layout, axis, place],
  );
  const target = path.find(({ position }) => position === decision) ?? null;
  const here = episode?.cells[decision]?.state ?? null;
  const beside = useMemo(
    () => (large ? null : graphLabels(drawn, place, path, here)),
    [large, drawn, place, path, here],
  );
  const all = countOf(task.states.length, "state");
  const states = part === undefined ? all : `${part.size} of ${all}`;
  const totals = useMemo(() => edgeTotals(task, axis), [task, axis]);
  const shared = useMemo(() => task.states.filter((state) => state.executions > 1).length, [task]);
  const open = (state: number): void => {
    const [first] = visitsOf(task, state);
    if (first !== undefined) onOpen?.(first);
  };
  return (
    <section className="panel graph-panel" aria-labelledby="graph-title">
      <div className="panel-head">
        <h2 id="graph-title">State graph</h2>
        <fieldset className="segmented" aria-label="Horizontal axis">
          {AXES.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={axis === name}
              onClick={() => navigate({ axis: name })}
            >
              {AXIS_TITLES[name]}
            </button>
          ))}
        </fieldset>
        {onOpen !== null && (
          <fieldset className="segmented" aria-label="States">
            <button
              type="button"
              aria-pressed={mode === "relevant"}
              title="The student, the references and one step around them"
              onClick={() => useDrawnStates.setState({ states: "relevant" })}
            >
              relevant
            </button>
            <button
              type="button"
              aria-pressed={mode === "all"}
              onClick={() => useDrawnStates.setState({ states: "all" })}
            >
              all states
            </button>
          </fieldset>
        )}
        <fieldset className="segmented zoom" aria-label="Zoom">
          <button type="button" title="Smaller (−)" onClick={() => shownGraph()?.zoom(1 / ZOOM_STEP)}>
            <span aria-hidden="true">−</span>
            <span className="hidden-visually">Smaller</span>
          </button>
          <button type="button" title="Fit (0)" onClick={() => shownGraph()?.fit()}>
            Fit
          </button>
          <button type="button" title="Larger (+)" onClick={() => shownGraph()?.zoom(ZOOM_STEP)}>
            <span aria-hidden="true">+</span>
            <span className="hidden-visually">Larger</span>
          </button>
        </fieldset>
        <span
          className="note"
          title={`${states}, ${shared} shared · ${totals}. Area of a circle ∝ distinct executions; width of an edge grows with them.`}
        >
          {states}, {shared} shared · {totals}
        </span>
      </div>
      <HighlightChips task={task} highlights={highlights} />
      <GraphViewport
        task={task}
        place={place}
        room={room}
        scene={scene}
        labels={labels}
        target={target}
        cursor={cursor}
        onCursor={(state) => setAt({ task, state })}
        onOpen={open}
        viewport={viewport}
        label={`State graph of ${states} and ${totals}. Arrow keys go from state to state, ${onOpen === null ? "" : "Enter opens, "}plus and minus zoom, 0 fits.`}
        comparable={onOpen !== null}
      >
        {room.width > 0 && (
          <svg width={place.width} height={place.height} aria-hidden="true">
            <Lines columns={columns} place={place} lane={path.some((each) => !each.recorded)} />
            {!large && <Edges task={drawn} axis={axis} place={place} />}
            <References task={drawn} retrieval={retrieval} axis={axis} place={place} />
            {highlights.length > 0 && (
              <HighlightPaths highlights={highlights} task={drawn} axis={axis} place={place} />
            )}
            {episode && <StudentPath episode={episode} task={drawn} axis={axis} place={place} />}
            {beside && <Nodes task={task} place={place} labels={beside} />}
            {episode && (
              <StudentMarks
                task={drawn}
                episode={episode}
                decision={decision}
                retrieval={retrieval}
                axis={axis}
                place={place}
              />
            )}
            {cursor !== null && place.nodes[cursor] != null && (
              <circle
                className="graph-cursor"
                data-cursor={cursor}
                cx={place.nodes[cursor].x}
                cy={place.nodes[cursor].y}
                r={place.radius(task.states[cursor]!.executions) + 3}
              />
            )}
          </svg>
        )}
      </GraphViewport>
      <GraphStatus task={task} cursor={cursor} opens={onOpen !== null} />
    </section>
  );
});

/** The states to draw, by number with commas between; null for all. Deferred, but never those of another task. */
function useStates(relevant: { task: TaskModel; names: string | null }): string | null {
  const names = useDeferredValue(relevant.names);
  const task = useDeferredValue(relevant.task);
  return task === relevant.task ? names : relevant.names;
}

/** The state under the pointer, here or in the matrix, or else under the keyboard's cursor, in words. */
function GraphStatus({ task, cursor, opens }: { task: TaskModel; cursor: number | null; opens: boolean }) {
  const hovered = useData((ui) => ui.hoveredState);
  const state = hovered ?? cursor;
  const known = state !== null && task.states[state] !== undefined;
  return (
    <>
      <p className="status-line" data-testid="graph-status">
        {known
          ? describeNode(task, state)
          : `Drag to move, Ctrl and wheel to zoom; arrow keys go from state to state${opens ? ", Enter opens" : ""}.`}
      </p>
      <p className="hidden-visually" aria-live="polite">
        {cursor !== null && task.states[cursor] !== undefined ? describeNode(task, cursor) : ""}
      </p>
    </>
  );
}
