/** The page in a stock Firefox, over WebDriver BiDi: the sample scored on the CPU reference, and a silent console. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import Papa from "papaparse";
import puppeteer, { type Page } from "puppeteer-core";
import { findFirefox } from "../scripts/browser.mjs";
import { startWorker } from "./site.ts";
import { scoreInTerminal } from "./terminal.ts";
import { MODEL_TIME } from "./throttle.ts";

const TASK = "find-non-living-thing|36|easy";
const DECISION = 1;

/** Without the mouse: Puppeteer's clicks wait until the element rests for two frames, and frames are rare on a busy machine. */
async function press(page: Page, name: string) {
  const element = await page.waitForSelector(`::-p-aria(${name})`);
  await element?.evaluate((found) => found instanceof HTMLElement && found.click());
}

test("the sample is scored as the command line scores it, and the console stays empty", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gcopd-firefox-"));
  const worker = await startWorker(join(folder, "data"));
  const browser = await puppeteer.launch({
    browser: "firefox",
    protocol: "webDriverBiDi",
    executablePath: findFirefox(),
    headless: true,
    protocolTimeout: MODEL_TIME,
    timeout: MODEL_TIME,
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(MODEL_TIME);
    const problems: string[] = [];
    // Firefox reports what a policy blocked as an error of the page.
    page.on("pageerror", (error) => problems.push(error instanceof Error ? error.message : String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(worker.url);
    await press(page, "Open the sample");
    await press(page, TASK);
    await page.waitForSelector("::-p-aria(Decision 0)");
    await page.keyboard.press("j");
    await page.waitForSelector(`::-p-aria(Decision ${DECISION})`);
    await page.select("[data-testid=device]", "cpu");
    await page.keyboard.press("s");
    await page.waitForSelector("[data-testid=strip]");
    const provenance = await page.$eval("[aria-label='Measured on']", ({ textContent }) => textContent);
    expect(provenance).toContain("CPU reference");

    await page.keyboard.press("c");
    await page.waitForSelector("dialog.case-study[open]");
    await page.select("dialog.case-study select", "whole");
    // The file that the page saves holds the figures unrounded.
    const csv = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          const create = URL.createObjectURL;
          URL.createObjectURL = (blob: Blob) => {
            void blob.text().then(resolve);
            return create(blob);
          };
          const buttons = [...document.querySelectorAll("dialog.case-study button")];
          buttons
            .filter((button) => button instanceof HTMLElement)
            .find(({ textContent }) => textContent === "Download CSV")
            ?.click();
        }),
    );
    const { data } = Papa.parse<Record<string, string>>(csv, { header: true, skipEmptyLines: true });
    const sample = [
      "--library",
      "public/sample/sources.jsonl.gz",
      "--episodes",
      "public/sample/episodes.jsonl.gz",
    ];
    const of = ["--episode", `${TASK}#0`, "--decision", String(DECISION)];
    const [vanilla, graph] = await scoreInTerminal([...sample, ...of], "public/sample/teacher", folder);
    for (const [column, scored] of [
      ["logp_vanilla", vanilla],
      ["logp_graph", graph],
    ] as const) {
      expect(data).toHaveLength(scored!.logprobs.length);
      for (const [i, value] of scored!.logprobs.entries())
        expect(Math.abs(Number(data[i]![column]) - value), `${column}, token ${i}`).toBeLessThan(2e-4);
    }
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
    await worker.stop();
    await rm(folder, { recursive: true });
  }
});
