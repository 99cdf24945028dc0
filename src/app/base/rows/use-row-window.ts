/** Follows a scrolling element and says which rows of the list in it are to be drawn. */
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import { remPixels } from "../rem.ts";
import { evenRows, type RowHeights, type RowWindow, rowWindow, type Scrolled } from "./row-window.ts";

/** Rows of `rowHeight` rem each. Goes back to the top when `list` is another one, or else when `top` is. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  list: readonly unknown[],
  rowHeight: number,
  top: unknown = list,
): RowWindow {
  const { length } = list;
  const heights = useMemo(() => evenRows(length, rowHeight * remPixels()), [length, rowHeight]);
  return useRowHeights(scroller, heights, top);
}

const same = (a: RowWindow, b: RowWindow): boolean =>
  a.first === b.first && a.end === b.end && a.before === b.before && a.after === b.after;

/**
 * Rows of any known heights; goes back to the top when `top` is another value. `most`: what scrolls is hardly ever
 * higher, in CSS pixels, so that its height need not be asked for before the first frame. `within`: a selector of what
 * scrolls, where that is not the element itself but something around it, with more than these rows in it.
 */
export function useRowHeights(
  scroller: RefObject<HTMLElement | null>,
  heights: RowHeights,
  top: unknown,
  { overscan, most, within }: { overscan?: number; most?: number; within?: string } = {},
): RowWindow {
  const [scrolled, setScrolled] = useState<Scrolled>({ top: 0, height: most ?? 1000 });
  const drawn = useRef(heights);
  /** How far the element is scrolled, without asking it: that would lay the page out. */
  const at = useRef(0);
  useLayoutEffect(() => {
    drawn.current = heights;
  }, [heights]);
  useLayoutEffect(() => {
    const element = scroller.current;
    const around = within === undefined ? element : (element?.closest(within) ?? null);
    if (element === null || around === null) return;
    const above = (): number => around.getBoundingClientRect().top - element.getBoundingClientRect().top;
    const look = (): void => {
      const next = { top: around === element ? element.scrollTop : above(), height: around.clientHeight };
      at.current = next.top;
      const shows = (each: Scrolled): RowWindow => rowWindow(drawn.current, each, overscan);
      // Within a row nothing is redrawn.
      setScrolled((before) => (same(shows(before), shows(next)) ? before : next));
    };
    if (most === undefined) look();
    around.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    observer.observe(around);
    return () => {
      around.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [scroller, overscan, most, within]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list starts at its top
  useLayoutEffect(() => {
    if (within === undefined && at.current > 0) scroller.current?.scrollTo({ top: 0 });
  }, [scroller, top, within]);
  return rowWindow(heights, scrolled, overscan);
}
