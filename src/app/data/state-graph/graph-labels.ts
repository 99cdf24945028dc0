/** Where the labels beside states stand: over no state and over no other label. */
import type { TaskModel } from "../model.ts";
import { type Geometry, letterFits, type Point } from "./graph-geometry.ts";

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

/** By state: its letter where that does not fit into the circle, and how often its self-loop was taken. */
export function graphLabels(task: TaskModel, place: Geometry): ReadonlyMap<number, readonly Label[]> {
  const labels = new Map<number, Label[]>();
  const circles = place.nodes.flatMap((node, i) =>
    node === null ? [] : [{ ...node, radius: place.radius(task.states[i]!.executions) }],
  );
  if (circles.length > MOST_LABELLED) return labels;
  const taken: Box[] = [];
  const put = (state: number, kind: Label["kind"], text: string, spots: readonly Spot[]): void => {
    const node = place.nodes[state]!;
    const boxOf = ({ x, y, anchor }: Spot): Box => {
      const width = text.length * LINE.character;
      const left = node.x + (anchor === "start" ? x : x - width);
      return { left, right: left + width, top: node.y + y - LINE.above, bottom: node.y + y + LINE.below };
    };
    const isFree = (box: Box): boolean =>
      !circles.some((circle) => touches(box, circle)) && !taken.some((other) => overlap(box, other));
    const free = spots.find((spot) => isFree(boxOf(spot)));
    if (free !== undefined) taken.push(boxOf(free));
    const label = { kind, text, ...(free ?? spots[0]!), crowded: free === undefined };
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

function touches({ left, right, top, bottom }: Box, { x, y, radius }: Point & { radius: number }): boolean {
  const dx = x - Math.max(left, Math.min(x, right));
  const dy = y - Math.max(top, Math.min(y, bottom));
  return Math.hypot(dx, dy) < radius;
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
