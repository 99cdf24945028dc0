/** Where the labels beside states stand: in the drawing, over no state, no ring around one and no other label. */
import type { TaskModel } from "../../model.ts";
import {
  type Geometry,
  letterFits,
  MOST_RINGS,
  type PathPoint,
  type Point,
  placesAlong,
  ringRadius,
} from "./graph-geometry.ts";

/** Its place is seen from the middle of its state. */
export interface Label extends Point {
  kind: "letter" | "loop";
  text: string;
  anchor: "start" | "end";
  /** There is no room for it: it shows only while its state is pointed at. */
  crowded: boolean;
}

type Spot = Pick<Label, "x" | "y" | "anchor">;
type Box = Record<"left" | "right" | "top" | "bottom", number>;

/** A line of small text, in pixels; a character is at most so wide. */
const LINE = { above: 9, below: 1, character: 7 };

/** With more drawn states than this there are only letters in circles. */
const MOST_LABELLED = 150;

/** Half as wide as the student's path with its halo. */
const PATH_RADIUS = 3.5;

const NONE: ReadonlyMap<number, readonly Label[]> = new Map();

/**
 * By state: its letter where that does not fit into the circle, and how often its self-loop was taken. A count also
 * keeps off the student's path; a letter may lie on it, since it is missed more.
 */
export function graphLabels(
  task: TaskModel,
  place: Geometry,
  path: readonly PathPoint[],
  /** The state with the rings. */
  here: number | null,
): ReadonlyMap<number, readonly Label[]> {
  const labels = new Map<number, Label[]>();
  const circles = place.nodes.flatMap((node, i) => {
    if (node === null) return [];
    const radius = place.radius(task.states[i]!.executions);
    return [{ ...node, radius: i === here ? ringRadius(radius, MOST_RINGS) : radius }];
  });
  if (circles.length > MOST_LABELLED) return NONE;
  const line = placesAlong(path).map((point) => ({ ...point, radius: PATH_RADIUS }));
  const taken: Box[] = [];
  const put = (state: number, kind: Label["kind"], text: string, near: readonly Spot[]): void => {
    const node = place.nodes[state]!;
    const spots =
      state === here ? [...near, ...outsideRings(place.radius(task.states[state]!.executions))] : near;
    const boxOf = ({ x, y, anchor }: Spot): Box => {
      const width = text.length * LINE.character;
      const left = node.x + (anchor === "start" ? x : x - width);
      return { left, right: left + width, top: node.y + y - LINE.above, bottom: node.y + y + LINE.below };
    };
    const isFree = (box: Box): boolean =>
      box.left >= 0 &&
      box.right <= place.width &&
      box.top >= 0 &&
      !circles.some((circle) => touches(box, circle)) &&
      !taken.some((other) => overlap(box, other)) &&
      (kind === "letter" || !line.some((point) => touches(box, point)));
    const free = spots.find((spot) => isFree(boxOf(spot)));
    if (free !== undefined) taken.push(boxOf(free));
    const shown = free ?? spots.find((spot) => boxOf(spot).left >= 0) ?? spots[0]!;
    const label = { kind, text, ...shown, crowded: free === undefined };
    labels.set(state, [...(labels.get(state) ?? []), label]);
  };
  task.states.forEach(({ letter, executions }, i) => {
    const radius = place.radius(executions);
    if (place.nodes[i] == null || letter === "" || letterFits(letter, radius)) return;
    put(i, "letter", letter, [...beside(radius + 1, radius + 8), ...beside(radius + 1, -radius)]);
  });
  for (const { from, to, transitions, executions } of task.edges) {
    if (from !== to || transitions < 2 || place.nodes[from] == null) continue;
    const radius = place.radius(task.states[from]!.executions);
    put(from, "loop", `${transitions}× by ${executions}`, beside(radius + 3, -radius - 4));
  }
  return labels;
}

/** To the right and to the left of a state. */
const beside = (x: number, y: number): Spot[] => [
  { x, y, anchor: "start" },
  { x: -x, y, anchor: "end" },
];

/** Around the rings of a state: not below to the right, where the star of a winner is. */
function outsideRings(radius: number): Spot[] {
  const out = 0.75 * ringRadius(radius, MOST_RINGS);
  return [...beside(out, -out), { x: -out, y: out + LINE.above, anchor: "end" }];
}

function touches({ left, right, top, bottom }: Box, { x, y, radius }: Point & { radius: number }): boolean {
  const dx = x - Math.max(left, Math.min(x, right));
  const dy = y - Math.max(top, Math.min(y, bottom));
  return Math.hypot(dx, dy) < radius;
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
