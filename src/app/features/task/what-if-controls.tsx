/**
 * The controls of the paper's ablations, for everything that is shown and done from here on. They fold away; what they
 * are set to, and what was changed by hand, is always said.
 */
import { memo, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { countOf } from "../../../core/plural.ts";
import { CONTROLS, SOURCE_BUDGETS } from "../../../core/retrieval/selection.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { useUi } from "../../compute/store.ts";
import { partName } from "../../url/part-name.ts";
import {
  CONTROL_TITLES,
  controlsOf,
  evidenceWords,
  isByHand,
  NO_CONTROLS,
  parseBudget,
  pinWords,
  selectionWords,
  whatIfWords,
} from "../../url/what-if.ts";
import { changeRetrieval, chooseReference, editEvidence, showPart, switchSource } from "./what-if.ts";

/** `leftOut`: recorded executions of the task that do not take part. */
export const WhatIfControls = memo(function WhatIfControls({ leftOut }: { leftOut: number }) {
  const controls = useUi(useShallow((ui) => controlsOf(ui.place)));
  const byHand = useUi((ui) => isByHand(ui.place));
  const { control, sourcesPerTask, augmentation, terminalFailureNote } = controls;
  const isChanged = whatIfWords(controls).length > 0;
  // A link with changed controls shows them.
  const [open, setOpen] = useState(isChanged);
  return (
    <div className="what-if-controls">
      <button
        type="button"
        className="plain"
        aria-expanded={open}
        aria-controls="what-if-controls"
        onClick={() => setOpen(!open)}
      >
        <span aria-hidden="true">{open ? "▾" : "▸"}</span> What if
      </button>
      {/* With a change by hand it is no longer the full method; the chips say what it is. */}
      {!open && (isChanged || !byHand) && <span className="note">{evidenceWords(controls)}</span>}
      <fieldset id="what-if-controls" hidden={!open}>
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
            value={sourcesPerTask ?? "all"}
            onChange={(event) => changeRetrieval({ sourcesPerTask: parseBudget(event.target.value) })}
          >
            <option value="all">all</option>
            {SOURCE_BUDGETS.map((k) => (
              <option key={k} value={k}>
                {k}
              </option>
            ))}
          </select>
        </label>
        <label title="Includes planner and oracle records: GC-OPD + GA with them, GC-OPD without">
          <input
            type="checkbox"
            checked={augmentation}
            onChange={(event) => changeRetrieval({ augmentation: event.target.checked })}
          />
          Augmentation
        </label>
        <label title="The evidence says so at the last decision of an episode that ended by itself with a negative score">
          <input
            type="checkbox"
            checked={terminalFailureNote}
            onChange={(event) => changeRetrieval({ terminalFailureNote: event.target.checked })}
          />
          Terminal-failure note
        </label>
      </fieldset>
      {leftOut > 0 && (
        <span className="note" data-testid="left-out">
          {countOf(leftOut, "recorded execution")} {leftOut === 1 ? "does" : "do"} not take part
        </span>
      )}
      <Chips part={open} />
    </div>
  );
});

/** Each change made by hand, with a button that takes it back; with `part`, the part of the library, too. */
function Chips({ part }: { part: boolean }) {
  const subset = useUi(({ place }) => place.subset);
  const { without, pin, pinFailure, leaveOut, text } = useUi(
    useShallow(({ place: { without, pin, pinFailure, leaveOut, text } }) => ({
      without,
      pin,
      pinFailure,
      leaveOut,
      text,
    })),
  );
  const chips: { words: string; undo: () => void }[] = [
    ...(subset === NO_CONTROLS.subset || !part
      ? []
      : [
          {
            words: selectionWords({ subset }, {}).join(", "),
            undo: () => changeRetrieval({ subset: NO_CONTROLS.subset }),
          },
        ]),
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
