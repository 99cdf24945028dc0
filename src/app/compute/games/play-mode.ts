/** What the play view shows beside its games: one episode, or whole collections and evaluations. */
import { create } from "zustand";
import { getUi, useUi } from "../store.ts";
import { usePlay } from "./play.ts";

export const PLAY_MODES = ["episode", "runs"] as const;
export type PlayMode = (typeof PLAY_MODES)[number];

export const usePlayMode = create<{ mode: PlayMode }>(() => ({ mode: "episode" }));

export const setPlayMode = (mode: PlayMode): void => usePlayMode.setState({ mode });

const inFront = (...[view, mode, episode]: [string, PlayMode, unknown]): boolean =>
  view === "play" && mode === "episode" && episode !== null;

/** An episode is what the user looks at: the key of *Undo* means its last decision. */
export const isEpisodeInFront = (): boolean =>
  inFront(getUi().place.view, usePlayMode.getState().mode, usePlay.getState().episode);

/** The same, for a component. */
export const useEpisodeInFront = (): boolean =>
  inFront(
    useUi((ui) => ui.place.view),
    usePlayMode((state) => state.mode),
    usePlay((play) => play.episode),
  );

// An episode that somebody begins, or asks for, is shown.
usePlay.subscribe(({ busy, waiting }, before) => {
  if ((busy && !before.busy) || (waiting !== null && waiting !== before.waiting)) setPlayMode("episode");
});
