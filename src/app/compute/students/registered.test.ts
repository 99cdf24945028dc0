import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readCells } from "../../../../scripts/miniature/cells.ts";
import { registeredForPage } from "../../../../scripts/miniature/registered-results.ts";
import { readRegistration } from "../../../../scripts/miniature/registration.ts";
import { readRegistered } from "./registered.ts";

const FILE = "public/miniature/registered.json";
const text = readFileSync(FILE, "utf8");

it("ships what the kept trainings say", async () => {
  const registration = readRegistration("configs/miniature/registered.json");
  const cells = await readCells("configs/miniature/registered-cells.json");
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(registeredForPage(registration, cells))));
});

it("reads the shipped file: comparisons, and every method, and a band for each that has all its trainings", () => {
  const { bands, primary, methods, trainings, planned, worlds, training_seeds } = readRegistered(text, FILE);
  const each = worlds.length * training_seeds;
  expect(planned).toBe(12 * each);
  expect(methods.reduce((sum, { n }) => sum + n, 0)).toBe(trainings);
  expect(bands.bands.map(({ method }) => method)).toEqual(
    methods.filter(({ n }) => n === each).map(({ method }) => method),
  );
  expect(bands.bands[0]!.points.map(({ steps }) => steps)).toEqual([0, 60, 120, 180, 240]);
  expect(primary.map(({ a, b }) => [a, b])).toEqual([
    ["gc-opd", "success-only"],
    ["gc-opd", "opd"],
  ]);
});

it("refuses results without a registration, naming the key", () => {
  const { registered: _, ...others } = JSON.parse(text);
  expect(() => readRegistered(JSON.stringify(others), "other.json")).toThrow(/other\.json.*registered/s);
});
