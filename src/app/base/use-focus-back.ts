/** Where the focus goes when the field that has it closes. */
import { type RefObject, useEffect, useRef } from "react";

/** Whether no control has the focus: the page has it, or the view as a whole. */
export function isFocusFree(): boolean {
  const { activeElement } = document;
  return activeElement === document.body || activeElement?.id === "view";
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
