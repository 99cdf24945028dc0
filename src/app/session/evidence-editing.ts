/** Opening the evidence editor, from a key or a button: who asks for it is taken to it. */
import { setUi } from "../state/store.ts";

/** An editor was asked for and is not drawn yet. */
let waiting = false;
let shown: (() => void) | null = null;

/** Shows the evidence editor of the task view, in sight and with the focus. */
export function openEvidenceEditor(): void {
  waiting = shown === null;
  shown?.();
  setUi({ evidenceMode: "edit" });
}

/** The editor is drawn: `focus` takes the user to it. Returns the undo. */
export function evidenceEditorShown(focus: () => void): () => void {
  shown = focus;
  if (waiting) focus();
  waiting = false;
  return () => {
    if (shown === focus) shown = null;
  };
}
