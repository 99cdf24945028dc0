import { expect, it } from "vitest";
import { EPISODE } from "../../../test/support/evidence-records.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import type { Episode } from "../record/schema.ts";
import { configuredData } from "./configured-data.ts";

const episodes: Episode[] = ["scienceworld", "webshop", "alfworld"].map((environment) => ({
  ...EPISODE,
  environment,
  episode: environment,
  decisions: EPISODE.decisions.map((decision) => ({ ...decision, prompt: "p", action: null })),
}));

/** `max_tokens` of the first request of each task. */
async function limitsOf(sample: {
  temperature: number;
  max_tokens?: number;
}): Promise<Record<string, number>> {
  const limits: Record<string, number> = {};
  await configuredData({ sample, seed: 1 }, episodes).episodes([0, 1, 2], {
    policyVersion: 0,
    codec: toyCodec,
    student: {
      sample: async (requests) =>
        requests.map(({ id, maxTokens }) => {
          limits[id] = maxTokens;
          return { id, responseIds: [0], logprobs: new Float32Array(1), stop: "stop" };
        }),
    },
  });
  return limits;
}

it("plays tasks of several environments each under its own limits, or under those of the config", async () => {
  expect(await limitsOf({ temperature: 1 })).toEqual({ scienceworld: 512, webshop: 2048, alfworld: 512 });
  expect(await limitsOf({ temperature: 1, max_tokens: 7 })).toEqual({
    scienceworld: 7,
    webshop: 7,
    alfworld: 7,
  });
});
