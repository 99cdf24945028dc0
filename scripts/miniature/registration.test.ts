import { expect, it } from "vitest";
import { experimentConfigSchema, type GridConfig } from "../../src/core/loop/experiment-config.ts";
import { experimentGrid } from "../../src/core/loop/experiment-grid.ts";
import {
  candidate,
  choiceConfig,
  chosenSettings,
  type Registration,
  readRegistration,
  worldConfig,
} from "./registration.ts";
import { STUDENT_WORLDS, TRAINING_WORLDS } from "./rows.ts";

const FILE = "configs/miniature/registered.json";
/** The library, the gate and the page's evidence test. */
const SHIPPED_WORLD = 1;

const gridOf = (config: object) =>
  experimentGrid(experimentConfigSchema.parse(config) as GridConfig, (name) => `/out/${name}`);
const chosen = { all: { learning_rate: 1e-3 }, grpo: { learning_rate: 1e-4 } };

it("is every method × 16 seeds × 3 worlds that no model has seen, and the same episodes for all", () => {
  const registration = readRegistration(FILE);
  expect(registration.seeds.length).toBeGreaterThanOrEqual(16);
  expect(registration.worlds.length).toBeGreaterThanOrEqual(3);
  for (const world of [...registration.worlds, registration.validation_world]) {
    expect(world).not.toBe(SHIPPED_WORLD);
    expect(world).toBeLessThan(Math.min(TRAINING_WORLDS, STUDENT_WORLDS));
  }
  for (const world of registration.worlds) {
    const grid = gridOf(worldConfig(registration, world, chosen));
    expect(grid.cells).toHaveLength(registration.methods.length * registration.seeds.length);
    // Refused by the grid unless all have as many.
    expect(grid.epochs).toBe(20);
  }
  const grid = gridOf(worldConfig(registration, registration.worlds[0]!, chosen));
  // A seed is whole before the next one begins.
  const order = grid.runs.map(({ seed }) => seed);
  expect(order).toEqual([...order].sort((a, b) => a - b));
  const rateOf = (run: string) => grid.runs.find(({ name }) => name === run)!.config.settings.learning_rate;
  expect([rateOf("cells/gc-opd-seed-1"), rateOf("cells/grpo-seed-1")]).toEqual([1e-3, 1e-4]);
  expect(grid.cells.filter(({ parent }) => parent === "parents/vanilla-seed-1")).toHaveLength(6);
  const unseen = grid.evaluations.find(({ name }) => name === "unseen")!.of("").environment.made!;
  expect(unseen.seed).toBeGreaterThan(registration.tasks.first + registration.tasks.count);
});

it("tries the candidates on the validation world alone, and takes the best, of equal ones the first", () => {
  const registration: Registration = readRegistration(FILE);
  const [choice] = registration.choice as [Registration["choice"][number]];
  const grid = gridOf(choiceConfig(registration, choice));
  expect(grid.methods.map(({ id }) => id)).toContain("gc-opd.3");
  for (const { config } of grid.runs) expect(config.environment?.made?.world).toBe(1000);
  const norms = grid.runs.map(({ config }) => config.settings.max_grad_norm);
  expect(new Set(norms)).toEqual(new Set([1, 0.25]));
  const success: Record<string, number> = {};
  const set = (n: number, opd: number, successOnly: number, gc: number) => {
    success[candidate("opd", n)] = opd;
    success[candidate("success-only", n)] = successOnly;
    success[candidate("gc-opd", n)] = gc;
  };
  set(0, 10, 20, 30);
  set(1, 24, 26, 34);
  set(2, 24, 35, 25);
  const { settings, means } = chosenSettings(choice, (method) => success[method]!);
  expect(means.map((each) => each.success)).toEqual([20, 28, 28]);
  expect(settings).toBe(choice.candidates[1]);
});
