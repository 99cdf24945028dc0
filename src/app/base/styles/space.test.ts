import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const ROOM = /^\s*((row-|column-)?gap|(padding|margin)[a-z-]*):/;

/** Pixels of a line; hairlines stay hairlines. */
const isInPixels = (line: string): boolean =>
  [...line.matchAll(/([\d.]+)px/g)].some(([, pixels]) => Number(pixels) > 1);

it("room around and between things follows the size of text: it is in rem, or a --space-N", () => {
  const sheets = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.css$/.test(name),
  );
  expect(sheets.length).toBeGreaterThan(5);
  const lines = sheets.flatMap((name) => readFileSync(join(root, name), "utf8").split("\n"));
  expect(lines.filter((line) => ROOM.test(line) && isInPixels(line))).toEqual([]);
});
