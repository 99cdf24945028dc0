/** The tasks of the open games; a press starts one. */
import { useEffect, useMemo, useRef, useState } from "react";
import { countOf } from "../../../core/plural.ts";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { isFocusFree } from "../../base/use-focus-back.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { findGames, kindOfGame } from "../../compute/games/find-games.ts";
import { closeGames, useGames } from "../../compute/games/games.ts";
import { player, usePlay } from "../../compute/games/play.ts";
import { useUi } from "../../compute/store.ts";

/** A longer list would take long to draw, and nobody reads it. */
const MOST_LINES = 300;

export function GameList() {
  const tasks = useGames((games) => games.tasks);
  const game = usePlay((play) => play.game);
  const busy = usePlay((play) => play.busy);
  const playing = useUi((ui) => ui.playing !== null);
  // A run goes on to games that it has not begun.
  const atWork = useUi(isModelAtWork);
  const [filter, setFilter] = useState("");
  const [type, setType] = useState("");
  const types = useMemo(() => [...new Set(tasks.map(kindOfGame))].sort(), [tasks]);
  const found = useMemo(() => findGames(tasks, { type, words: filter }), [tasks, filter, type]);
  const opening = useGames((games) => games.opening !== null);
  useEffect(() => {
    // When a button is disabled, browsers take its focus away later or not at all.
    const { activeElement } = document;
    if (opening && activeElement instanceof HTMLButtonElement && activeElement.disabled) activeElement.blur();
  }, [opening]);
  const list = useRef<HTMLUListElement>(null);
  const before = useRef(tasks);
  useEffect(() => {
    const { length: first } = before.current;
    const opened = tasks !== before.current;
    before.current = tasks;
    // To the first that is new, where nothing else has taken the focus.
    if (!opened || !isFocusFree()) return;
    const at = Math.max(0, found.indexOf(tasks[first] ?? tasks[0]!));
    list.current?.querySelectorAll("button")[at]?.focus();
  }, [tasks, found]);
  if (tasks.length === 0) return null;
  return (
    <>
      <div className="make-row game-filter">
        <label className="form-field">
          <span className="caption">Filter</span>
          <input type="search" value={filter} onChange={({ target }) => setFilter(target.value)} />
        </label>
        <label className="form-field">
          <span className="caption">Type</span>
          <select value={types.includes(type) ? type : ""} onChange={({ target }) => setType(target.value)}>
            <option value="">all types</option>
            {types.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      <p className="note" role="status">
        {found.length === tasks.length
          ? countOf(tasks.length, "task")
          : `${found.length.toLocaleString("en")} of ${countOf(tasks.length, "task")}`}
        {found.length > MOST_LINES && `, the first ${MOST_LINES} shown`}
      </p>
      <ul ref={list} className="game-list" aria-label="Tasks of the open games">
        {found.slice(0, MOST_LINES).map((each) => (
          <li key={`${each.environment} ${each.task}`}>
            <button
              type="button"
              className="plain"
              disabled={busy || playing}
              aria-current={
                each.task === game?.task && each.environment === game.environment ? "true" : undefined
              }
              onClick={() => void player.start(each)}
            >
              <Name>{shownName(each.task, 120)}</Name>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" disabled={busy || atWork} onClick={() => void closeGames()}>
        Close all games
      </button>
    </>
  );
}
