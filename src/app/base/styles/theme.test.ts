import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rgb } from "d3";
import { expect, it } from "vitest";

/** Colours as far apart as this, in OKLab, are told apart in a thin line. */
const APART = 0.1;

const MEANINGS = ["with-evidence", "without-evidence", "student", "success", "failure", "up", "down"];

const [light, dark] = readFileSync(join(import.meta.dirname, "theme.css"), "utf8").split(
  ':root[data-theme="dark"]',
);

/** Björn Ottosson's OKLab. */
function oklab(colour: string): [number, number, number] {
  const { r, g, b } = rgb(colour);
  const [red, green, blue] = [r, g, b].map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

it.each([
  ["light", light!],
  ["dark", dark!],
])("keeps colours that only tell apart away from those that mean something: %s", (_, css) => {
  const colours = new Map(
    [...css.matchAll(/--([\w-]+): (#\w{6});/g)].map(([, name, colour]) => [name!, colour!]),
  );
  const series = [...colours.keys()].filter((name) => /^(side|hue)-\d$/.test(name));
  expect(series).toHaveLength(10);
  const near = series.flatMap((name) =>
    MEANINGS.filter(
      (meaning) =>
        Math.hypot(...oklab(colours.get(name)!).map((v, i) => v - oklab(colours.get(meaning)!)[i]!)) < APART,
    ).map((meaning) => `${name} is like ${meaning}`),
  );
  expect(near).toEqual([]);
});
