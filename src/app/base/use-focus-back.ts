/** Where the focus goes when the control that has it closes or is disabled. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

/** Whether what had the focus is gone, or is disabled and about to lose it. */
const isFocusLost = (): boolean => document.activeElement?.matches("body, :disabled") === true;

/** Whether no control has the focus: it is lost, or the view as a whole has it. */
export const isFocusFree = (): boolean => isFocusLost() || document.activeElement?.id === "view";

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
 * that began it: what had the focus before has it again, unless the user has gone elsewhere, the view as a whole too.
 */
export function useFocusAsBefore(between: boolean): void {
  const before = useRef<Element | null>(null);
  // Before the browser draws: a button that was just disabled still has the focus.
  useLayoutEffect(() => {
    if (between) before.current = document.activeElement;
    else if (before.current instanceof HTMLElement && isFocusLost())
      before.current.focus({ preventScroll: true });
  }, [between]);
}
