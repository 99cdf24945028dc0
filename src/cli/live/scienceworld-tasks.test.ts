import { join, resolve } from "node:path";
import { expect, it, vi } from "vitest";
import { keepStreams } from "../../../test/support/cli.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { evaluateConfigSchema } from "../../core/loop/index.ts";
import type { Sampler } from "../../core/ports.ts";
import { ScienceSimulator } from "../../simulator/scienceworld/simulator.ts";
import { fakeSimulator } from "../../simulator/scienceworld/testing/fake-simulator.ts";
import { evaluate } from "./evaluate.ts";
import { scienceWorldTasks } from "./scienceworld-tasks.ts";

const { folder, jar } = fakeSimulator();

/** Wins with its second reply in an episode. */
const winner: Sampler = {
  sample: async (requests) =>
    requests.map(({ id, promptIds }) => {
      const isFirst = !toyCodec.decode([...promptIds]).includes("dance");
      const responseIds = [...toyCodec.encode(`<action>${isFirst ? "dance" : "win"}</action>`), 0];
      return { id, responseIds, logprobs: new Float32Array(responseIds.length), stop: "stop" };
    }),
};

it("evaluates in the simulator, with its score", async () => {
  const config = evaluateConfigSchema.parse({
    environment: { name: "scienceworld", simulator: jar, tasks: ["tiny|0|easy", "tiny|1|easy"] },
    model: resolve(import.meta.dirname, "../../../test/fixtures/models/tiny-a"),
    seeds: [0, 1],
  });
  const { results } = await evaluate({
    config,
    out: join(folder, "out"),
    onNote: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    withPolicy: (work) => work(winner, toyCodec),
  });
  expect(results).toMatchObject({
    ...{ tasks: 2, sr: { mean: 100, sd: 0 }, rounds: { mean: 2 }, technical: [] },
    per_type: { tiny: { tasks: 2 } },
  });
  expect(results.score!.mean).toBeGreaterThan(99);
});

it("a plan whose simulator dies is asked for once more, and then left out with a note", async () => {
  let deaths = 1;
  const gold = vi.spyOn(ScienceSimulator.prototype, "goldActions").mockImplementation(async function (
    this: ScienceSimulator,
  ) {
    if (deaths === 0) return ["win"];
    deaths -= 1;
    process.kill(this.pid!, "SIGKILL");
    await vi.waitUntil(() => this.failed, { timeout: 60_000 });
    // Fails as whatever is asked of a simulator that is gone.
    await this.goalProgress();
    return [];
  });
  const games = await scienceWorldTasks({ simulator: jar }, ["tiny|0|easy"]);
  const streams = keepStreams();
  try {
    expect(await games.plan("tiny|0|easy")).toEqual(["win"]);
    expect(streams.err).toBe("");
    deaths = 2;
    expect(await games.plan("tiny|0|easy")).toBeNull();
    expect(streams.err).toMatch(
      /^tiny\|0\|easy has no planner record: .*a\.jar: the simulator ended \(SIGKILL\)\n$/,
    );
    // Not a fault of the process: no other try is made.
    await expect(games.plan("tiny|7|easy")).rejects.toThrow("there is no variation 7");
  } finally {
    streams.release();
    gold.mockRestore();
    await games.close();
  }
});
