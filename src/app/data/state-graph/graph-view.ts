/**
 * Which part of a drawing is seen, and how large: a scale and a shift, and pure functions that change them. A point p of
 * the drawing is seen at (k · p.x + x, k · p.y + y). All lengths are CSS pixels.
 */
import type { Point } from "./internal/graph-geometry.ts";

export interface GraphView extends Point {
  /** Scale: 1 is the drawing's own size. */
  k: number;
}

export interface Size {
  width: number;
  height: number;
}

/** Smallest and largest scale. */
export const SCALES = { least: 0.1, most: 6 };
/** A drawing that would have to be smaller than this to fit is shown larger, in parts. */
const LEAST_FIT = 0.45;
/** What a press of + or − does. */
export const ZOOM_STEP = 1.3;
/** At least so much of the drawing stays in sight. */
const KEEP = 60;
/** A point this near to the border is still in sight. */
const IN_SIGHT = 14;

/** Moves the view back to where a part of the drawing is seen; one that fits is not moved off. */
function held(view: GraphView, drawing: Size, room: Size): GraphView {
  const hold = (at: number, length: number, space: number): number => {
    const shown = length * view.k;
    return shown <= space
      ? Math.min(Math.max(at, -shown + KEEP), space - KEEP)
      : Math.min(Math.max(at, space - shown - space / 2), space / 2);
  };
  return {
    k: view.k,
    x: hold(view.x, drawing.width, room.width),
    y: hold(view.y, drawing.height, room.height),
  };
}

/** All of the drawing in the middle, or its left end where it would be too small for finding anything. */
export function fitted(drawing: Size, room: Size): GraphView {
  const whole = Math.min(1, room.width / drawing.width, room.height / drawing.height);
  return atScale(Math.max(whole, LEAST_FIT), drawing, room);
}

/** The drawing at its own size, at which its letters are made to be read; of a larger one the upper left. */
export function readable(drawing: Size, room: Size): GraphView {
  return atScale(1, drawing, room);
}

function atScale(k: number, drawing: Size, room: Size): GraphView {
  const centre = (length: number, space: number): number => Math.max(0, (space - length * k) / 2);
  return { k, x: centre(drawing.width, room.width), y: centre(drawing.height, room.height) };
}

/** The scale changes by a factor; the point of the room stays over the same point of the drawing. */
export function zoomed(view: GraphView, factor: number, at: Point, drawing: Size, room: Size): GraphView {
  const k = Math.min(SCALES.most, Math.max(SCALES.least, view.k * factor));
  const by = k / view.k;
  return held({ k, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by }, drawing, room);
}

export function panned(view: GraphView, by: Point, drawing: Size, room: Size): GraphView {
  return held({ k: view.k, x: view.x + by.x, y: view.y + by.y }, drawing, room);
}

/** The least shift after which a point of the drawing is seen with some room around it; the same view if it is. */
export function showing(view: GraphView, point: Point, room: Size): GraphView {
  const shift = (at: number, space: number): number => {
    if (at >= IN_SIGHT && at <= space - IN_SIGHT) return 0;
    const margin = Math.min(KEEP, space / 4);
    return (at < margin ? margin : space - margin) - at;
  };
  const dx = shift(view.k * point.x + view.x, room.width);
  const dy = shift(view.k * point.y + view.y, room.height);
  return dx === 0 && dy === 0 ? view : { k: view.k, x: view.x + dx, y: view.y + dy };
}
