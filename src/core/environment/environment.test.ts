import { expect, test } from "vitest";
import {
  customEnvironmentNote,
  environmentNames,
  environmentRules,
  isCustomEnvironment,
} from "./environment.ts";

test.each([
  ["scienceworld", [5, 30, 10_240, 512, 40_513, 40_000], [false, null, true, true, true, true]],
  ["alfworld", [5, 30, 10_240, 512, 40_513, 40_000], [true, 30, false, false, false, false]],
  ["webshop", [2, 15, 63_488, 2_048, 262_144, 260_095], [false, null, true, true, true, true]],
  ["my-own-world", [5, 30, 10_240, 512, 40_513, 40_000], [false, null, true, true, true, true]],
])("limits and retention of %s are the paper's", (name, limits, retention) => {
  const rules = environmentRules(name);
  expect(rules.name).toBe(name);
  expect([
    rules.limits.historyPairs,
    rules.limits.decisions,
    rules.limits.promptTokens,
    rules.limits.responseTokens,
    rules.limits.teacherContextTokens,
    rules.limits.evidenceTokens,
  ]).toEqual(limits);
  expect([
    rules.trustedSourcesOnly,
    rules.planDecisions,
    rules.admitsTerminalEntry,
    rules.checksContinuity,
    rules.testsUnalignedEntry,
    rules.unverifiedFallback,
  ]).toEqual(retention);
});

test("every name without rules of its own is a custom environment, without a locator", () => {
  expect(environmentNames()).toEqual(["scienceworld", "alfworld", "webshop"]);
  for (const name of ["ScienceWorld", "custom", "", "constructor"]) {
    expect(isCustomEnvironment(name)).toBe(true);
    expect(environmentRules(name).locate).toBeNull();
  }
  expect(environmentNames().some(isCustomEnvironment)).toBe(false);
  expect(customEnvironmentNote("mars")).toMatch(/^environment "mars" is custom: [^\n]*$/);
});

test("no environment but ScienceWorld takes an empty action", () => {
  const menu = "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):";
  for (const name of ["alfworld", "webshop", "mars"]) {
    expect(environmentRules(name).parseResponse("<action> </action>", menu)).toEqual({
      action: null,
      thought: null,
      problem: "an empty action where no menu asks for a blank answer",
    });
  }
  expect(environmentRules("scienceworld").parseResponse("<action></action>", menu).action).toBe("");
});
