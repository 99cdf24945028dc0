/** Where the focus goes when the control that has it closes or is disabled. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** Whether no control has the focus: the page has it, or the view as a whole, or a control that is about to lose it. */
export function isFocusFree(): boolean {
  const { activeElement } = document;
  return (
    activeElement === document.body ||
    activeElement?.id === "view" ||
    activeElement?.matches(":disabled") === true
  );
}

/** For the control that opens a field: it has the focus again once the field is gone, unless something else took it. */
export function useFocusBack<T extends HTMLElement>(open: boolean): RefObject<T | null> {
  const control = useRef<T>(null);
  const before = useRef(open);
  useEffect(() => {
    if (before.current && !open && isFocusFree()) control.current?.focus();
    before.current = open;
  }, [open]);
  return control;
}

/**
 * For what comes between and takes the focus with it when it goes, such as a banner, or work that disables the button
 * that began it: what had the focus before has it again, unless something else took it.
 */
export function useFocusAsBefore(between: boolean): void {
  const before = useRef<Element | null>(null);
  // Before the browser draws: a button that was just disabled still has the focus.
  useLayoutEffect(() => {
    if (between) before.current = document.activeElement;
    else if (before.current instanceof HTMLElement && isFocusFree()) before.current.focus();
  }, [between]);
}
