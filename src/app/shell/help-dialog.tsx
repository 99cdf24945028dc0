/** The keyboard sheet and the legend of marks: a native dialog, so that focus and Escape behave. */
import { useEffect, useRef } from "react";
import { setUi, useUi } from "../state/store.ts";
import { KEYS } from "./keys.ts";
import { Mark } from "./mark.tsx";

export function HelpDialog() {
  const open = useUi((ui) => ui.helpOpen);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return (
    <dialog
      ref={dialog}
      className="help"
      aria-labelledby="help-title"
      onClose={() => setUi({ helpOpen: false })}
    >
      <header>
        <h2 id="help-title">Keys and marks</h2>
        <button type="button" onClick={() => setUi({ helpOpen: false })}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <div className="columns">
        <dl>
          {KEYS.map(({ keys, does }) => (
            <div key={does}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <dl>
          <div>
            <dt>
              <Mark success />
            </dt>
            <dd>execution that succeeded</dd>
          </div>
          <div>
            <dt>
              <Mark success={false} />
            </dt>
            <dd>execution that did not</dd>
          </div>
          <div>
            <dt>A, B…</dt>
            <dd>a state that two or more executions visited</dd>
          </div>
          <div>
            <dt>·</dt>
            <dd>a state that one execution visited</dd>
          </div>
          <div>
            <dt>⊥</dt>
            <dd>unreliable capture: matches nothing</dd>
          </div>
          <div>
            <dt>★</dt>
            <dd>the winner of the ranking</dd>
          </div>
          <div>
            <dt>⚑</dt>
            <dd>the anchor</dd>
          </div>
          <div>
            <dt>▭ / ┄</dt>
            <dd>solid: eligible visit; dotted: matched, but rejected</dd>
          </div>
        </dl>
      </div>
      <footer>
        A <em>visit</em> is one passing of a state by one execution; an <em>execution</em> is one whole
        recorded source. An execution may visit a state several times, so the two counts differ.
      </footer>
    </dialog>
  );
}
