/** Pixel places and curves of the state graph, from its layout. */
import { scaleLinear } from "d3";
import type { Execution, GraphLayout, TaskModel } from "../../model.ts";

export interface Point {
  x: number;
  y: number;
}

/** Room around the drawing, in pixels; at its sides also for the rings around the student's state. */
const MARGIN = { side: 26, top: 30, bottom: 18 };

/** At most so many rings are around the student's state. */
export const MOST_RINGS = 3;
/** Below the recorded states: the student's states that no execution visited. */
const LANE = 34;

export interface Geometry {
  width: number;
  height: number;
  /** y of the lane of unrecorded student states. */
  lane: number;
  /** x of a column. */
  x(column: number): number;
  /** By state; null for one that is not drawn. */
  nodes: (Point | null)[];
  radius(executions: number): number;
}

/** Whether a state's letter fits into its circle. */
export const letterFits = (letter: string, radius: number): boolean =>
  radius >= (letter.length > 1 ? 9.5 : 7);

/** Area of a node ∝ distinct executions, in pixels of radius for one. */
const UNIT_RADIUS = 3.1;

export function geometry(
  task: TaskModel,
  layout: GraphLayout,
  room: { width: number; height: number },
  /** The states that are drawn; all of them when absent. */
  drawn?: ReadonlySet<number>,
): Geometry {
  const columns = Math.max(2, layout.columns);
  const radius = (executions: number): number => UNIT_RADIUS * Math.sqrt(executions);
  // Side by side, circles leave room for each other; only the largest of a task with very many executions may touch.
  const largest = radius(task.states.reduce((most, { executions }) => Math.max(most, executions), 1));
  const across = Math.min(40, Math.max(17, 2 * largest + 7));
  const down = Math.min(34, Math.max(15, 2 * largest + 4));
  const side = Math.max(MARGIN.side, ringRadius(largest, MOST_RINGS));
  const width = Math.max(room.width, 2 * side + (columns - 1) * across);
  const height = Math.max(room.height, MARGIN.top + MARGIN.bottom + LANE + (layout.rows - 1) * down);
  const lane = height - MARGIN.bottom - 4;
  const x = scaleLinear([0, columns - 1], [side, width - side]);
  const y = scaleLinear([0, Math.max(1, layout.rows - 1)], [MARGIN.top, lane - LANE]);
  return {
    width,
    height,
    lane,
    x: (column) => x(column),
    nodes: task.states.map((_, i) =>
      drawn?.has(i) === false
        ? null
        : {
            x: x(layout.column[i]!),
            y: layout.rows === 1 ? (MARGIN.top + lane - LANE) / 2 : y(layout.row[i]!),
          },
    ),
    radius,
  };
}

/** A curve between two nodes: gentle to the right, an arc below for a step back, above within a column. */
export function edgePath(from: Point, to: Point): string {
  const [a, b] = handles(from, to);
  return `M${from.x},${from.y}C${a.x},${a.y} ${b.x},${b.y} ${to.x},${to.y}`;
}

/** The inner control points of an edge's cubic curve. */
function handles(from: Point, to: Point): [Point, Point] {
  const dx = to.x - from.x;
  if (dx > 0.5) {
    const bend = Math.min(dx / 2, 40);
    return [
      { x: from.x + bend, y: from.y },
      { x: to.x - bend, y: to.y },
    ];
  }
  const lift = 14 + Math.min(46, Math.abs(dx) * 0.22);
  const y = Math.max(from.y, to.y) + lift;
  return [
    { x: from.x + 8, y },
    { x: to.x - 8, y },
  ];
}

const SAMPLES = 16;

/** Places along the curve of an edge, close enough together to keep text off it. */
function samplesOf(from: Point, to: Point): Point[] {
  const [a, b] = handles(from, to);
  const at = (t: number, axis: "x" | "y"): number =>
    (1 - t) ** 3 * from[axis] +
    3 * (1 - t) ** 2 * t * a[axis] +
    3 * (1 - t) * t ** 2 * b[axis] +
    t ** 3 * to[axis];
  return Array.from({ length: SAMPLES + 1 }, (_, i) => ({
    x: at(i / SAMPLES, "x"),
    y: at(i / SAMPLES, "y"),
  }));
}

/**
 * Which way an edge goes that does not go to the right: a small arrow head on the middle of its arc. Forward edges need
 * none, as x says it.
 */
export function chevron(from: Point, to: Point): string {
  const dx = to.x - from.x;
  const lift = 14 + Math.min(46, Math.abs(dx) * 0.22);
  const bottom = Math.max(from.y, to.y) + lift;
  // The middle of the cubic curve of `edgePath`, and the direction there.
  const x = (from.x + to.x) / 2;
  const y = (from.y + 6 * bottom + to.y) / 8;
  const angle = Math.atan2(to.y - from.y, dx > -0.5 ? 0.01 : dx - 16);
  const tip = (turn: number): string =>
    `${round(x - 5 * Math.cos(angle + turn))},${round(y - 5 * Math.sin(angle + turn))}`;
  return `M${tip(0.6)}L${round(x)},${round(y)}L${tip(-0.6)}`;
}

const round = (value: number): number => Math.round(10 * value) / 10;

/** Width of an edge, by the distinct executions that took it, in pixels. */
export const edgeWidth = (executions: number): number => 0.8 + 0.55 * Math.sqrt(executions);

/** A self-loop as an ear above its node. */
export function earPath({ x, y }: Point, radius: number): string {
  const r = radius + 1;
  return `M${x - r * 0.6},${y - r * 0.7}C${x - r - 5},${y - r - 13} ${x + r + 5},${y - r - 13} ${x + r * 0.6},${y - r * 0.7}`;
}

/** One place of an execution on the drawing; `recorded` false lies in the lane. */
export interface PathPoint extends Point {
  position: number;
  recorded: boolean;
}

/**
 * The visits of an execution in order. A state that no source visited lies in the lane below: by step at its own step,
 * by cost under the last recorded state before it. ⊥ has no place at all and is passed over, as is a state that is not
 * drawn.
 */
export function executionPath(
  execution: Execution,
  layout: GraphLayout,
  axis: "step" | "cost",
  place: Geometry,
): PathPoint[] {
  const points: PathPoint[] = [];
  let lastX = place.x(0);
  execution.cells.forEach((cell, position) => {
    if (!cell.located) return;
    if (cell.state !== null) {
      const node = place.nodes[cell.state];
      if (node == null) return;
      lastX = node.x;
      points.push({ ...node, position, recorded: true });
      return;
    }
    const x = axis === "step" ? place.x(Math.min(position, layout.columns - 1)) : lastX;
    points.push({ x, y: place.lane, position, recorded: false });
  });
  return points;
}

/** The curve through the points, one piece a step; standing still draws nothing. */
export const pathThrough = (points: readonly PathPoint[]): string =>
  moves(points)
    .map(([from, to]) => edgePath(from, to))
    .join("");

/** Places along that curve. */
export const placesAlong = (points: readonly PathPoint[]): Point[] =>
  moves(points).flatMap(([from, to]) => samplesOf(from, to));

const moves = (points: readonly PathPoint[]): [PathPoint, PathPoint][] =>
  points
    .slice(1)
    .map((to, i): [PathPoint, PathPoint] => [points[i]!, to])
    .filter(([from, to]) => from.x !== to.x || from.y !== to.y);

/** Radii of the rings around the student's state, from the inside out. */
export const ringRadius = (radius: number, ring: number): number => radius + 8.5 + 3.5 * ring;
