import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readCells } from "../../../../scripts/miniature/cells.ts";
import { registeredForPage, registeredResults } from "../../../../scripts/miniature/registered-results.ts";
import { readRegistration } from "../../../../scripts/miniature/registration.ts";
import { readRegistered } from "./registered.ts";

const FILE = "public/miniature/registered.json";
const text = readFileSync(FILE, "utf8");

it("ships what the kept trainings say", async () => {
  const registration = readRegistration("configs/miniature/registered.json");
  const cells = await readCells("configs/miniature/registered-cells.json");
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(registeredForPage(registration, cells))));
});

it("keeps enough digits that the page rounds once", async () => {
  const registration = readRegistration("configs/miniature/registered.json");
  const cells = await readCells("configs/miniature/registered-cells.json");
  const exact = registeredResults(registration, cells, []).methods.map(({ over }) => over);
  const tenths = ({ mean, interval }: { mean: number; interval: readonly [number, number] | null }) =>
    [mean, ...(interval ?? [])].map((value) => value.toFixed(1));
  expect(readRegistered(text, FILE).methods.map(tenths)).toEqual(exact.map(tenths));
});

it("the README says how many trainings each method has, and what GC-OPD gains", () => {
  const { methods, primary } = readRegistered(text, FILE);
  const each = new Set(methods.map(({ n }) => n));
  const gain = primary.find(({ b }) => b === "opd")!.mean;
  const readme = readFileSync("README.md", "utf8");
  expect(readme).toContain(`(${[...each]} trainings of each of twelve methods)`);
  expect(readme).toContain(`GC-OPD beats vanilla OPD by ${gain.toFixed(1)} points`);
  expect(methods).toHaveLength(12);
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
