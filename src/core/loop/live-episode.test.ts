import { describe, expect, it } from "vitest";
import { AlfworldEnvironment } from "../../simulator/alfworld/environment.ts";
import { Game } from "../../simulator/alfworld/game.ts";
import { makeGame } from "../../simulator/alfworld/generate.ts";
import {
  beginEpisode,
  finished,
  type LiveEpisode,
  playedEpisode,
  reply,
  resumeEpisode,
} from "./live-episode.ts";
import { livePlay } from "./live-task.ts";

const made = makeGame(0);
const game = new Game(made, made.task);

async function begun(maxDecisions?: number): Promise<LiveEpisode> {
  const live = {
    environment: "alfworld",
    task: made.task,
    open: async () => new AlfworldEnvironment(() => game),
    ...(maxDecisions === undefined ? {} : { maxDecisions }),
  };
  const task = livePlay(live, "evaluate", { episode: "by-hand", repetition: 0, seed: 0 });
  return beginEpisode({ task, opened: await task.open() });
}

const progress = ({ start, decisions }: LiveEpisode, count: number) => ({
  initialObservation: start.observation,
  decisions: decisions.slice(0, count),
  attempts: Array.from({ length: count + 1 }, () => []),
});

describe("an episode that a person plays", () => {
  it("is won by the walkthrough; its record has no prompt and no response", async () => {
    const live = await begun();
    for (const action of made.walkthrough) {
      expect(live.ended).toBeNull();
      await reply(live, action, { by: "person" });
    }
    expect(live.ended).toEqual({ ended: "environment", complete: true });
    const { decisions, outcome } = playedEpisode(finished(live, live.ended!));
    expect(outcome).toMatchObject({ success: true, complete: true });
    expect(decisions.map(({ action, by }) => [action, by])).toEqual(
      made.walkthrough.map((action) => [action, "person"]),
    );
    expect(decisions.every((each) => !("prompt" in each) && !("response" in each))).toBe(true);
  });

  it("spends a decision on what nobody understands, and ends at the limit", async () => {
    const live = await begun(2);
    await reply(live, "sing");
    expect(live.decisions[0]).toMatchObject({ status: "rejected", feedback: "Nothing happens." });
    await reply(live, "look");
    expect(live.ended).toEqual({ ended: "horizon", complete: true });
  });

  it("goes on from what was played, or says what does not repeat", async () => {
    const live = await begun();
    for (const action of made.walkthrough.slice(0, 3)) await reply(live, action);
    const { task, opened } = live;
    const back = await resumeEpisode(task, opened, progress(live, 2));
    if ("unanswered" in back) throw new Error(back.unanswered);
    expect(back.turn.feedback).toBe(live.decisions[1]!.feedback);
    expect(back.ended).toBeNull();
    live.decisions[1] = { ...live.decisions[1]!, feedback: "Something else." };
    expect(await resumeEpisode(task, opened, progress(live, 2))).toEqual({
      unanswered: "the replay differs in decision 1: feedback",
    });
  });
});
