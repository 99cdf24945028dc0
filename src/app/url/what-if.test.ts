import { expect, it } from "vitest";
import { evidenceWords, NO_CONTROLS } from "./what-if.ts";

it("calls the full method by its name, which is not GC-OPD's", () => {
  expect(evidenceWords(NO_CONTROLS)).toBe("GC-OPD + GA");
  expect(evidenceWords({ ...NO_CONTROLS, augmentation: false })).toBe("without planner and oracle records");
});
