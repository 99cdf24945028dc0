/** Where the element that a step points at is, for as long as it is pointed at. */
import { useEffect, useState } from "react";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Follows the element through scrolling and drawing; null while there is none. It is brought into sight once. */
export function useTarget(selector: string): Box | null {
  const [box, setBox] = useState<Box | null>(null);
  useEffect(() => {
    let shown: Element | null = null;
    let frame = 0;
    const look = (): void => {
      const target = document.querySelector(selector);
      if (target !== null && target !== shown) target.scrollIntoView({ block: "nearest" });
      shown = target;
      const rect = target?.getBoundingClientRect();
      setBox((before) => {
        if (rect === undefined) return null;
        const { left, top, width, height } = rect;
        const same =
          before !== null &&
          before.left === left &&
          before.top === top &&
          before.width === width &&
          before.height === height;
        return same ? before : { left, top, width, height };
      });
      frame = requestAnimationFrame(look);
    };
    look();
    return () => cancelAnimationFrame(frame);
  }, [selector]);
  return box;
}

/** Beside the box where there is room, below or above it otherwise, and always whole on the screen. */
export function placeBeside(
  box: Box | null,
  card: { width: number; height: number },
  screen: { width: number; height: number },
  gap = 14,
): { left: number; top: number } {
  const within = (value: number, size: number, whole: number): number =>
    Math.max(gap, Math.min(value, whole - size - gap));
  if (box === null) {
    return { left: screen.width - card.width - gap, top: screen.height - card.height - gap };
  }
  // What is out of sight has no side to be beside.
  const edge = (value: number, whole: number): number => Math.max(0, Math.min(value, whole));
  const right = edge(box.left + box.width, screen.width);
  const bottom = edge(box.top + box.height, screen.height);
  const top = within(box.top, card.height, screen.height);
  const left = within(box.left, card.width, screen.width);
  if (screen.width - right >= card.width + 2 * gap) return { left: right + gap, top };
  const start = edge(box.left, screen.width);
  const head = edge(box.top, screen.height);
  if (start >= card.width + 2 * gap) return { left: start - card.width - gap, top };
  if (screen.height - bottom >= card.height + 2 * gap) return { left, top: bottom + gap };
  if (head >= card.height + 2 * gap) return { left, top: head - card.height - gap };
  // No room beside it: over its lower right corner.
  return {
    left: within(right - card.width - gap, card.width, screen.width),
    top: within(bottom - card.height - gap, card.height, screen.height),
  };
}
