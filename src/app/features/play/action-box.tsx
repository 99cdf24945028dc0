/** A person decides: types an action, or chooses one that is on offer. */
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { EnvironmentTurn, Offered } from "../../../core/ports.ts";
import { shownText } from "../../base/text/shown-text.ts";
import { player, setPlay, usePlay } from "../../compute/games/play.ts";
import { getUi } from "../../compute/store.ts";
import {
  beginningOf,
  filteredActions,
  hasSearch,
  isTemplated,
  menuEntries,
  narrowedToOne,
  offeredActions,
  SEARCH,
} from "./offered-actions.ts";

/** Options that are drawn; words narrow a longer list. */
const MOST_OPTIONS = 200;

/** `disabled`: an action is being answered. The field keeps the focus meanwhile, so that what is typed is no shortcut. */
export function ActionBox({ turn, disabled }: { turn: EnvironmentTurn; disabled: boolean }) {
  const { offered } = turn;
  const draft = usePlay((play) => play.draft);
  const [choice, setChoice] = useState<{ at: number; draft: string; offered: Offered | null } | null>(null);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const all = offeredActions(turn, draft);
  const found = filteredActions(all, draft, isTemplated(offered));
  const shown = found.slice(0, MOST_OPTIONS);
  // Another turn or other words make another list; nothing in it is chosen yet, unless the words leave one action only.
  const isSameList = choice?.draft === draft && choice.offered === offered;
  const active = isSameList ? choice.at : narrowedToOne(all, found) ? 0 : -1;
  const setActive = (at: number): void => setChoice({ at, draft, offered });
  const chosen = shown[active];
  // The first turn follows the press that began the episode; later ones take the focus only where nothing else has it.
  const isFirst = useRef(getUi().playing === null);
  useEffect(() => {
    if (disabled) return;
    const { activeElement, body } = document;
    if (isFirst.current || activeElement === body || box.current?.contains(activeElement))
      input.current?.focus();
    isFirst.current = false;
  }, [disabled]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  });
  const choose = (action: string): void => {
    const begins = beginningOf(action);
    if (begins === null) void player.act(menuEntries(turn.state).get(action) ?? action);
    else setPlay({ draft: begins });
    // Also from a button, which gives the focus away when it is disabled.
    input.current?.focus();
  };
  const press = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined && shown.length > 0) {
      setActive((active + by + (active < 0 && by < 0 ? 1 : 0) + shown.length) % shown.length);
    } else if (event.key === "Escape" && active >= 0) setActive(-1);
    else if (event.key === "Enter") choose(chosen ?? draft);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={box} className="action-box">
      <div className="action-line-box">
        <label htmlFor={`${id}-text`}>Your action</label>
        <input
          ref={input}
          id={`${id}-text`}
          type="text"
          role="combobox"
          aria-expanded={shown.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen === undefined ? undefined : `${id}-${active}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          readOnly={disabled}
          value={draft}
          placeholder="filter by words, or type a whole action"
          title="Up and Down select, Enter plays"
          data-testid="action"
          onChange={({ target }) => setPlay({ draft: target.value })}
          onKeyDown={press}
        />
        <button
          type="button"
          className="primary"
          disabled={disabled || (chosen ?? draft).trim() === ""}
          onClick={() => choose(chosen ?? draft)}
        >
          Play
        </button>
        {hasSearch(offered) && (
          <button
            type="button"
            disabled={disabled}
            onClick={() => {
              setPlay({ draft: SEARCH });
              input.current?.focus();
            }}
          >
            Search…
          </button>
        )}
      </div>
      <p className="note" role="status">
        {found.length === all.length ? `${all.length} on offer` : `${found.length} of ${all.length} on offer`}
        {found.length > MOST_OPTIONS && `, the first ${MOST_OPTIONS} shown`}
        {hasSearch(offered) && "; search[words] searches"}
      </p>
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label="On offer"
        className="offers"
        hidden={all.length === 0}
      >
        {shown.map((action, n) => (
          <button
            key={action}
            type="button"
            id={`${id}-${n}`}
            role="option"
            tabIndex={-1}
            aria-selected={n === active}
            disabled={disabled}
            onClick={() => choose(action)}
          >
            <code>{shownText(action)}</code>
          </button>
        ))}
      </div>
    </div>
  );
}
