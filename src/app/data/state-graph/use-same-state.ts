/**
 * Marks every element with the hovered state's `data-state` inside a container. Done on the elements themselves: a
 * hover must not make hundreds of cells render again.
 */
import { type RefObject, useEffect } from "react";
import { setData, useData } from "../store.ts";

export function useSameState(container: RefObject<Element | null>): void {
  useEffect(() => {
    const mark = (state: number | null): void => {
      const root = container.current;
      if (root === null) return;
      for (const old of root.querySelectorAll(".same-state")) old.classList.remove("same-state");
      if (state === null) return;
      for (const same of root.querySelectorAll(`[data-state="${state}"]`)) same.classList.add("same-state");
    };
    return useData.subscribe((now, before) => {
      if (now.hoveredState !== before.hoveredState) mark(now.hoveredState);
    });
  }, [container]);
}

/** The state under the pointer or the focus; null for anything else. */
export function hoverState(target: EventTarget | null): void {
  const element = target instanceof Element ? target.closest("[data-state]") : null;
  const text = element?.getAttribute("data-state") ?? "";
  setData({ hoveredState: text === "" ? null : Number(text) });
}
