/** What the play view shows beside its games: one episode, or whole collections and evaluations. */
import { create } from "zustand";
import { usePlay } from "./play.ts";

export const PLAY_MODES = ["episode", "runs"] as const;
export type PlayMode = (typeof PLAY_MODES)[number];

export const usePlayMode = create<{ mode: PlayMode }>(() => ({ mode: "episode" }));

export const setPlayMode = (mode: PlayMode): void => usePlayMode.setState({ mode });

// An episode that somebody begins, or asks for, is shown.
usePlay.subscribe(({ busy, waiting }, before) => {
  if ((busy && !before.busy) || (waiting !== null && waiting !== before.waiting)) setPlayMode("episode");
});
