/**
 * Panning and zooming of one element by drag, wheel, pinch and keys. React has no part in it: each frame the view goes
 * to `draw`, at most once, however many events came in between.
 */

import { fitted, type GraphView, panned, readable, type Size, showing, zoomed } from "../graph-view.ts";
import type { Point } from "./graph-geometry.ts";

/** A press that moves less than this is a click, in CSS pixels. */
const CLICK = 4;
/** Milliseconds without a change after which the drawing rests. */
const REST = 160;

export class PanZoom {
  view: GraphView = { k: 1, x: 0, y: 0 };
  #drawing: Size = { width: 1, height: 1 };
  #room: Size = { width: 1, height: 1 };
  /** The user has chosen a part or a scale: it stays. */
  #chosen = false;
  /** Somebody asked for all of the drawing. */
  #whole = false;
  /** What was last brought into sight. */
  #target: Point | null = null;
  #frame = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;
  readonly #pointers = new Map<number, Point>();
  #pressed: Point | null = null;
  #dragging = false;
  readonly #element: HTMLElement;
  readonly #draw: (view: GraphView, moving: boolean) => void;

  /** `draw` learns whether more changes are about to follow. */
  constructor(element: HTMLElement, draw: (view: GraphView, moving: boolean) => void) {
    this.#element = element;
    this.#draw = draw;
  }

  /** Listens to the element. Returns the undo. */
  listen(): () => void {
    const element = this.#element;
    const stop = new AbortController();
    const on = <K extends keyof HTMLElementEventMap>(
      name: K,
      listener: (event: HTMLElementEventMap[K]) => void,
      options: AddEventListenerOptions = {},
    ): void => element.addEventListener(name, listener, { ...options, signal: stop.signal });
    on("wheel", (event) => this.#wheel(event), { passive: false });
    on("pointerdown", (event) => this.#press(event));
    on("pointermove", (event) => this.#move(event));
    for (const name of ["pointerup", "pointercancel"] as const) on(name, (event) => this.#lift(event));
    // What ends a drag is not a click on what lies under the pointer.
    on(
      "click",
      (event) => {
        if (this.#dragging) event.stopPropagation();
        this.#dragging = false;
      },
      { capture: true },
    );
    return () => {
      stop.abort();
      cancelAnimationFrame(this.#frame);
      clearTimeout(this.#rest);
    };
  }

  /** Another drawing, or another room for it. */
  resize(drawing: Size, room: Size): void {
    this.#drawing = drawing;
    this.#room = room;
    if (this.#chosen) this.view = panned(this.view, { x: 0, y: 0 }, drawing, room);
    else {
      const view = (this.#whole ? fitted : readable)(drawing, room);
      this.view = this.#target === null ? view : showing(view, this.#target, room);
    }
    this.#draw(this.view, false);
  }

  /** All of the drawing, or as much as can be read; from here on it follows the room again. */
  fit(): void {
    this.#chosen = false;
    this.#whole = true;
    this.#set(fitted(this.#drawing, this.#room));
  }

  /** Around the middle, or around a point of the element. */
  zoom(factor: number, at: Point = { x: this.#room.width / 2, y: this.#room.height / 2 }): void {
    this.#chosen = true;
    this.#set(zoomed(this.view, factor, at, this.#drawing, this.#room));
  }

  /** Brings a point of the drawing into sight. */
  show(point: Point): void {
    this.#target = point;
    this.#set(showing(this.view, point, this.#room));
  }

  /** The point of the drawing under a pointer. */
  under(event: { clientX: number; clientY: number }): Point {
    const { x, y } = this.#inside(event);
    return { x: (x - this.view.x) / this.view.k, y: (y - this.view.y) / this.view.k };
  }

  #inside({ clientX, clientY }: { clientX: number; clientY: number }): Point {
    const { left, top } = this.#element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  #set(view: GraphView): void {
    if (view.k === this.view.k && view.x === this.view.x && view.y === this.view.y) return;
    this.view = view;
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw(this.view, true);
      clearTimeout(this.#rest);
      this.#rest = setTimeout(() => this.#draw(this.view, false), REST);
    });
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.ctrlKey || event.metaKey) {
      const factor = Math.exp((-event.deltaY * unit) / 240);
      this.zoom(Math.min(1.5, Math.max(1 / 1.5, factor)), this.#inside(event));
      return;
    }
    const [dx, dy] = event.shiftKey ? [event.deltaY + event.deltaX, 0] : [event.deltaX, event.deltaY];
    this.#pan({ x: -dx * unit, y: -dy * unit });
  }

  #pan(by: Point): void {
    this.#chosen = true;
    this.#set(panned(this.view, by, this.#drawing, this.#room));
  }

  #press(event: PointerEvent): void {
    if (event.button > 1) return;
    this.#dragging = false;
    const at = this.#inside(event);
    this.#pointers.set(event.pointerId, at);
    this.#pressed = at;
  }

  #move(event: PointerEvent): void {
    const before = this.#pointers.get(event.pointerId);
    if (before === undefined) return;
    const at = this.#inside(event);
    if (!this.#dragging) {
      const from = this.#pressed ?? at;
      if (Math.hypot(at.x - from.x, at.y - from.y) < CLICK) return;
      this.#dragging = true;
      this.#element.setPointerCapture(event.pointerId);
      this.#element.classList.add("dragging");
    }
    this.#pointers.set(event.pointerId, at);
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      this.#pan({ x: at.x - before.x, y: at.y - before.y });
      return;
    }
    // Two fingers: their distance is the scale, the middle between them stays.
    const apart = (point: Point): number => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
    this.zoom(apart(at) / apart(before), { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 });
    this.#pan({ x: (at.x - before.x) / 2, y: (at.y - before.y) / 2 });
  }

  #lift(event: PointerEvent): void {
    this.#pointers.delete(event.pointerId);
    if (this.#pointers.size === 0) this.#element.classList.remove("dragging");
  }
}
