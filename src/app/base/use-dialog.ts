import { type RefObject, useEffect, useRef } from "react";

/** A native modal dialog that is shown while `open`. Its `onClose` has to say so where the state is kept. */
export function useDialog(open: boolean): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return dialog;
}
