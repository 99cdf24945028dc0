/** Actions that change which evidence the method is given. */
import { CONTROLS } from "../../../core/retrieval/selection.ts";
import { type Action, aDecision, needs } from "../../compute/action.ts";
import { saveWhatIf } from "../../compute/scoring/what-if-record.ts";
import { getUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { CONTROL_TITLES, FULL_METHOD, whatIfWords } from "../../url/what-if.ts";
import { openEvidenceEditor } from "./evidence-editing.ts";
import { resetWhatIf } from "./reset-what-if.ts";
import { changeRetrieval, switchSource } from "./what-if.ts";

export const WHAT_IF: readonly Action[] = [
  ...CONTROLS.map(
    (control): Action => ({
      id: `control-${control}`,
      title: `Evidence: ${CONTROL_TITLES[control]}`,
      group: "What if",
      words: "control ablation",
      blocked: ({ place }) => (place.control === control ? "this is the present one" : null),
      run: () => changeRetrieval({ control }),
    }),
  ),
  {
    id: "full-method",
    title: `Reset to ${FULL_METHOD}`,
    group: "What if",
    words: "off clear control full method",
    blocked: ({ place }) => (whatIfWords(place).length === 0 ? `this is ${FULL_METHOD}` : null),
    run: resetWhatIf,
  },
  {
    id: "reference-off",
    title: "Switch the successful reference off",
    group: "What if",
    keys: ["w"],
    words: "source execution without",
    blocked: needs(aDecision, ({ decision }) =>
      (decision?.retrieval.record.success ?? null) === null ? "no successful record is retained" : null,
    ),
    run: () => {
      const source = getUi().decision?.retrieval.record.success?.source;
      if (source !== undefined) switchSource(source, false);
    },
  },
  {
    id: "edit-evidence",
    title: "Edit the evidence",
    group: "What if",
    keys: ["m"],
    words: "change text leave out part",
    blocked: aDecision,
    run: () => {
      if (getUi().place.view !== "task") navigate({ view: "task" }, "push");
      openEvidenceEditor();
    },
  },
  {
    id: "save-what-if",
    title: "Save the what-if as a record",
    group: "What if",
    words: "export file download",
    blocked: needs(aDecision, ({ decision }) =>
      (decision?.full ?? null) === null ? "nothing is changed" : null,
    ),
    run: saveWhatIf,
  },
];
