import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { evaluateConfigSchema } from "../../core/loop/index.ts";
import type { Sampler } from "../../core/ports.ts";
import { fakeSimulator } from "../../simulator/scienceworld/testing/fake-simulator.ts";
import { evaluate } from "./evaluate.ts";

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
    model: resolve(import.meta.dirname, "../../../test/fixtures/models/qwen3-a"),
    seeds: [0, 1],
    // The stub has one world for all who connect.
    at_once: 1,
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
