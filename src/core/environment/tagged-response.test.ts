import { expect, test } from "vitest";
import { environmentFixture } from "../../../test/support/environment-fixture.ts";
import { environmentRules } from "./environment.ts";

test.each([
  ["scienceworld", 1699],
  ["alfworld", 495],
  ["webshop", 262],
])("%s's parser agrees with every recorded student response", (environment, expected) => {
  const rules = environmentRules(environment);
  let count = 0;
  for (const { decisions } of environmentFixture(environment).episodes) {
    for (const { response, observation, action, status } of decisions) {
      const parsed = rules.parseResponse(response!, observation);
      expect(parsed.action).toBe(action);
      expect(parsed.problem !== null).toBe(status === "malformed");
      count++;
    }
  }
  expect(count).toBe(expected);
});
