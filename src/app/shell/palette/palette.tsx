/** Ctrl-K: a combobox over everything that can be done and gone to. A native dialog, so that focus behaves. */

import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useDialog } from "../../base/use-dialog.ts";
import { useUi } from "../../compute/store.ts";
import { isMac, keyCaps } from "../keys.ts";
import { setShell, useShell } from "../shell-state.ts";
import type { Entry } from "./entries.ts";
import { find } from "./find.ts";
import { chosen } from "./recent.ts";

export function Palette() {
  const open = useShell((shell) => shell.paletteOpen);
  const dialog = useDialog(open);
  const choose = (entry: Entry): void => {
    // Closed first: the focus goes back to where it was, and what is chosen may put it elsewhere.
    dialog.current?.close();
    chosen(entry.id);
    entry.run();
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      data-dialog="palette"
      aria-label="Command palette"
      onClose={() => setShell({ paletteOpen: false })}
      onClick={(event) => {
        // Beside the dialog: the backdrop belongs to the element.
        if (event.target === dialog.current) dialog.current.close();
      }}
      onKeyDown={() => undefined}
    >
      {open && <Search choose={choose} />}
    </dialog>
  );
}

function Search({ choose: leaveWith }: { choose: (entry: Entry) => void }) {
  const [refused, setRefused] = useState("");
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  // Deferred: letters are heard at once, however long the list is.
  const asked = useDeferredValue(query);
  const ui = useUi();
  const { lines, total } = useMemo(() => find(ui, asked), [ui, asked]);
  const list = useRef<HTMLDivElement>(null);
  const active = Math.min(at, lines.length - 1);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const choose = (entry: Entry): void => {
    if (entry.blocked) setRefused(`${entry.title}: ${entry.detail}.`);
    else leaveWith(entry);
  };
  const move = (event: KeyboardEvent): void => {
    setRefused("");
    const last = lines.length - 1;
    if (event.key === "ArrowDown") setAt(active >= last ? 0 : active + 1);
    else if (event.key === "ArrowUp") setAt(active <= 0 ? last : active - 1);
    else if (event.key === "PageDown") setAt(Math.min(last, active + 8));
    else if (event.key === "PageUp") setAt(Math.max(0, active - 8));
    else if (event.key === "Enter") {
      // What stands there belongs to the letters before as long as the list is not drawn.
      const entry = (asked === query ? lines : find(ui, query).lines)[asked === query ? active : 0];
      if (entry !== undefined) choose(entry);
    } else return;
    event.preventDefault();
  };
  const mac = isMac();
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Find an action, a task, an episode, an execution"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={active >= 0 ? `palette-${active}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder="Action, task, episode, execution, or the number of a decision"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={move}
      />
      <div
        ref={list}
        id="palette-list"
        role="listbox"
        aria-label="Found"
        tabIndex={-1}
        onMouseDown={(event) => event.preventDefault()}
      >
        {lines.map((entry, i) => (
          <Line key={entry.id} entry={entry} at={i} active={i === active} mac={mac} choose={choose} />
        ))}
      </div>
      <p className="note" role="status">
        {refused !== ""
          ? refused
          : total === 0
            ? "Nothing has all of these words."
            : total > lines.length
              ? `${lines.length} of ${total.toLocaleString("en")} shown: type more to narrow them down.`
              : `${total} found`}
      </p>
    </>
  );
}

function Line({
  entry,
  at,
  active,
  mac,
  choose,
}: {
  entry: Entry;
  at: number;
  active: boolean;
  mac: boolean;
  choose: (entry: Entry) => void;
}) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox above has the keyboard
    <div
      id={`palette-${at}`}
      role="option"
      tabIndex={-1}
      aria-selected={active}
      aria-disabled={entry.blocked || undefined}
      className={active ? "active" : ""}
      onClick={() => choose(entry)}
    >
      <bdi className="palette-title">{entry.title}</bdi>
      <bdi className="palette-detail">{entry.detail}</bdi>
      <span className="palette-kind">{entry.kind}</span>
      {entry.keys.slice(0, 1).map((key) => (
        <kbd key={key}>{keyCaps(key, mac)}</kbd>
      ))}
    </div>
  );
}
