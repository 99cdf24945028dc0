/** From a key press to an action, and how keys are written. */
import type { Action } from "../compute/action.ts";

/** Keys of what has the focus: they are handled there, and only named here. */
export const LOCAL_KEYS: readonly { keys: readonly string[]; does: string }[] = [
  { keys: ["ArrowLeft", "ArrowRight"], does: "token by token, or cell by cell" },
  {
    keys: ["ArrowUp", "ArrowDown"],
    does: "execution by execution, in the matrix; row by row, in a table of tokens",
  },
  { keys: ["Home", "End"], does: "to the first, to the last" },
  { keys: ["Enter"], does: "open the decision, pin the visit; in the filter, open the first task" },
  { keys: ["Alt+ArrowLeft"], does: "back to where you were (the browser’s Back)" },
];

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  /** The user is typing text: only Escape and keys with Ctrl or ⌘ are ours then. */
  typing: boolean;
  /** The `data-dialog` of the modal dialog that is open, "" for one without; null when none is. */
  dialog: string | null;
}

/** The action that a key press asks for, or null. */
export function actionFor(actions: readonly Action[], press: KeyPress): Action | null {
  if (press.altKey) return null;
  const mod = press.ctrlKey || press.metaKey;
  const name = mod ? `Mod+${press.key.toLowerCase()}` : press.key;
  for (const action of actions) {
    if (action.keys?.includes(name) !== true) continue;
    if (press.typing && !mod && action.whileTyping !== true) return null;
    // An open dialog takes only what closes it.
    if (press.dialog !== null && action.inDialog !== press.dialog) return null;
    return action;
  }
  return null;
}

const CAPS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  "-": "−",
};

/** A key as it is printed on the keyboard: `Mod+k` is `Ctrl K`, or `⌘ K` on a Mac. */
export function keyCaps(key: string, mac: boolean): string {
  return key
    .split(/\+(?=.)/)
    .map((part, i, parts) => {
      if (part === "Mod") return mac ? "⌘" : "Ctrl";
      return CAPS[part] ?? (parts.length > 1 && i > 0 ? part.toUpperCase() : part);
    })
    .join(" ");
}

export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);
