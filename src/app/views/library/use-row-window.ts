/** Follows a scrolling element and says which rows of the list in it are to be drawn. */
import { type RefObject, useLayoutEffect, useState } from "react";
import { type RowWindow, rowWindow, type Scrolled } from "./row-window.ts";

/** Rows of `rowHeight` CSS pixels each. Goes back to the top when `list` is another one, or else when `top` is. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  list: readonly unknown[],
  rowHeight: number,
  top: unknown = list,
): RowWindow {
  const [scrolled, setScrolled] = useState<Scrolled>({ top: 0, height: 1000 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = (): void => {
      const next = { top: element.scrollTop, height: element.clientHeight };
      setScrolled((before) => (before.height === next.height && before.top === next.top ? before : next));
    };
    look();
    element.addEventListener("scroll", look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, [scroller]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list starts at its top
  useLayoutEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [scroller, top]);
  return rowWindow(list.length, rowHeight, scrolled);
}
