import { describe, expect, it } from "vitest";
import { corridor, newLog } from "../../../test/support/corridor.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import type { SampleRequest, Sampler } from "../ports.ts";
import type { Episode, Source } from "../record/schema.ts";
import type { LiveTask } from "./live-task.ts";
import { MemoryLog } from "./memory-log.ts";
import { collectionEpisodes, evaluationEpisodes } from "./planned-episodes.ts";
import { type PlayProgress, playPlanned } from "./play-planned.ts";

/** Goes forward, and tells which episodes were asked for together. */
function walker(): Sampler & { batches: string[][]; asked: SampleRequest[]; forgot: number } {
  const walking = {
    batches: [] as string[][],
    asked: [] as SampleRequest[],
    forgot: 0,
    forget: () => {
      walking.forgot += 1;
    },
    sample: async (requests: readonly SampleRequest[]) => {
      walking.batches.push(requests.map(({ id }) => id));
      walking.asked.push(...requests);
      return requests.map(({ id }) => {
        const responseIds = [...toyCodec.encode("<action>forward</action>"), 0];
        return {
          id,
          responseIds,
          logprobs: new Float32Array(responseIds.length),
          stop: "stop" as const,
        };
      });
    },
  };
  return walking;
}

const tasks = (...names: string[]): LiveTask[] =>
  names.map((task) => ({ environment: "alfworld", task, open: async () => corridor(2) }));

const plans = (actions: readonly string[] | null) => ({ plan: async () => actions });

async function played<R extends object>(
  planned: Parameters<typeof playPlanned<R>>[0],
  { log = new MemoryLog<R>(), sampler = walker(), inGroups = false, atOnce = 2 } = {},
) {
  const progress: PlayProgress[] = [];
  await playPlanned(planned, log, {
    inGroups,
    atOnce,
    onProgress: (state) => progress.push(state),
    withPolicy: (work) => work(sampler, toyCodec),
  });
  return { log, sampler, progress };
}

describe("a collection", () => {
  it("has K verified repetitions and the plan of each task, in their order", async () => {
    const games = { ...plans(["forward"]), tasks: tasks("a", "b") };
    const planned = collectionEpisodes(games, { repetitions: 2, planner: true }, "Qwen3-4B");
    expect(planned.map(({ id }) => id)).toEqual(["a#0", "a#1", "a#plan", "b#0", "b#1", "b#plan"]);
    const { log, progress } = await played<Source>(planned);
    expect(
      log
        .records(planned)
        .map(({ task, source, repetition, origin, outcome: { success, verified } }) => [
          ...[task, source, repetition, origin.kind, success, verified],
        ]),
    ).toEqual(
      ["a", "b"].flatMap((task) => [
        [task, "teacher:0", 0, "teacher", true, true],
        [task, "teacher:1", 1, "teacher", true, true],
        [task, "planner:16", 16, "planner", true, true],
      ]),
    );
    expect(log.records(planned)[0]!.origin).toEqual({ kind: "teacher", model: "Qwen3-4B" });
    expect([...new Set(progress.map(({ done, total }) => `${done}/${total}`))]).toEqual(
      Array.from({ length: 6 }, (_, n) => `${n + 1}/6`),
    );
  });

  it("closes the environments of its verifications", async () => {
    const log = newLog();
    const game = { environment: "alfworld", task: "a", open: async () => corridor(2, log) };
    const games = { ...plans(["forward"]), tasks: [game] };
    await played<Source>(collectionEpisodes(games, { repetitions: 1, planner: true }, "m"));
    // The episode, its verification and the plan, which is verified where it was executed.
    expect(log.closed).toBe(3);
  });

  it("has no record of a task without a plan", async () => {
    const games = { ...plans(null), tasks: tasks("a") };
    const planned = collectionEpisodes(games, { repetitions: 1, planner: true }, "m");
    const { log } = await played<Source>(planned);
    expect(log.ended).toBe(2);
    expect(log.records(planned)).toHaveLength(1);
  });

  it("draws as it is told", async () => {
    const games = { ...plans(null), tasks: tasks("a") };
    const planned = collectionEpisodes(
      games,
      { repetitions: 1, planner: false, temperature: 0.9, top_k: 7 },
      "m",
    );
    const { sampler } = await played<Source>(planned);
    expect(sampler.asked[0]).toMatchObject({ temperature: 0.9, topK: 7 });
  });
});

describe("an evaluation", () => {
  const planned = evaluationEpisodes(tasks("a", "b"), { seeds: [0, 3] });

  it("has every task for each seed, without token ids", async () => {
    const { log } = await played<Episode>(planned, { inGroups: true });
    const records = log.records(planned);
    expect(records.map(({ task, repetition, episode }) => [task, repetition, episode])).toEqual([
      ["a", 0, "a#0"],
      ["b", 0, "b#0"],
      ["a", 3, "a#3"],
      ["b", 3, "b#3"],
    ]);
    expect(records[0]!.decisions[0]).toHaveProperty("prompt");
    expect(records[0]!.decisions[0]).not.toHaveProperty("prompt_ids");
    expect(records[0]!.decisions[0]).not.toHaveProperty("rollout_logprobs");
  });

  it("plays groups, and a group that was interrupted from its beginning", async () => {
    const { log: whole, sampler } = await played<Episode>(planned, { inGroups: true, atOnce: 3 });
    expect(sampler.batches).toEqual([["a#0", "b#0", "a#3"], ["b#3"]]);
    expect(sampler.forgot).toBe(2);
    const [first] = whole.records(planned);
    const again = await played<Episode>(planned, {
      inGroups: true,
      atOnce: 3,
      log: new MemoryLog([["a#0", first!]]),
    });
    expect(again.sampler.batches).toEqual(sampler.batches);
    expect(again.log.ended).toBe(4);
    const rest = await played<Episode>(planned, {
      inGroups: true,
      atOnce: 3,
      log: new MemoryLog(planned.slice(0, 3).map(({ id }) => [id, first!] as const)),
    });
    expect(rest.sampler.batches).toEqual([["b#3"]]);
    expect(rest.progress.map(({ done, total }) => `${done}/${total}`)).toEqual(["3/4", "4/4"]);
  });

  it("tells of every round, before any episode has ended, and what there can be at most", async () => {
    const long: LiveTask[] = [2, 4].map((rooms) => ({
      ...{ environment: "alfworld", task: `of ${rooms}`, maxDecisions: 5 },
      open: async () => corridor(rooms),
    }));
    const { progress } = await played<Episode>(evaluationEpisodes(long, { seeds: [0] }), { inGroups: true });
    expect(progress).toEqual([
      { done: 0, total: 2, underWay: 2, decisions: 0, most: 10 },
      { done: 1, total: 2, underWay: 1, decisions: 2, most: 6 },
      { done: 1, total: 2, underWay: 1, decisions: 2, most: 6 },
      { done: 1, total: 2, underWay: 1, decisions: 3, most: 6 },
      { done: 2, total: 2, underWay: 0, decisions: 4, most: 4 },
    ]);
  });

  it("needs no model where all is played", async () => {
    const log = new MemoryLog<Episode>(planned.map(({ id }) => [id, null] as const));
    await playPlanned(planned, log, {
      inGroups: true,
      atOnce: 2,
      onProgress: () => undefined,
      withPolicy: async () => {
        throw new Error("a model was asked for");
      },
    });
  });
});
