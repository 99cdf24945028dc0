/** Episodes in the page's own games: the games on the left, the episode in the middle, its graph on the right. */
import type { ReactNode } from "react";
import { isOneOf } from "../../../core/one-of.ts";
import { useUnfolded } from "../../base/rail.tsx";
import { LongText } from "../../base/text/long-text.tsx";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { useFocusBack } from "../../base/use-focus-back.ts";
import { makeGames, useGames } from "../../compute/games/games.ts";
import { ChooseGames, OpenGames } from "../../compute/games/make-games.tsx";
import { forgetWaiting, type PlayedFrom, player, usePlay } from "../../compute/games/play.ts";
import { PLAY_MODES, type PlayMode, setPlayMode, usePlayMode } from "../../compute/games/play-mode.ts";
import { PURPOSES } from "../../compute/open/nothing-open.tsx";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { StateGraph } from "../../data/state-graph/state-graph.tsx";
import { ActionBox } from "./action-box.tsx";
import { ending, recordsEnding } from "./ending.ts";
import { GameList } from "./game-list.tsx";
import { madeBy } from "./made-by.ts";
import { PlayedPanel } from "./played-panel.tsx";
import { PolicyBar } from "./policy-bar.tsx";
import { Transcript } from "./transcript.tsx";

/** `collecting` takes the place of the episode in the other mode. */
export function PlayView({ collecting }: { collecting: ReactNode }) {
  const graph = usePlay((play) => play.graph);
  const axis = useUi((ui) => ui.place.axis);
  const mode = usePlayMode((state) => state.mode);
  const execution = graph?.episodes[0] ?? null;
  const [open, unfold] = useUnfolded("play", () => true);
  // The button that closes all games goes with them.
  const fold = useFocusBack<HTMLButtonElement>(useGames(({ tasks }) => tasks.length > 0));
  return (
    <div className={open ? "play-view" : "play-view games-folded"}>
      <section className="panel play-games" aria-labelledby="games-title">
        <div className="panel-head">
          <h2 id="games-title">
            <button
              ref={fold}
              type="button"
              className="fold"
              aria-expanded={open}
              title={open ? "Fold the games away" : "Show the games"}
              onClick={() => unfold(!open)}
            >
              Games
            </button>
          </h2>
          {open && <PlayModes />}
        </div>
        <div className="play-body" hidden={!open}>
          <ChooseGames />
          <GameList />
        </div>
      </section>
      {mode === "runs" ? collecting : <EpisodePanel />}
      <div className="play-right" hidden={mode === "runs"}>
        {graph !== null && (
          <StateGraph
            task={graph}
            episode={execution}
            decision={execution?.decisions ?? 0}
            retrieval={null}
            axis={axis}
            highlights={NONE}
            onOpen={null}
          />
        )}
        <PlayedPanel />
      </div>
    </div>
  );
}

const NONE: readonly string[] = [];

const MODES: Record<PlayMode, string> = { episode: "Play one", runs: "Collect and evaluate" };

function PlayModes() {
  const mode = usePlayMode((state) => state.mode);
  return (
    <select
      aria-label="What to do with the games"
      value={mode}
      onChange={({ target }) => isOneOf(PLAY_MODES, target.value) && setPlayMode(target.value)}
    >
      {PLAY_MODES.map((each) => (
        <option key={each} value={each}>
          {MODES[each]}
        </option>
      ))}
    </select>
  );
}

function EpisodePanel() {
  const { game, episode, from, waiting, busy, problem, context } = usePlay();
  const playing = useUi((ui) => ui.playing !== null);
  const end = episode === null ? null : ending(episode);
  return (
    <section className="panel play-episode" aria-labelledby="episode-title">
      <div className="panel-head">
        <h2 id="episode-title">
          {game === null ? "Episode" : <bdi title={shownName(game.task)}>{shownName(game.task, 80)}</bdi>}
        </h2>
        <button
          type="button"
          disabled={episode === null || busy || playing}
          onClick={() => void player.reset()}
        >
          Reset
        </button>
        <button
          type="button"
          disabled={episode === null || episode.decisions.length === 0 || busy || playing}
          onClick={() => void player.undo()}
        >
          Undo <span className="key">z</span>
        </button>
      </div>
      <div className="play-body">
        {waiting !== null && <Waiting from={waiting} />}
        {problem !== null && (
          <p className="run-line error" role="alert" data-testid="play-problem">
            {problem}
          </p>
        )}
        {episode === null && waiting === null && <Begin />}
        {episode !== null && (
          <>
            <p className="task-line">
              <span data-testid="task-description">
                <LongText text={episode.start.description} first={2000} />
              </span>
              <span className="note" data-testid="decisions">
                {episode.decisions.length} of {episode.task.maxDecisions} decisions
              </span>
            </p>
            {from !== null && (
              <p className="note" data-testid="played-from">
                Played on from decision {from.position} of{" "}
                <button
                  type="button"
                  className="plain link"
                  onClick={() => navigate({ view: "task" }, "push")}
                >
                  <Name>{shownName(from.id, 80)}</Name>
                </button>
                , which it repeats up to there.
              </p>
            )}
            <Transcript episode={episode} />
            {context !== null && context.decision === episode.decisions.length - 1 && (
              <details className="evidence-shown">
                <summary>What the library gave the teacher for decision {context.decision}</summary>
                <p className="note">
                  <LongText text={context.sentence} first={2000} />
                </p>
                <pre className="text">
                  <LongText text={context.evidence || "nothing"} />
                </pre>
              </details>
            )}
            {end !== null && (
              <p
                className={`ending ${episode.turn.success ? "won" : "lost"}`}
                role="status"
                data-testid="ending"
              >
                {episode.turn.success ? "● " : "✕ "}
                {end}
                {from !== null && ` ${recordsEnding(from)}`}
              </p>
            )}
            {end === null && <ActionBox turn={episode.turn} disabled={busy || playing} />}
            <PolicyBar
              over={end !== null}
              temperature={episode.task.sampling.temperature}
              limit={episode.task.maxTokens}
            />
          </>
        )}
      </div>
    </section>
  );
}

function Begin() {
  const open = useGames(({ tasks }) => tasks.length > 0);
  return (
    <p className="note hint">
      {open
        ? "Choose a task: the episode begins at once."
        : `${PURPOSES.play.shows} Make games, or open some of your own, to begin.`}
    </p>
  );
}

/** A record that is to be played on, while its game is not open. */
function Waiting({ from }: { from: PlayedFrom }) {
  const { environment, task, id, position } = from;
  const made = madeBy(from);
  return (
    <section className="waiting" aria-label="A game is needed" data-testid="waiting">
      <p>
        To play <Name>{shownName(id, 80)}</Name> on from decision {position}, the game{" "}
        <code>
          <Name>{shownName(task, 200)}</Name>
        </code>{" "}
        ({environment}) is needed, and it is not open.
      </p>
      <div className="open-buttons">
        {made !== null && (
          <button
            type="button"
            className="primary"
            onClick={async () => {
              if (await makeGames("alfworld", made)) await player.playWaiting();
            }}
          >
            Make this game
          </button>
        )}
        <OpenGames />
        <button type="button" onClick={forgetWaiting}>
          Dismiss
        </button>
      </div>
    </section>
  );
}
