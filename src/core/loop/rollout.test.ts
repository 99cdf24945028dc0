import { describe, expect, it } from "vitest";
import { toyCodec } from "../../../test/support/toy-model.ts";
import type { Sampler } from "../ports.ts";
import { type Episode, episodeSchema } from "../record/schema.ts";
import { openRecorded, RecordedEnvironment } from "./recorded-environment.ts";
import { rollout } from "./rollout.ts";

const STATE = { key: "k", mode: "normal", options: {} };

const RECORDED: Episode = {
  format: "gcopd.episode.v1",
  environment: "scienceworld",
  task: "t",
  episode: "r",
  task_description: "Do it.",
  initial_observation: "A room.",
  decisions: ["open", null, "leave"].map((action, t) => ({
    observation: ["A room.", "It is open.", "No action there."][t]!,
    state: STATE,
    action,
    binding: null,
    status: action === null ? "malformed" : "executed",
    feedback: ["It is open.", "No action there.", "You left."][t]!,
    score: t,
    gap_before: false,
    prompt: `prompt ${t}`,
    response: "unused",
  })),
  final_state: { ...STATE, key: "end" },
  outcome: { complete: true, success: true, score: 100, ended: "environment", verified: true },
};

/** Answers from a list, turn by turn. */
function scripted(answers: string[]): Sampler & { seeds: number[]; drawable: unknown[] } {
  let turn = 0;
  const seeds: number[] = [];
  const drawable: unknown[] = [];
  return {
    seeds,
    drawable,
    sample: async (requests) =>
      requests.map(({ id, seed, ...request }) => {
        seeds.push(seed);
        drawable.push(request.drawable);
        const responseIds = [...toyCodec.encode(answers[turn++]!), 0];
        return { id, responseIds, logprobs: new Float32Array(responseIds.length).fill(-0.5), stop: "stop" };
      }),
  };
}

const task = {
  episode: "new",
  environment: "scienceworld",
  task: "t",
  maxDecisions: 30,
  maxTokens: 16,
  open: async () => openRecorded(RECORDED),
  parse: (response: string) => (response === "?" ? null : response),
  seedText: ({ decision }: { decision: number }) => `t|${decision}`,
};
const settings = { temperature: 1, seed: 1, policyVersion: 0 };

describe("rollout over a recorded environment", () => {
  it("follows the recorded actions, malformed ones too, to the recorded end", async () => {
    const sampler = scripted(["open", "?", "leave"]);
    const [episode] = await rollout([task], sampler, toyCodec, settings);
    expect(() => episodeSchema.parse(episode)).not.toThrow();
    expect(
      episode!.decisions.map(({ action, status, feedback, score }) => [action, status, feedback, score]),
    ).toEqual([
      ["open", "executed", "It is open.", 0],
      [null, "malformed", "No action there.", 1],
      ["leave", "executed", "You left.", 100],
    ]);
    expect(episode!.decisions[1]!.prompt).toBe("prompt 1");
    expect(episode!.decisions[0]!.response_ids).toEqual([...toyCodec.encode("open"), 0]);
    expect(episode!.decisions[0]!.rollout_logprobs).toEqual(Array(5).fill(-0.5));
    expect(episode!.outcome).toEqual(RECORDED.outcome);
    expect(episode!.final_state).toEqual(RECORDED.final_state);
    expect(new Set(sampler.seeds).size).toBe(3);
    expect(sampler.drawable).toEqual([toyCodec.drawable, toyCodec.drawable, toyCodec.drawable]);
  });

  it("records what a menu choice stood for", async () => {
    const menu = { ...STATE, mode: "pending_menu", options: { "0": "pick up  orange", "1": "1" } };
    const recorded = {
      ...RECORDED,
      decisions: ["0", "1", "2"].map((action, t) => ({ ...RECORDED.decisions[t]!, action, state: menu })),
    };
    const choosing = { ...task, open: async () => openRecorded(recorded) };
    const [episode] = await rollout([choosing], scripted(["0", "1", "2"]), toyCodec, settings);
    expect(episode!.decisions.map(({ binding }) => binding)).toEqual(["pick up orange", null, null]);
  });

  it("holds each task to its own limits", async () => {
    const asked: number[][] = [];
    const answers = ["open", "open", "?"];
    const sampler: Sampler = {
      sample: async (requests) => {
        asked.push(requests.map(({ maxTokens }) => maxTokens));
        return requests.map(({ id }) => {
          const responseIds = [...toyCodec.encode(answers.shift()!), 0];
          return { id, responseIds, logprobs: new Float32Array(responseIds.length), stop: "stop" };
        });
      },
    };
    const short = { ...task, episode: "short", maxDecisions: 1, maxTokens: 3 };
    const long = { ...task, maxDecisions: 2, maxTokens: 9 };
    const episodes = await rollout([short, long], sampler, toyCodec, settings);
    expect(asked).toEqual([[3, 9], [9]]);
    expect(episodes.map(({ decisions, outcome }) => [decisions.length, outcome.ended])).toEqual([
      [1, "horizon"],
      [2, "horizon"],
    ]);
  });

  it("ends at an action that the recording does not hold, and says so", async () => {
    const [episode] = await rollout([task], scripted(["open", "jump"]), toyCodec, settings);
    // What has no answer is not a decision: no status and no feedback is made up for it.
    expect(episode!.decisions.map(({ action, feedback }) => [action, feedback])).toEqual([
      ["open", "It is open."],
    ]);
    expect(episode!.outcome).toEqual({
      ended: "technical",
      complete: false,
      verified: false,
      success: false,
      score: 0,
      technical_reason: 'the recording of r holds no answer to "jump" at decision 1',
    });
    expect(episode!.final_state).toEqual(RECORDED.decisions[1]!.state);
    expect(() => episodeSchema.parse(episode)).not.toThrow();
  });

  it("ends at the horizon", async () => {
    const [episode] = await rollout([{ ...task, maxDecisions: 1 }], scripted(["open"]), toyCodec, settings);
    expect(episode!.outcome).toMatchObject({ ended: "horizon", complete: true, success: false });
    expect(episode!.final_state).toEqual(STATE);
  });

  it("refuses another task, and an episode without prompts", async () => {
    await expect(new RecordedEnvironment(RECORDED).reset("other")).rejects.toThrow(
      "is of task t, not of other",
    );
    const { prompt: _, ...first } = RECORDED.decisions[0]!;
    const bare = { ...task, open: async () => openRecorded({ ...RECORDED, decisions: [first] }) };
    await expect(rollout([bare], scripted(["open"]), toyCodec, settings)).rejects.toThrow(
      'episode "r", decisions[0].prompt',
    );
  });
});
