/**
 * States and edges on a canvas, for graphs with more nodes than SVG pans smoothly. Curves are made once, in the
 * drawing's own coordinates, and stroked under the view's scale and shift in each frame.
 */
import type { GraphLayout, TaskModel } from "../../model.ts";
import type { GraphView, Size } from "../graph-view.ts";
import { edgeKind } from "./edge-kinds.ts";
import { chevron, earPath, edgePath, edgeWidth, type Geometry } from "./graph-geometry.ts";

/** From this many states on the graph is drawn on a canvas. */
export const CANVAS_FROM = 1500;

export interface GraphScene {
  /** Edges of one width and kind as one path. */
  edges: { path: Path2D; width: number; back: boolean }[];
  /** Circles, apart by whether a verified success passes the state. */
  nodes: Record<"success" | "none", Path2D>;
  labels: { text: string; x: number; y: number; radius: number }[];
  task: TaskModel;
  place: Geometry;
}

export function graphScene(task: TaskModel, layout: GraphLayout, place: Geometry): GraphScene {
  const groups = new Map<string, { text: string[]; width: number; back: boolean }>();
  for (const edge of task.edges) {
    const from = place.nodes[edge.from]!;
    const to = place.nodes[edge.to]!;
    const kind = edgeKind(edge, layout);
    const back = kind === "back" || kind === "level";
    const width = Math.round(4 * edgeWidth(edge.executions)) / 4;
    const key = `${width} ${back}`;
    const group = groups.get(key) ?? { text: [], width, back };
    groups.set(key, group);
    if (kind === "loop") group.text.push(earPath(from, place.radius(task.states[edge.from]!.executions)));
    else group.text.push(edgePath(from, to) + (back ? chevron(from, to) : ""));
  }
  const nodes = { success: new Path2D(), none: new Path2D() };
  const labels: GraphScene["labels"] = [];
  task.states.forEach((state, i) => {
    const node = place.nodes[i];
    if (node == null) return;
    const { x, y } = node;
    const radius = place.radius(state.executions);
    const path = state.cost === null ? nodes.none : nodes.success;
    path.moveTo(x + radius, y);
    path.arc(x, y, radius, 0, 2 * Math.PI);
    if (state.letter !== "" && radius >= 7) labels.push({ text: state.letter, x, y, radius });
  });
  return {
    edges: [...groups.values()].map(({ text, width, back }) => ({
      path: new Path2D(text.join("")),
      width,
      back,
    })),
    nodes,
    labels,
    task,
    place,
  };
}

type Colours = Record<"panel" | "sunken" | "ink" | "line", string>;

function colours(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return { panel: of("--panel"), sunken: of("--sunken"), ink: of("--ink"), line: of("--line-strong") };
}

/** So much more than what is seen is drawn on each side, as a share of the room: a shift within it redraws nothing. */
export const MARGIN = 0.5;

/**
 * Draws what is seen, and a margin around it: the canvas is larger than the room and begins `MARGIN` of it before.
 * `marked`: the state under the pointer, or null.
 */
export function drawScene(
  canvas: HTMLCanvasElement,
  scene: GraphScene,
  view: GraphView,
  room: Size,
  marked: number | null,
): void {
  const sharp = window.devicePixelRatio || 1;
  const [aside, above] = [room.width * MARGIN, room.height * MARGIN];
  const width = Math.round((room.width + 2 * aside) * sharp);
  const height = Math.round((room.height + 2 * above) * sharp);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { panel, sunken, ink, line } = colours(canvas);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  const k = view.k * sharp;
  context.setTransform(k, 0, 0, k, (view.x + aside) * sharp, (view.y + above) * sharp);
  context.strokeStyle = line;
  for (const { path, width: stroke, back } of scene.edges) {
    context.globalAlpha = back ? 0.6 : 0.45;
    context.lineWidth = stroke;
    context.stroke(path);
  }
  context.globalAlpha = 1;
  context.lineWidth = 1.3;
  for (const kind of ["none", "success"] as const) {
    context.fillStyle = kind === "none" ? sunken : panel;
    context.strokeStyle = kind === "none" ? line : ink;
    context.fill(scene.nodes[kind]);
    context.stroke(scene.nodes[kind]);
  }
  const at = marked === null ? null : scene.place.nodes[marked];
  if (marked !== null && at != null) {
    const { x, y } = at;
    context.beginPath();
    context.arc(x, y, scene.place.radius(scene.task.states[marked]!.executions) + 1, 0, 2 * Math.PI);
    context.fillStyle = "#f0e442";
    context.fill();
    context.strokeStyle = ink;
    context.stroke();
  }
  context.fillStyle = ink;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { text, x, y, radius } of scene.labels) {
    if (radius * view.k < 5) continue;
    const [seenX, seenY] = [x * view.k + view.x, y * view.k + view.y];
    const hidden =
      seenX < -aside || seenY < -above || seenX > room.width + aside || seenY > room.height + above;
    if (!hidden) context.fillText(text, x, y + 0.5);
  }
}

/** The CSS transform that shows a canvas drawn for one view as another view has it. */
export function shownAs(drawn: GraphView, view: GraphView, room: Size): string {
  const by = view.k / drawn.k;
  const x = view.x - by * (drawn.x + room.width * MARGIN);
  const y = view.y - by * (drawn.y + room.height * MARGIN);
  return `translate(${x}px,${y}px) scale(${by})`;
}

/** The margin is used up, or the scale is so different that lines would look wrong. */
export function isOutOfMargin(drawn: GraphView, view: GraphView, room: Size): boolean {
  const by = view.k / drawn.k;
  const left = view.x - by * (drawn.x + room.width * MARGIN);
  const top = view.y - by * (drawn.y + room.height * MARGIN);
  return (
    by > 2.5 ||
    left > 0 ||
    top > 0 ||
    left + by * room.width * (1 + 2 * MARGIN) < room.width ||
    top + by * room.height * (1 + 2 * MARGIN) < room.height
  );
}
