/** Actions of episodes that are played in the page, and of records that are played again. */

import { type Action, aTask, type Blocked, needs, noModelAtWork } from "../../compute/action.ts";
import { player, usePlay } from "../../compute/games/play.ts";
import { missingGame, type RecordRef, unplayable } from "../../compute/games/play-record.ts";
import { recordsOf, useVerdicts, verifier } from "../../compute/games/verify.ts";
import { getUi, type UiState } from "../../compute/store.ts";
import { visitMeant } from "../../data/compared-visits.ts";
import { playPolicy, policyProblem } from "./play-policy.ts";

/** The record that is meant, and its decision: of the visit under the focus, of the pinned one, or the student's. */
function recordMeant(ui: UiState): { record: RecordRef; position: number } | null {
  const visit = visitMeant(ui);
  if (visit === null || ui.task === null) return null;
  const { library, environment, task } = ui.task;
  const { kind, id, position } = visit;
  return { record: { library, environment, task, kind, id }, position };
}

const playable: Blocked = ({ task }) => task && unplayable(task);

const aFreeGame: Blocked = ({ playing }) => {
  if (playing !== null) return "a model plays";
  return usePlay.getState().busy ? "the game is at work" : null;
};

const anEpisode: Blocked = () => {
  const { episode, busy } = usePlay.getState();
  if (episode === null) return "begin an episode in the play view first";
  return busy ? "the game is at work" : null;
};

const anOpenEnd: Blocked = () => {
  const { episode } = usePlay.getState();
  return episode?.ended == null ? null : "the episode is over";
};

const policy = (id: string, title: string, onward: boolean): Action => ({
  id,
  title,
  group: "Play",
  words: "model student teacher evidence decide game",
  blocked: needs(anEpisode, anOpenEnd, noModelAtWork, () => {
    const play = usePlay.getState();
    return policyProblem(play.policy, play.game);
  }),
  run: () => void playPolicy.start(usePlay.getState().policy, onward),
});

export const UNDO_DECISION = {
  id: "undo-decision",
  title: "Take the last decision of the game back",
  group: "Play",
  words: "undo step",
  blocked: needs(anEpisode, aFreeGame, () =>
    usePlay.getState().episode?.decisions.length === 0 ? "nothing was decided yet" : null,
  ),
  run: () => void player.undo(),
} as const satisfies Action;

export const PLAY: readonly Action[] = [
  {
    id: "play-on",
    title: "Play on from this decision or visit",
    group: "Play",
    keys: ["r"],
    words: "replay game episode record live",
    blocked: needs(aTask, playable, aFreeGame, (ui) =>
      recordMeant(ui) === null ? "pin a visit or open a decision first" : null,
    ),
    run: () => {
      const meant = recordMeant(getUi());
      if (meant !== null) void player.playOn(meant.record, meant.position);
    },
  },
  {
    id: "verify-all",
    title: "Verify all records of this task by playing",
    group: "Play",
    words: "replay check game",
    blocked: needs(aTask, playable, ({ task }) =>
      task !== null && missingGame(task) !== null ? "open its game in the play view first" : null,
    ),
    run: async () => {
      const { task } = getUi();
      if (task !== null) await verifier.all(task, await recordsOf(task));
    },
  },
  {
    id: "stop-verifying",
    title: "Stop verifying records",
    group: "Play",
    words: "cancel end",
    blocked: () => (useVerdicts.getState().all === null ? "no record is being verified" : null),
    run: () => verifier.stop(),
  },
  {
    id: "reset-episode",
    title: "Play the game from its beginning",
    group: "Play",
    words: "reset restart",
    blocked: needs(anEpisode, noModelAtWork),
    run: () => void player.reset(),
  },
  UNDO_DECISION,
  policy("policy-step", "Let a model make one decision in the game", false),
  policy("policy-on", "Let a model play the game on", true),
  {
    id: "stop-policy",
    title: "Stop the model that plays",
    group: "Play",
    words: "cancel end",
    blocked: ({ playing }) => (playing === null ? "no model plays" : null),
    run: () => void playPolicy.stop(),
  },
];
