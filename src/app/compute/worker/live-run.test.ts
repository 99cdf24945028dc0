import { beforeEach, expect, it, vi } from "vitest";
import { corridor } from "../../../../test/support/corridor.ts";
import { toyCodec } from "../../../../test/support/toy-model.ts";
import type { SampleRequest, Sampler } from "../../../core/ports.ts";
import type { LiveOutcome, LiveRunEvent, LiveRunPlan } from "../runs/live-run.ts";
import { playLiveRun } from "./live-run.ts";

/** Outcomes that the browser keeps, by episode. */
const kept = vi.hoisted(() => new Map<string, LiveOutcome | null>());

vi.mock("../runs/live-archive.ts", () => ({
  keepPlayed: async (_run: string, episode: string, { outcome }: { outcome: LiveOutcome | null }) =>
    kept.set(episode, outcome),
  dropOutcome: async (_run: string, episode: string) => kept.delete(episode),
}));
vi.mock("../games/internal/connected-games.ts", async (original) => ({
  ...(await original<object>()),
  playedAtOnce: async (_environment: string, asked: number) => asked,
  openTasks: (_config: object, tasks: readonly string[], template?: object) =>
    tasks.map((task) => ({
      ...{ environment: "alfworld", task, open: async () => corridor(2), maxDecisions: 9 },
      ...(template && { template }),
    })),
}));

const forward = [...toyCodec.encode("<action>forward</action>"), 0];

/** Evaluates three tasks in groups of two; `ended` were played before. Tells what was kept at each draw. */
async function evaluate(ended: readonly string[], own: Partial<LiveRunPlan> = {}) {
  const asked: SampleRequest[] = [];
  const events: LiveRunEvent[] = [];
  const keptAt: string[][] = [];
  const sampler: Sampler = {
    sample: async (requests) => {
      keptAt.push([...kept.keys()].sort());
      asked.push(...requests);
      return requests.map(({ id }) => ({
        ...{ id, responseIds: forward, logprobs: new Float32Array(forward.length) },
        stop: "stop" as const,
      }));
    },
  };
  const { temperature, top_p, top_k, prompt } = own;
  const common = {
    ...({ role: "student", environment: "alfworld", at_once: 2 } as const),
    ...{ temperature, top_p, top_k, prompt },
  };
  await playLiveRun({
    run: {
      id: "evaluate-1",
      plan: { kind: "evaluate", ...common, tasks: ["a", "b", "c"], seeds: [0] },
      model: { name: "m", digest: "d" },
      ended,
    },
    sampler,
    codec: toyCodec,
    signal: new AbortController().signal,
    emit: (event) => void events.push(event),
  });
  return { events, keptAt, asked };
}

const first: LiveOutcome = {
  ...{ task: "a", type: null, seed: 0, success: false, score: null, decisions: 1 },
};

beforeEach(() => kept.clear());

it("keeps no first end of an episode that begins again with its group", async () => {
  kept.set("a#0", first).set("c#0", { ...first, task: "c" });
  const { events, keptAt } = await evaluate(["a#0", "c#0"]);
  expect(
    events.filter(({ type }) => type === "begun").map((event) => "episode" in event && event.episode),
  ).toEqual(["a#0", "b#0"]);
  // From the first draw on: a page that is closed now goes on with all of the group.
  expect(keptAt[0]).toEqual(["c#0"]);
  expect([...kept.keys()].sort()).toEqual(["a#0", "b#0", "c#0"]);
  expect(kept.get("a#0")).toMatchObject({ success: true });
});

it("draws nothing where every episode has ended before", async () => {
  const { events, keptAt } = await evaluate(["a#0", "b#0", "c#0"]);
  expect(events).toEqual([{ type: "planned", ids: ["a#0", "b#0", "c#0"] }]);
  expect(keptAt).toEqual([]);
});

it("draws as the protocol says, or as the run says in its place, with its own prompt", async () => {
  const [first] = (await evaluate([])).asked;
  expect(first).toMatchObject({ temperature: 0.4 });
  expect(first).not.toHaveProperty("topK");
  const template = {
    ...{ format: "gcopd.prompt.v1", message: "OWN {task}{history}{observation}", history: "{pairs}" },
    ...{ pair: "{observation}{action}", unreadable_action: "?", lists: {} },
  };
  kept.clear();
  const own = { temperature: 0.7, top_p: 0.9, top_k: 5, prompt: { name: "own.json", template } };
  const [other] = (await evaluate([], own)).asked;
  expect(other).toMatchObject({ temperature: 0.7, topP: 0.9, topK: 5 });
  expect(toyCodec.decode([...other!.promptIds])).toContain("OWN ");
});
