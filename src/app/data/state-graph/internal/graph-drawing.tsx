/** The parts of the state graph as SVG, each drawn again only when what it shows has changed. */
import { memo } from "react";
import { TIE_WORD } from "../../../../core/retrieval/index.ts";
import type { Retrieval } from "../../../../core/retrieval/types.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import type { Axis } from "../../../url/place.ts";
import type { Execution, TaskModel } from "../../model.ts";
import { goToDecision } from "../../navigate.ts";
import { describeNode } from "../describe-node.ts";
import { HIGHLIGHTS } from "../highlights.ts";
import { describeEdge, edgeKind } from "./edge-kinds.ts";
import {
  chevron,
  earPath,
  edgePath,
  edgeWidth,
  executionPath,
  type Geometry,
  letterFits,
  pathThrough,
  ringRadius,
} from "./graph-geometry.ts";
import type { Label } from "./graph-labels.ts";

/** Lines that go with the columns, and the border of the lane of unrecorded states. */
export const Lines = memo(function Lines({
  columns,
  place,
  lane,
}: {
  columns: readonly number[];
  place: Geometry;
  /** Something may lie in the lane. */
  lane: boolean;
}) {
  return (
    <g className="axis">
      {lane && (
        <>
          <line className="lane" x1={8} x2={place.width - 8} y1={place.lane - 16} y2={place.lane - 16} />
          <text className="lane-name" x={8} y={place.lane - 19}>
            student states that no execution visited ↓
          </text>
        </>
      )}
      {columns.map((column) => (
        <line key={column} x1={place.x(column)} x2={place.x(column)} y1={14} y2={place.lane - 16} />
      ))}
    </g>
  );
});

export const Edges = memo(function Edges({
  task,
  axis,
  place,
}: {
  task: TaskModel;
  axis: Axis;
  place: Geometry;
}) {
  const layout = task.layouts[axis];
  return (
    <g className="edges">
      {task.edges.map((edge) => {
        const kind = edgeKind(edge, layout);
        const from = place.nodes[edge.from]!;
        const to = place.nodes[edge.to]!;
        const radius = place.radius(task.states[edge.from]!.executions);
        const curve =
          kind === "loop"
            ? earPath(from, radius)
            : edgePath(from, to) + (kind === "forward" ? "" : chevron(from, to));
        return (
          <g key={`${edge.from} ${edge.to}`} className={`edge ${kind}`}>
            <path d={curve} strokeWidth={edgeWidth(edge.executions)}>
              <title>{describeEdge(edge, task, axis)}</title>
            </path>
          </g>
        );
      })}
    </g>
  );
});

export const Nodes = memo(function Nodes({
  task,
  place,
  labels,
}: {
  task: TaskModel;
  place: Geometry;
  /** Those beside the states. */
  labels: ReadonlyMap<number, readonly Label[]>;
}) {
  return (
    <g className="nodes">
      {task.states.map((state, i) => {
        const node = place.nodes[i];
        if (node == null) return null;
        const { x, y } = node;
        const radius = place.radius(state.executions);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is the state's identity
          <g key={i} className="node" data-state={i} transform={`translate(${x},${y})`}>
            <circle r={radius} className={state.cost === null ? "no-success" : ""} />
            {state.letter !== "" && letterFits(state.letter, radius) && (
              <text dy="0.35em">{state.letter}</text>
            )}
            {labels.get(i)?.map(({ kind, text, x, y, anchor, crowded }) => (
              <text
                key={kind}
                className={`beside ${kind}${crowded ? " crowded" : ""}`}
                x={x}
                y={y}
                style={{ textAnchor: anchor }}
              >
                {text}
              </text>
            ))}
            <title>{describeNode(task, i)}</title>
          </g>
        );
      })}
    </g>
  );
});

export const StudentPath = memo(function StudentPath({
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
            onClick={(event) => {
              event.stopPropagation();
              goToDecision(Math.min(position, episode.decisions - 1));
            }}
          >
            <title>{`student, step ${position}: a state that no execution visited`}</title>
          </path>
        ))}
    </g>
  );
});

/** The paths of the highlighted executions, side by side where they agree. */
export const HighlightPaths = memo(function HighlightPaths({
  highlights,
  task,
  axis,
  place,
}: {
  highlights: readonly string[];
  task: TaskModel;
  axis: Axis;
  place: Geometry;
}) {
  return (
    <g className="highlights">
      {highlights.map((id, i) => {
        const source = task.sources.find((each) => each.id === id);
        const style = HIGHLIGHTS[i];
        if (source === undefined || style === undefined) return null;
        const d = pathThrough(executionPath(source, task.layouts[axis], axis, place));
        return (
          <g key={id} transform={`translate(0,${2 * i - highlights.length + 1})`}>
            <path className="halo" d={d} />
            <path d={d} style={{ stroke: `var(${style.hue})` }} strokeDasharray={style.dash}>
              <title>{`path of ${shownName(id, 80)}`}</title>
            </path>
          </g>
        );
      })}
    </g>
  );
});

/** The retained records: where they go from the anchor on. */
export const References = memo(function References({
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
});

/**
 * Where the student is, and what retrieval found there: solid ring eligible, dotted rejected, double where a tie was
 * broken, star for a winner among the records, flags at the anchors.
 */
export const StudentMarks = memo(function StudentMarks({
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
  const matched = record?.matched_visits ?? 0;
  const eligible = record?.candidates.length ?? 0;
  const tie = retrieval?.explanation.tie ?? null;
  const rings = [
    eligible > 0 ? "eligible" : null,
    tie === null ? null : "eligible tie",
    matched > eligible ? "rejected" : null,
  ].filter((ring) => ring !== null);
  const names: Record<string, string> = {
    eligible: `${eligible} of ${matched} matched visits eligible`,
    "eligible tie": `a tie at the least cost, broken by ${tie === null ? "" : TIE_WORD[tie]}`,
    rejected: `${matched - eligible} of ${matched} matched visits rejected`,
  };
  return (
    <g className="student-marks">
      {here && (
        <g transform={`translate(${here.x},${here.y})`}>
          <circle className="here" r={radius + 4.5} />
          {rings.map((ring, i) => (
            <circle key={ring} className={ring} r={ringRadius(radius, i)}>
              <title>{names[ring]}</title>
            </circle>
          ))}
          {record?.winner?.kind === "source" && (
            <text className="star" x={radius + 7} y={radius + 16}>
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
});
