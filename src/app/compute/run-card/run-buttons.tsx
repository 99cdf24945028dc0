import { useEffect, useRef } from "react";
import { ENDED } from "../../../protocol/job-state.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { isFocusFree } from "../../base/use-focus-back.ts";
import { useStudentRun } from "../models/models.ts";
import { canResume } from "../runs/launches.ts";
import type { Run } from "../runs/run.ts";
import { cancelRun, removeRun, resumeRun, stopRun } from "../runs/run-actions.ts";
import { lastSaid } from "../runs/state-word.ts";

/** Asked before a run is removed. `isOpen`: its student is the one that is open. */
export function removalQuestion({ title, launched }: Run, isOpen: boolean): string {
  const name = shownName(title);
  if (launched !== undefined)
    return `Remove “${name}” from the list, with what was fetched of it? Its folder on the target stays: ${launched.folder}`;
  const only = isOpen ? " Its student is open, and will be lost with this tab unless you save it." : "";
  return `Remove “${name}” with everything that was kept of it?${only} This cannot be undone.`;
}

/** Whether a run of the page has taken its steps: its student is only being kept, and nothing is left to end. */
function isOver(run: Run): boolean {
  const last = lastSaid(run);
  return run.where === "page" && (last === "done" || last === "stopped");
}

/** What a run's state allows. */
export function RunButtons({ run }: { run: Run }) {
  const { id, state, title, stream } = run;
  const buttons = useRef<HTMLSpanElement>(null);
  const pressed = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another state has other buttons
  useEffect(() => {
    // The button that was pressed is gone. Not on to another: a key that is held would press that too.
    if (!pressed.current || !isFocusFree()) return;
    pressed.current = false;
    buttons.current?.focus({ preventScroll: true });
  }, [state]);
  // Another tab has it until it is written down.
  const elsewhere = stream === "other-tab";
  const of = `${shownName(title)}, ${id}`;
  const going = !ENDED.includes(state) && !isOver(run);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand in a line of text
    <span
      ref={buttons}
      className="run-buttons"
      role="group"
      aria-label={`Run ${of}`}
      tabIndex={-1}
      onClickCapture={({ detail }) => {
        // A key's click has no count.
        pressed.current = detail === 0;
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        // A button that goes gives the focus to nothing.
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) pressed.current = false;
      }}
    >
      {going && (state === "running" || state === "queued") && (
        <button type="button" onClick={() => void stopRun(id)} aria-label={`Stop after this step: ${of}`}>
          Stop
        </button>
      )}
      {going && (
        <button type="button" onClick={() => void cancelRun(id)} aria-label={`Cancel at once: ${of}`}>
          Cancel
        </button>
      )}
      {canResume(run) && !elsewhere && (
        <button type="button" onClick={() => void resumeRun(id)} aria-label={`Resume: ${of}`}>
          Resume
        </button>
      )}
      {ENDED.includes(state) && !elsewhere && (
        <button
          type="button"
          onClick={() => {
            if (window.confirm(removalQuestion(run, useStudentRun.getState().id === id))) void removeRun(id);
          }}
          aria-label={`Remove: ${of}`}
        >
          Remove…
        </button>
      )}
    </span>
  );
}
