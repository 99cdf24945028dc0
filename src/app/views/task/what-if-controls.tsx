/** The controls of the paper's ablations, for everything that is shown and done from here on. */

import { CONTROLS, SOURCE_BUDGETS } from "../../../core/retrieval/selection.ts";
import { partName } from "../../place/part-name.ts";
import { CONTROL_TITLES, pinWords } from "../../place/what-if.ts";
import {
  changeRetrieval,
  chooseReference,
  editEvidence,
  showPart,
  switchSource,
} from "../../session/what-if.ts";
import { countOf } from "../../shell/plural.ts";
import { useUi } from "../../state/store.ts";
import { shownName } from "../../text/shown-text.ts";

/** `leftOut`: recorded executions of the task that do not take part. */
export function WhatIfControls({ leftOut }: { leftOut: number }) {
  const { control, budget, augmentation, terminalNote } = useUi((ui) => ui.place);
  return (
    <fieldset className="what-if-controls">
      <legend className="hidden-visually">What if</legend>
      <label>
        <span className="caption">Evidence</span>
        <select
          value={control}
          onChange={(event) =>
            changeRetrieval({ control: CONTROLS.find((name) => name === event.target.value) ?? "graph" })
          }
        >
          {CONTROLS.map((name) => (
            <option key={name} value={name}>
              {CONTROL_TITLES[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="caption">Sources per task (K)</span>
        <select
          value={budget ?? "all"}
          onChange={(event) =>
            changeRetrieval({ budget: SOURCE_BUDGETS.find((k) => String(k) === event.target.value) ?? null })
          }
        >
          <option value="all">all</option>
          {SOURCE_BUDGETS.map((k) => (
            <option key={k} value={k}>
              {k}
            </option>
          ))}
        </select>
      </label>
      <label title="Planner and oracle records take part: with them GC-OPD+GA, without them GC-OPD">
        <input
          type="checkbox"
          checked={augmentation}
          onChange={(event) => changeRetrieval({ augmentation: event.target.checked })}
        />
        Augmentation
      </label>
      <label title="The last decision of an episode that ended by itself with a negative score says so">
        <input
          type="checkbox"
          checked={terminalNote}
          onChange={(event) => changeRetrieval({ terminalNote: event.target.checked })}
        />
        Terminal-failure note
      </label>
      {leftOut > 0 && (
        <span className="note" data-testid="left-out">
          {countOf(leftOut, "recorded execution")} not taking part
        </span>
      )}
      <ByHand />
    </fieldset>
  );
}

/** What was changed by hand, each to be taken back by itself. */
function ByHand() {
  const { without, pin, pinFailure, leaveOut, text } = useUi((ui) => ui.place);
  const chips: { words: string; undo: () => void }[] = [
    ...without.map((source) => ({
      words: `${shownName(source, 80)} off`,
      undo: () => switchSource(source, true),
    })),
    ...(pin === null
      ? []
      : [{ words: `success: ${pinWords(pin)}`, undo: () => chooseReference("success", null) }]),
    ...(pinFailure === null
      ? []
      : [{ words: `failure: ${pinWords(pinFailure)}`, undo: () => chooseReference("failure", null) }]),
    ...leaveOut.map((part) => ({ words: `without ${partName(part)}`, undo: () => showPart(part, true) })),
    ...(text === null ? [] : [{ words: "evidence edited", undo: () => editEvidence(null) }]),
  ];
  return chips.map(({ words, undo }) => (
    <span key={words} className="what-if-chip">
      <bdi>{words}</bdi>
      <button type="button" className="plain" aria-label={`Take back: ${words}`} onClick={undo}>
        ×
      </button>
    </span>
  ));
}
