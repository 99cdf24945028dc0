/** How the evidence is shown, and opening its editor, from a key or a button: who asks for it is taken to it. */
import { create } from "zustand";
import { Shown } from "../../base/shown.ts";

export const EVIDENCE_MODES = ["text", "changes", "edit"] as const;
export type EvidenceMode = (typeof EVIDENCE_MODES)[number];

/** How the evidence of the task view is shown; null: what a what-if changes in it, else the text. */
export const useEvidenceMode = create<{ mode: EvidenceMode | null }>(() => ({ mode: null }));

/** What was typed into the editor and neither applied nor cancelled, by decision. */
export const useDrafts = create<Readonly<Record<string, string>>>(() => ({}));

/** @param text null once it is applied or cancelled */
export function keepDraft(at: string, text: string | null): void {
  const { [at]: _, ...others } = useDrafts.getState();
  useDrafts.setState(text === null ? others : { ...others, [at]: text }, true);
}

export const showEvidence = (mode: EvidenceMode | null): void => useEvidenceMode.setState({ mode });

/** The editor, by the function that takes the user to it. */
const editor = new Shown<() => void>();

/** Shows the evidence editor of the task view, in sight and with the focus. */
export function openEvidenceEditor(): void {
  editor.whenShown((focus) => focus());
  showEvidence("edit");
}

/** The editor is drawn: `focus` takes the user to it. Returns the undo. */
export const evidenceEditorShown = (focus: () => void): (() => void) => editor.show(focus);
