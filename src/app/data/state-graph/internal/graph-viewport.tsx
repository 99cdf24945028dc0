/**
 * The window onto the graph: drag or wheel to pan, pinch or Ctrl and wheel to zoom, arrow keys from state to state.
 * While it moves only a transform changes (and the canvas of a large graph); React renders nothing.
 */

import { quadtree } from "d3";
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";
import { isOneOf } from "../../../../core/one-of.ts";
import { chooseVisit } from "../../compared-visits.ts";
import type { TaskModel } from "../../model.ts";
import { setData, useData } from "../../store.ts";
import { visitsOf } from "../describe-node.ts";
import type { GraphView } from "../graph-view.ts";
import { showGraph } from "../shown-graph.ts";
import { useSameState } from "../use-same-state.ts";
import type { AxisLabel } from "./axis-labels.ts";
import { drawScene, type GraphScene, isOutOfMargin, MARGIN, shownAs } from "./graph-canvas.ts";
import type { Geometry, Point } from "./graph-geometry.ts";
import { ARROWS, neighbour } from "./neighbour.ts";
import { PanZoom } from "./pan-zoom.ts";

/** A pointer this near to a state's circle is on it, in pixels of the drawing. */
const NEAR = 4;
/** Two labels of the axis are at least so far apart on the screen. */
const LABEL_ROOM = 34;

export function GraphViewport({
  task,
  place,
  room,
  scene,
  labels,
  target,
  cursor,
  onCursor,
  onOpen,
  label,
  comparable,
  viewport,
  children,
}: {
  task: TaskModel;
  place: Geometry;
  room: { width: number; height: number };
  /** Drawn on a canvas under the rest; null where states and edges are among the children. */
  scene: GraphScene | null;
  labels: readonly AxisLabel[];
  /** Kept in sight when it changes: where the student is. */
  target: Point | null;
  cursor: number | null;
  onCursor(state: number): void;
  onOpen(state: number): void;
  label: string;
  /** Visits can be set beside each other. */
  comparable: boolean;
  viewport: React.RefObject<HTMLDivElement | null>;
  children: ReactNode;
}) {
  const layer = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  /** The view that the canvas was last drawn for. */
  const canvasView = useRef<GraphView | null>(null);
  const axis = useRef<HTMLDivElement>(null);
  const pan = useRef<PanZoom | null>(null);
  useSameState(viewport);

  const draw = useRef<(view: GraphView, moving: boolean) => void>(() => {});
  // With the commit, not while rendering: frames come between the slices of a render, and the old labels are still there.
  useLayoutEffect(() => {
    draw.current = (view, moving) => {
      const { current: drawn } = layer;
      if (drawn === null) return;
      drawn.style.willChange = moving ? "transform" : "";
      drawn.style.transform = `translate(${view.x}px,${view.y}px) scale(${view.k})`;
      if (canvas.current !== null && scene !== null) {
        const { current: drawnFor } = canvasView;
        if (!moving || drawnFor === null || isOutOfMargin(drawnFor, view, room)) {
          drawScene(canvas.current, scene, view, room, useData.getState().hoveredState);
          canvasView.current = view;
        }
        canvas.current.style.willChange = moving ? "transform" : "";
        canvas.current.style.transform = shownAs(canvasView.current ?? view, view, room);
      }
      let free = Number.NEGATIVE_INFINITY;
      for (const [i, element] of [...(axis.current?.children ?? [])].entries()) {
        const x = place.x(labels[i]!.column) * view.k + view.x;
        const shown = x >= free && x > -20 && x < room.width + 20;
        const wide = labels[i]!.text.length * 6 + 10;
        if (shown) free = x + Math.max(LABEL_ROOM, wide);
        const style = (element as HTMLElement).style;
        style.visibility = shown ? "" : "hidden";
        // The last one is whole too.
        style.transform = `translateX(${Math.round(Math.min(x, room.width - wide))}px)`;
      }
    };
  });

  // Before the effect below, which sets its size.
  useLayoutEffect(() => {
    const element = viewport.current!;
    const controller = new PanZoom(element, (view, moving) => draw.current(view, moving));
    pan.current = controller;
    const [hide, deafen] = [showGraph(controller), controller.listen()];
    return () => {
      hide();
      deafen();
    };
  }, [viewport]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what is drawn has changed with any of these
  useLayoutEffect(() => {
    pan.current?.resize(place, room);
  }, [place, room, scene, labels]);

  const { x, y } = target ?? { x: Number.NaN, y: Number.NaN };
  useEffect(() => {
    if (!Number.isNaN(x)) pan.current?.show({ x, y });
  }, [x, y]);

  useEffect(
    () =>
      useData.subscribe((now, before) => {
        if (now.hoveredState !== before.hoveredState && canvas.current !== null && pan.current !== null) {
          draw.current(pan.current.view, false);
        }
      }),
    [],
  );

  const tree = useMemo(
    () =>
      quadtree<number>(
        place.nodes.flatMap((node, i) => (node === null ? [] : [i])),
        (i) => place.nodes[i]!.x,
        (i) => place.nodes[i]!.y,
      ),
    [place],
  );
  /** The state under the pointer. */
  const stateAt = (event: MouseEvent): number | null => {
    if (pan.current === null) return null;
    const at = pan.current.under(event);
    const most = task.states.reduce((r, { executions }) => Math.max(r, executions), 0);
    const found = tree.find(at.x, at.y, place.radius(most) + NEAR);
    if (found === undefined) return null;
    const node = place.nodes[found]!;
    const reach = place.radius(task.states[found]!.executions) + NEAR;
    return Math.hypot(node.x - at.x, node.y - at.y) <= reach ? found : null;
  };
  const hover = (state: number | null): void => {
    if (useData.getState().hoveredState !== state) setData({ hoveredState: state });
  };

  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (isOneOf(ARROWS, key)) {
      const next = cursor === null ? start(task, place) : neighbour(cursor, key, place.nodes, task.edges);
      const node = next === null ? null : place.nodes[next];
      if (next !== null && node != null) {
        onCursor(next);
        pan.current?.show(node);
      }
    } else if ((key === "Enter" || key === " ") && cursor !== null) onOpen(cursor);
    else if (key === "v" && cursor !== null && comparable) {
      const [first] = visitsOf(task, cursor);
      if (first !== undefined) chooseVisit({ kind: "source", id: first.source, position: first.position });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      ref={viewport}
      className="graph-view"
      role="application"
      aria-roledescription="state graph"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes arrow keys
      tabIndex={0}
      onKeyDown={press}
      onMouseMove={(event) => hover(stateAt(event))}
      onMouseLeave={() => hover(null)}
      onClick={(event) => {
        const state = stateAt(event);
        if (state === null) return;
        onCursor(state);
        onOpen(state);
      }}
    >
      {scene !== null && (
        <canvas
          ref={canvas}
          data-testid="graph-canvas"
          style={{ width: room.width * (1 + 2 * MARGIN), height: room.height * (1 + 2 * MARGIN) }}
        />
      )}
      <div ref={layer} className="graph-layer">
        {children}
      </div>
      <div ref={axis} className="graph-axis" aria-hidden="true">
        {labels.map(({ column, text }) => (
          <span key={column}>{text}</span>
        ))}
      </div>
    </div>
  );
}

/** Where the first arrow key goes: of what is drawn, the state that executions begin in. */
function start(task: TaskModel, place: Geometry): number | null {
  let best: number | null = null;
  task.states.forEach((state, i) => {
    if (place.nodes[i] === null) return;
    const known = best === null ? null : task.states[best]!;
    const first =
      known === null ||
      state.step < known.step ||
      (state.step === known.step && state.executions > known.executions);
    if (first) best = i;
  });
  return best;
}
