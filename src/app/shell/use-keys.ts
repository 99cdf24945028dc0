/** The keyboard, wherever the focus is. */
import { useEffect } from "react";
import { ACTIONS, perform } from "./actions/index.ts";
import { isTyping } from "./is-typing.ts";
import { actionFor } from "./keys.ts";

export function useKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const dialog = openDialog();
      const action = actionFor(ACTIONS, { key, ctrlKey, metaKey, altKey, typing: isTyping(target), dialog });
      if (action !== null && perform(action)) event.preventDefault();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, []);
}

/** What the modal dialog on top calls itself; null when there is none. */
function openDialog(): string | null {
  const open = [...document.querySelectorAll<HTMLDialogElement>("dialog:modal")].at(-1);
  return open === undefined ? null : (open.dataset.dialog ?? "");
}
