/** The keyboard sheet and the legend of marks: a native dialog, so that focus and Escape behave. */

import { Mark } from "../base/mark.tsx";
import { useDialog } from "../base/use-dialog.ts";
import { ACTIONS, GROUPS } from "./actions/index.ts";
import { isMac, keyCaps, LOCAL_KEYS } from "./keys.ts";
import { setShell, useShell } from "./shell-state.ts";

export function HelpDialog() {
  const open = useShell((shell) => shell.helpOpen);
  const dialog = useDialog(open);
  return (
    <dialog
      ref={dialog}
      className="help keys"
      data-dialog="help"
      aria-labelledby="help-title"
      onClose={() => setShell({ helpOpen: false })}
    >
      <header>
        <h2 id="help-title">Keys and marks</h2>
        <button type="button" onClick={() => setShell({ helpOpen: false })}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
      <div className="columns">
        <div className="key-groups">
          {GROUPS.map((group) => (
            <KeyGroup
              key={group}
              title={group}
              lines={ACTIONS.filter((action) => action.group === group).flatMap(({ keys, title }) =>
                keys === undefined ? [] : [{ keys, does: title }],
              )}
            />
          ))}
          <KeyGroup title="Where the focus is" lines={LOCAL_KEYS} />
        </div>
        <div>
          <h3>Marks</h3>
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
              <dt>
                <Mark success={null} />
              </dt>
              <dd>execution whose outcome nobody recorded, or student episode that broke off</dd>
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
              <dt>
                <s>A</s>
              </dt>
              <dd>a state where the action was rejected, malformed or rolled back</dd>
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
              <dd>solid: eligible visit; double: tied at the least cost; dotted: matched, but rejected</dd>
            </div>
          </dl>
        </div>
      </div>
      <footer>
        <p>
          <kbd>{keyCaps("Mod+k", isMac())}</kbd> finds every action, with or without a key, and every task,
          episode and execution. Going somewhere is a step of the browser’s history: its Back undoes it.
        </p>
        <p>
          A <em>visit</em> is one passing of a state by one execution; an <em>execution</em> is one whole
          recorded source. An execution may visit a state several times, so the two counts differ.
        </p>
      </footer>
    </dialog>
  );
}

/** The keys of one group; nothing where it has none. */
function KeyGroup({
  title,
  lines,
}: {
  title: string;
  lines: readonly { keys: readonly string[]; does: string }[];
}) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {lines.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{keyCaps(key, isMac())}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
