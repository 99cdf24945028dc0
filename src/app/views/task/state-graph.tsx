/**
 * G_x with the student's path on it. Radius ∝ √(distinct executions); ears are self-loops; arcs below go back. The
 * matrix beside it holds the same facts for the keyboard and for screen readers.
 */
import { memo, useMemo, useRef } from "react";
import type { Retrieval } from "../../../core/retrieval/types.ts";
import type { Execution, TaskModel } from "../../model.ts";
import { goToDecision, navigate } from "../../place/navigate.ts";
import { AXES, type Axis } from "../../place/place.ts";
import { countOf } from "../../shell/plural.ts";
import { Scroller } from "../../shell/scroller.tsx";
import { earPath, edgePath, executionPath, type Geometry, geometry, pathThrough } from "./graph-geometry.ts";
import { hoverState, useSameState } from "./use-same-state.ts";
import { useSize } from "./use-size.ts";

const AXIS_TITLES: Record<Axis, string> = { step: "first visit", cost: "remaining cost" };

export const StateGraph = memo(function StateGraph({
  task,
  episode,
  decision,
  retrieval,
  axis,
}: {
  task: TaskModel;
  episode: Execution | null;
  decision: number;
  retrieval: Retrieval | null;
  axis: Axis;
}) {
  const scroller = useRef<HTMLElement>(null);
  const size = useSize(scroller);
  useSameState(scroller);
  const layout = task.layouts[axis];
  const place = useMemo(() => geometry(task, layout, size), [task, layout, size]);
  const shared = task.states.filter((state) => state.executions > 1).length;
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
        <span className="note">
          {task.states.length} states, {shared} shared · area ∝ executions
        </span>
      </div>
      <Scroller ref={scroller} className="graph-scroll" label="State graph, scrollable">
        {size.width > 0 && (
          // biome-ignore lint/a11y/useKeyWithMouseEvents: the matrix does the same for the keyboard
          <svg
            width={place.width}
            height={place.height}
            role="img"
            aria-label={`State graph: ${task.states.length} states, ${task.edges.length} transitions; the matrix lists the same visits`}
            onMouseOver={(event) => hoverState(event.target)}
            onMouseLeave={() => hoverState(null)}
          >
            <AxisMarks axis={axis} columns={layout.columns} lead={layout.lead} place={place} />
            <Edges task={task} place={place} />
            <References task={task} retrieval={retrieval} axis={axis} place={place} />
            {episode && <StudentPath episode={episode} task={task} axis={axis} place={place} />}
            <Nodes task={task} place={place} />
            {episode && (
              <StudentMarks
                task={task}
                episode={episode}
                decision={decision}
                retrieval={retrieval}
                axis={axis}
                place={place}
              />
            )}
          </svg>
        )}
      </Scroller>
    </section>
  );
});

function AxisMarks({
  axis,
  columns,
  lead,
  place,
}: {
  axis: Axis;
  columns: number;
  lead: number;
  place: Geometry;
}) {
  const every = columns > 60 ? 10 : 5;
  const ticks = Array.from({ length: columns }, (_, column) => column).filter((column) =>
    axis === "step"
      ? column % every === 0
      : (column === 0 && lead > 0) || (column >= lead && (columns - 1 - column) % every === 0),
  );
  const name = (column: number): string => {
    if (axis === "step") return column === 0 ? "step 0" : String(column);
    if (column < lead) return "no verified success";
    return columns - 1 - column === 0 ? "cost 0" : String(columns - 1 - column);
  };
  return (
    <g className="axis">
      <line className="lane" x1={8} x2={place.width - 8} y1={place.lane - 16} y2={place.lane - 16} />
      <text className="lane-name" x={8} y={place.lane - 19}>
        student states that no execution visited ↓
      </text>
      {ticks.map((column) => (
        <g key={column} transform={`translate(${place.x(column)},0)`}>
          <line y1={14} y2={place.lane - 16} />
          <text y={10} textAnchor={column === 0 ? "start" : column === columns - 1 ? "end" : "middle"}>
            {name(column)}
          </text>
        </g>
      ))}
    </g>
  );
}

const Edges = memo(function Edges({ task, place }: { task: TaskModel; place: Geometry }) {
  return (
    <g className="edges">
      {task.edges.map((edge) => {
        const loop = edge.from === edge.to;
        const node = place.nodes[edge.from]!;
        const radius = place.radius(task.states[edge.from]!.executions);
        return (
          <g key={`${edge.from} ${edge.to}`}>
            <path
              d={loop ? earPath(node, radius) : edgePath(node, place.nodes[edge.to]!)}
              strokeWidth={0.8 + 0.55 * Math.sqrt(edge.executions)}
            >
              <title>{`${countOf(edge.transitions, "transition")} by ${countOf(edge.executions, "execution")}`}</title>
            </path>
            {loop && edge.transitions > 1 && (
              <text x={node.x + radius + 3} y={node.y - radius - 4}>
                {edge.transitions}×
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
});

const Nodes = memo(function Nodes({ task, place }: { task: TaskModel; place: Geometry }) {
  return (
    <g className="nodes">
      {task.states.map((state, i) => {
        const { x, y } = place.nodes[i]!;
        const radius = place.radius(state.executions);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is the state's identity
          <g key={i} className="node" data-state={i} transform={`translate(${x},${y})`}>
            <circle r={radius} className={state.cost === null ? "no-success" : ""} />
            {state.letter !== "" && radius >= 6 && <text dy="0.35em">{state.letter}</text>}
            <title>
              {`${state.letter === "" ? "a state of one execution" : `state ${state.letter}`}: ${countOf(state.visits, "visit")} by ${countOf(state.executions, "execution")}, first at step ${state.step}; ${state.cost === null ? "no verified success passes it" : `least remaining cost ${state.cost}`}`}
            </title>
          </g>
        );
      })}
    </g>
  );
});

const StudentPath = memo(function StudentPath({
  episode,
  task,
  axis,
  place,
}: {
  episode: Execution;
  task: TaskModel;
  axis: Axis;
  place: Geometry;
}) {
  const points = executionPath(episode, task.layouts[axis], axis, place);
  const d = pathThrough(points);
  return (
    <g className="student-path">
      <path className="halo" d={d} />
      <path d={d} />
      {points
        .filter((point) => !point.recorded)
        .map(({ x, y, position }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: j and k, and the matrix, do the same for the keyboard
          <path
            key={position}
            className="unrecorded"
            d={`M${x},${y - 5}l5,5l-5,5l-5,-5z`}
            onClick={() => goToDecision(Math.min(position, episode.decisions - 1))}
          >
            <title>{`student, step ${position}: a state that no execution visited`}</title>
          </path>
        ))}
    </g>
  );
});

/** The retained records: where they go from the anchor on. */
function References({
  task,
  retrieval,
  axis,
  place,
}: {
  task: TaskModel;
  retrieval: Retrieval | null;
  axis: Axis;
  place: Geometry;
}) {
  if (retrieval === null) return null;
  const { success, failure } = retrieval.record;
  return (
    <g className="references">
      {[failure, success].map((reference) => {
        const source = task.sources.find(({ id }) => id === reference?.source);
        if (!reference || source === undefined) return null;
        const kind = reference === success ? "success" : "failure";
        const points = executionPath(source, task.layouts[axis], axis, place);
        const from = reference.position ?? 0;
        return (
          <g key={kind} className={kind}>
            <path className="before" d={pathThrough(points.filter((point) => point.position <= from))} />
            <path d={pathThrough(points.filter((point) => point.position >= from))} />
          </g>
        );
      })}
    </g>
  );
}

function StudentMarks({
  task,
  episode,
  decision,
  retrieval,
  axis,
  place,
}: {
  task: TaskModel;
  episode: Execution;
  decision: number;
  retrieval: Retrieval | null;
  axis: Axis;
  place: Geometry;
}) {
  const points = executionPath(episode, task.layouts[axis], axis, place);
  const at = (position: number | null | undefined) => points.find((point) => point.position === position);
  const here = at(decision);
  const state = episode.cells[decision]?.state ?? null;
  const record = retrieval?.record;
  const anchorOf = (reference: { relation: string; student_position: number | null } | null | undefined) =>
    reference?.relation === "historical" ? at(reference.student_position) : undefined;
  const anchor = anchorOf(record?.success);
  const failed = anchorOf(record?.failure);
  const radius = state === null ? 6 : place.radius(task.states[state]!.executions);
  return (
    <g className="student-marks">
      {here && (
        <g transform={`translate(${here.x},${here.y})`}>
          <circle className="here" r={radius + 4.5} />
          {record && record.matched_visits > 0 && (
            <circle className={record.candidates.length > 0 ? "eligible" : "rejected"} r={radius + 8.5} />
          )}
          {record?.winner && (
            <text className="star" x={radius + 5} y={-radius - 2}>
              ★
            </text>
          )}
        </g>
      )}
      {anchor && (
        <text className="flag success" x={anchor.x + 3} y={anchor.y - 9}>
          ⚑
        </text>
      )}
      {failed && (
        <text className="flag failure" x={failed.x - 12} y={failed.y - 9}>
          ⚑
        </text>
      )}
    </g>
  );
}
