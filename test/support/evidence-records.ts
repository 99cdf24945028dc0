/** One source and one episode that meet in two states, small enough to be read beside the evidence made from them. */
import { environmentRules } from "../../src/core/environment/environment.ts";
import { evidenceInput } from "../../src/core/evidence/evidence-input.ts";
import type { EvidenceInput } from "../../src/core/evidence/types.ts";
import type { Episode, Source } from "../../src/core/record/schema.ts";
import { prepareTask } from "../../src/core/retrieval/prepare.ts";
import { retrieve } from "../../src/core/retrieval/retrieve.ts";

export const scienceworld = environmentRules("scienceworld");

export const located = (key: string) => ({ key, mode: "normal", options: {} });

export const SOURCE: Source = {
  format: "gcopd.source.v1",
  environment: "scienceworld",
  task: "t",
  source: "teacher:3",
  repetition: 3,
  origin: { kind: "teacher" },
  task_description: "Find the orange.",
  initial_observation: "A hallway.",
  decisions: [
    {
      observation: "A hallway.",
      state: located("hall"),
      action: "go to kitchen",
      binding: null,
      status: "executed",
      feedback: "You move to the kitchen.",
      score: 10,
      gap_before: false,
      attempts: [
        { action: "go kitchn", reason: "rejected", feedback: "Unknown action." },
        { action: null, reason: "format", feedback: "Unreadable." },
      ],
    },
    {
      observation: "You move to the kitchen. ",
      state: located("kitchen"),
      action: "0",
      binding: "pick up orange",
      status: "binding",
      feedback: "You take the orange.",
      score: 100,
      gap_before: false,
      attempts: [],
    },
  ],
  final_state: located("done"),
  outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
};

export const EPISODE: Episode = {
  format: "gcopd.episode.v1",
  environment: "scienceworld",
  task: "t",
  episode: "e",
  task_description: "Find the orange.",
  initial_observation: "A hallway.",
  decisions: [
    {
      observation: "A hallway.",
      state: located("hall"),
      action: "eat door",
      binding: null,
      status: "rejected",
      feedback: "You cannot.",
      score: 0,
      gap_before: false,
      prompt: "PROMPT",
      response: "<thought>SECRET</thought><action>eat door</action>",
    },
    {
      observation: "You cannot.",
      state: null,
      action: null,
      binding: null,
      status: "malformed",
      feedback: "Answer with one action.",
      score: 0,
      gap_before: true,
    },
  ],
  final_state: null,
  outcome: { complete: true, success: false, score: 0, ended: "horizon", verified: true },
};

export function inputFor(sources: Source[], episode: Episode, decision: number): EvidenceInput {
  const task = prepareTask(sources, scienceworld);
  return evidenceInput(task, episode, retrieve(task, episode, decision).record);
}
