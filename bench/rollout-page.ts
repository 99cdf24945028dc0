/**
 * Rollouts in the page: decisions per second of the sample's student in made games, evaluated from the page's panel in a
 * real browser, beside `gcopd evaluate` of the same games, seeds and limits. Both play all games with one seed, and then
 * with several: the difference is without what happens once (model, kernels, games).
 *
 *     npm run build && npm run bench -- rollout-page [--games 64 --decisions 16 --tokens 24 --seeds 5]
 *
 * Without `--browser`, the address of DevTools of a Chromium that was started with a GPU
 * (`http://127.0.0.1:9222`), a Chromium with the software adapter plays a few games.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright";
import { findChromium } from "../scripts/browser.mjs";
import { numberOr } from "./support/options.ts";

const { values: options } = parseArgs({
  options: {
    games: { type: "string" },
    decisions: { type: "string" },
    tokens: { type: "string" },
    seeds: { type: "string" },
    browser: { type: "string" },
  },
});
const software = options.browser === undefined;
const games = numberOr(options.games, software ? 4 : 64);
const decisions = numberOr(options.decisions, software ? 4 : 16);
const tokens = numberOr(options.tokens, software ? 8 : 24);
const seeds = numberOr(options.seeds, software ? 2 : 5);
if (seeds < 2) throw new Error("--seeds: at least 2");
if (!existsSync("dist/page/index.html") || !existsSync("dist/cli.js"))
  throw new Error("dist/ is not there: run `npm run build` first");

/** What one measurement found: decisions made, and seconds that they took. */
interface Measured {
  decisions: number;
  seconds: number;
}

/** What the seeds after the first cost. */
const steady = (one: Measured, all: Measured): Measured => ({
  decisions: all.decisions - one.decisions,
  seconds: all.seconds - one.seconds,
});

/** Decisions of a `results.json`. */
function decisionsOf(text: string): number {
  const {
    tasks,
    seeds: played,
    rounds,
  } = JSON.parse(text) as {
    tasks: number;
    seeds: number[];
    rounds: { mean: number };
  };
  return Math.round(tasks * played.length * rounds.mean);
}

const scratch = mkdtempSync(join(tmpdir(), "gcopd-rollout-page-"));
const seedsUpTo = (count: number) => Array.from({ length: count }, (_, seed) => seed);

function inNode(count: number): Measured {
  const config = join(scratch, `evaluate-${count}.json`);
  writeFileSync(
    config,
    JSON.stringify({
      model: join(process.cwd(), "public/sample/student"),
      tokenizer: join(process.cwd(), "public/sample/tokenizer"),
      environment: {
        name: "alfworld",
        made: { count: games, seed: 0, size: "small" },
        max_decisions: decisions,
        max_tokens: tokens,
      },
      seeds: seedsUpTo(count),
      at_once: games,
    }),
  );
  const out = join(scratch, `node-${count}`);
  const start = performance.now();
  execFileSync(process.execPath, ["bin/gcopd.js", "evaluate", "--config", config, "--out", out], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const seconds = (performance.now() - start) / 1000;
  return { decisions: decisionsOf(readFileSync(join(out, "results.json"), "utf8")), seconds };
}

async function inPage(page: Page, count: number): Promise<Measured> {
  await page.getByRole("textbox", { name: "Seeds" }).fill(seedsUpTo(count).join(", "));
  const ended = page.getByTestId("evaluation");
  const before = await ended.count();
  const start = performance.now();
  await page.getByRole("button", { name: "Evaluate" }).click();
  await ended.nth(before).waitFor({ timeout: 600_000 });
  const seconds = (performance.now() - start) / 1000;
  const figures = ended.first();
  const columns = await figures.getByRole("columnheader").allTextContents();
  const row = figures.getByRole("row", { name: /^all / });
  const rounds = await row.locator("th, td").nth(columns.indexOf("Rounds")).textContent();
  return { decisions: Math.round(Number.parseFloat(rounds!) * games * count), seconds };
}

const worker = spawn(
  process.execPath,
  ["bin/gcopd.js", "worker", "--port", "0", "--data", join(scratch, "jobs")],
  { stdio: ["ignore", "pipe", "ignore"] },
);
const executablePath = await findChromium();
const browser =
  options.browser === undefined
    ? await chromium.launch({
        ...(executablePath === undefined ? {} : { executablePath }),
        args: ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
      })
    : await chromium.connectOverCDP(options.browser);
try {
  const [url] = (await once(createInterface({ input: worker.stdout }), "line")) as [string];
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  await page.getByRole("link", { name: "Play" }).click();
  await page.getByRole("spinbutton", { name: "Games" }).fill(String(games));
  await page.getByRole("button", { name: "Make games" }).click();
  await page.getByLabel("What to do with the games").selectOption("runs");
  await page.getByLabel("Maximum decisions").fill(String(decisions));
  await page.getByLabel("Maximum tokens per response").fill(String(tokens));
  await page.getByLabel("Episodes at once").fill(String(games));
  const device = await page.evaluate(async () => {
    const { vendor, architecture, description } = (await navigator.gpu.requestAdapter())!.info;
    return [vendor, architecture, description].join(" ").trim();
  });
  await inPage(page, 1);
  const rows = [
    { where: "page", ...steady(await inPage(page, 1), await inPage(page, seeds)) },
    { where: "Node", ...steady(inNode(1), inNode(seeds)) },
  ];
  console.log(
    `The sample's student in ${games} made games of small size, at most ${decisions} decisions of ${tokens} tokens, ` +
      `${seeds} seeds; WebGPU of the page: ${device}\n\n| where | decisions | seconds | decisions/s |\n| --- | ---: | ---: | ---: |`,
  );
  for (const { where, decisions: made, seconds } of rows)
    console.log(`| ${where} | ${made} | ${seconds.toFixed(2)} | ${(made / seconds).toPrecision(3)} |`);
} finally {
  await browser.close();
  worker.kill("SIGTERM");
  await once(worker, "exit");
  rmSync(scratch, { recursive: true });
}
