import { expect, test } from "vitest";
import type { LiveEpisode } from "../../../core/loop/index.ts";
import { ending } from "./ending.ts";

const TURN = {
  observation: "",
  feedback: "",
  offered: null,
  state: null,
  score: 0,
  done: false,
  success: false,
};

function episode(environment: string, ended: LiveEpisode["ended"], turn: Partial<typeof TURN> = {}) {
  const task: LiveEpisode["task"] = {
    episode: "e",
    environment,
    task: environment === "webshop" ? "goal1" : "made/small/look_at_obj_in_light-1",
    maxDecisions: 30,
    maxTokens: 512,
    sampling: { temperature: 0.4, topP: 1, topK: null },
    replies: { malformed: "spend", rejected: "spend", attempts: 1, exhausted: "failed" },
    seedText: () => "",
    open: () => Promise.reject(new Error("not opened")),
    parse: () => null,
  };
  return { task, turn: { ...TURN, ...turn }, decisions: [], ended };
}

test.each([
  [episode("alfworld", null), null],
  [
    episode("alfworld", { ended: "environment", complete: true }, { done: true, success: true }),
    "Won after 0 decisions.",
  ],
  [
    episode("alfworld", { ended: "horizon", complete: true }),
    "Not won: the limit of 30 decisions is reached.",
  ],
  [
    episode("webshop", { ended: "environment", complete: true }, { done: true, score: 0.5 }),
    "Lost after 0 decisions, with a score of 0.5.",
  ],
  [
    episode("scienceworld", { ended: "environment", complete: true }, { done: true, score: -100 }),
    "Lost after 0 decisions, with a score of -100.",
  ],
  [
    episode("alfworld", { ended: "technical", complete: false, reason: "the server left" }),
    "Ended for a technical reason: the server left",
  ],
])("ending %#", (shown, line) => {
  expect(ending(shown)).toBe(line);
});
