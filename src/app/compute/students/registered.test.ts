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

it("the README says how many trainings of the methods that are not done have ended", () => {
  const { methods, worlds, training_seeds } = readRegistered(text, FILE);
  const counts = methods.map(({ n }) => n).filter((n) => n < worlds.length * training_seeds);
  expect(readFileSync("README.md", "utf8")).toContain(
    `other methods ${Math.min(...counts)} to ${Math.max(...counts)} trainings each have ended`,
  );
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
