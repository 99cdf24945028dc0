import { describe, expect, it } from "vitest";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import type { Episode } from "../record/schema.ts";
import { outcomeText } from "./phrases.ts";

const [EPISODE] = tinyRecords().episodes as [Episode];
const text = (outcome: Partial<Episode["outcome"]>, more: object = {}) =>
  outcomeText({ ...EPISODE, ...more, outcome: { ...EPISODE.outcome, score: null, ...outcome } });

describe("how a student episode ended", () => {
  it("is a failure only where it ended as one", () => {
    expect(text({ ended: "horizon" })).toBe("failure; stopped at the decision limit after 1 decision");
    expect(text({ ended: "environment" })).toBe("failure; ended by the environment after 1 decision");
  });

  it.each([true, false])("is not a failure where it broke off (complete %s)", (complete) => {
    expect(text({ ended: "technical", complete })).toBe(
      "neither success nor failure, it broke off; stopped for a technical reason after 1 decision",
    );
  });

  it("is not recorded where an import did not know it", () => {
    const end = "1 decision, and how it ended is not recorded";
    expect(text({ ended: "technical" }, { outcome_unknown: true })).toBe(
      `unknown, nobody recorded it; ${end}`,
    );
    expect(text({ ended: "technical", success: true }, { ended_unknown: true })).toBe(`success; ${end}`);
  });
});
