/**
 * What a newcomer waits for in the page, in Chromium on this machine's GPU: from the press on "Does evidence help?" to the
 * first bars of all contexts, then from "Train students" to the first curve that has left its parent. Each repeat
 * starts a browser with an empty profile. __GL_SHADER_DISK_CACHE=0 turns the NVIDIA driver's own cache off.
 *
 *     npm run build && npm run bench -- evidence-test [--repeats 3] [--browser PATH] [--software]
 *
 * Bundled by `bundle` of scripts/run.mjs as `standalone`, it runs beside `dist/page` and `node_modules/playwright`.
 */
import { parseArgs } from "node:util";
import type { Page } from "playwright";
import { adapterOf, servePage, withBrowser } from "./support/browser/built-page.ts";
import { median } from "./support/median.ts";
import { numberOr } from "./support/options.ts";

const { values } = parseArgs({
  options: {
    repeats: { type: "string" },
    browser: { type: "string" },
    software: { type: "boolean", default: false },
  },
});
const REPEATS = numberOr(values.repeats, 3);
const PATIENCE = values.software ? 3_600_000 : 300_000;

/** Seconds from a press to what it led to, and the chart's words then. */
interface Waited {
  adapter: string;
  bars: number;
  allDecisions: number;
  curve: number;
  students: string;
}

const seconds = (from: number): number => (performance.now() - from) / 1000;

async function wait(page: Page, url: string): Promise<Waited> {
  await page.goto(url);
  const adapter = await adapterOf(page, values);
  const start = page.getByRole("button", { name: "Does evidence help?" });
  await start.waitFor();
  const pressed = performance.now();
  await start.click();
  await page.getByRole("img", { name: /^Probability of an optimal action.*full graph: \d/ }).waitFor();
  const bars = seconds(pressed);
  await page.getByRole("button", { name: "All scored" }).waitFor();
  const allDecisions = seconds(pressed);
  const trained = performance.now();
  await page.getByTestId("students").getByRole("button", { name: "Train students" }).click();
  const chart = page.getByRole("img", { name: /^Success on unseen tasks.*after step [1-9]/ });
  await chart.waitFor();
  for (;;) {
    const told = (await chart.getAttribute("aria-label"))!;
    const parent = /parent ([\d.]+) %/.exec(told)?.[1];
    const left =
      parent !== undefined &&
      [...told.matchAll(/(?<!recorded): after step [1-9]\d* ([\d.]+) %/g)].some(
        ([, success]) => success !== parent,
      );
    if (left) return { adapter, bars, allDecisions, curve: seconds(trained), students: told };
    await page.waitForTimeout(100);
  }
}

const served = await servePage();
const waited: Waited[] = [];
for (let n = 0; n < REPEATS; n += 1) {
  waited.push(
    await withBrowser(values, async (browser) => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      page.setDefaultTimeout(PATIENCE);
      return wait(page, served.url);
    }),
  );
  console.error(`${n + 1} of ${REPEATS}: ${JSON.stringify(waited.at(-1))}`);
}
served.close();

const row = (what: string, of: (each: Waited) => number): string => {
  const all = waited.map(of);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return `| ${what} | ${median(all).toFixed(1)} | ${least.toFixed(1)} to ${most.toFixed(1)} |`;
};
console.log(`Adapter: ${waited[0]!.adapter}\n`);
console.log(`| seconds, ${REPEATS} cold browsers | median | range |`);
console.log("| --- | ---: | ---: |");
console.log(row("from “Does evidence help?” to the bars of all contexts", ({ bars }) => bars));
console.log(row("to all decisions scored", ({ allDecisions }) => allDecisions));
console.log(row("from “Train students” to a curve that has left its parent", ({ curve }) => curve));
