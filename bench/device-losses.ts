/**
 * The page loses its device over and over, in Chromium on this machine's GPU: while it scores a decision, while it
 * draws the teacher's actions, and while it updates the student, each time at a random submission of that work. What
 * has to hold: the page says what happened, the same press afterwards gives the numbers and the weights of undisturbed
 * work, the student that was updated before is still there, and neither the tab nor the GPU's process grows.
 *
 *     npm run build && npm run bench -- device-losses [--losses 100] [--seed 1] [--browser PATH] [--software]
 *
 * Bundled by `bundle` of scripts/run.mjs as `standalone`, it runs beside `dist/page` and `node_modules/playwright`.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { unzipSync } from "fflate";
import type { Browser, Locator, Page } from "playwright";
import { uniforms } from "../src/core/seeded.ts";
import { adapterOf, servePage, withBrowser } from "./support/browser/built-page.ts";
import { numberOr } from "./support/options.ts";
import { cardNow, collectGarbage, memoryNow } from "./support/tab-memory.ts";

const { values } = parseArgs({
  options: {
    losses: { type: "string" },
    seed: { type: "string" },
    browser: { type: "string" },
    software: { type: "boolean", default: false },
  },
});
const LOSSES = numberOr(values.losses, 100);
const uniform = uniforms(numberOr(values.seed, 1));
const PATIENCE = values.software ? 600_000 : 60_000;
const CHANNEL = "gcopd-device-losses";
const TASK = "find-non-living-thing|36|easy";

/** Runs in the page's compute worker, before its own script: counts submissions, and loses the device at one of them. */
function inWorker(name: string): void {
  const channel = new BroadcastChannel(name);
  let device: GPUDevice | null = null;
  let submitted = 0;
  let lossAt = 0;
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...options) {
    device = await request.apply(this, options);
    return device;
  };
  const submit = GPUQueue.prototype.submit;
  GPUQueue.prototype.submit = function (...buffers) {
    submitted += 1;
    if (submitted === lossAt) device?.destroy();
    return submit.apply(this, buffers);
  };
  channel.onmessage = ({ data }: MessageEvent<{ arm?: number; ask?: true }>) => {
    if (data.arm !== undefined) {
      submitted = 0;
      lossAt = data.arm;
      channel.postMessage({ armed: data.arm });
    } else if (data.ask) channel.postMessage({ submitted });
  };
  channel.postMessage({ started: true });
}

/** Has the compute worker lose its device at a submission from here on, 0: at none. One that is yet to start is told then. */
const arm = (page: Page, at: number): Promise<void> =>
  page.evaluate(
    ([name, submission]) => {
      const channel = new BroadcastChannel(name);
      channel.onmessage = ({ data }) => {
        if ("started" in data) channel.postMessage({ arm: submission });
        else if ("armed" in data) channel.close();
      };
      channel.postMessage({ arm: submission });
    },
    [CHANNEL, at] as const,
  );

/** @returns submissions since the worker was armed */
const submissions = (page: Page): Promise<number> =>
  page.evaluate(
    (name) =>
      new Promise<number>((resolve) => {
        const channel = new BroadcastChannel(name);
        channel.onmessage = ({ data }) => {
          channel.close();
          resolve(data.submitted);
        };
        channel.postMessage({ ask: true });
      }),
    CHANNEL,
  );

/** A piece of work: how it is started, when it has ended well, what it gave, word for word, and where a loss is told. */
interface Work {
  name: string;
  prepare(page: Page): Promise<void>;
  start(page: Page): Promise<void>;
  ended(page: Page): Promise<void>;
  result(page: Page): Promise<string>;
  told(page: Page): Locator;
}

const address = (view: string): string => `#/${view}/${encodeURIComponent(TASK)}?library=sample&decision=1`;

/** Opens a view afresh: nothing is scored, and a student that was updated is restored. */
async function open(page: Page, view: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${served.url}${address(view)}`);
  await page.getByTestId("decision").waitFor();
}

const TOKENS = "All tokens in figures";

const SCORE: Work = {
  name: "scoring",
  prepare: (page) => open(page, "tokens"),
  start: (page) => page.keyboard.press("s"),
  ended: (page) => page.getByRole("grid", { name: TOKENS }).waitFor(),
  result: async (page) => (await page.getByRole("grid", { name: TOKENS }).textContent())!,
  told: (page) => page.getByRole("alert"),
};

const DECODE: Work = {
  name: "decoding",
  async prepare(page) {
    await SCORE.prepare(page);
    await SCORE.start(page);
    await SCORE.ended(page);
  },
  start: (page) => page.getByRole("button", { name: "Ask the teacher" }).click(),
  ended: (page) =>
    page.getByRole("button", { name: "Ask the teacher again" }).and(page.locator(":enabled")).waitFor(),
  result: async (page) => (await page.getByRole("table", { name: "Actions of the teacher" }).textContent())!,
  told: (page) => page.getByRole("alert"),
};

const UPDATE: Work = {
  name: "updating",
  async prepare(page) {
    await open(page, "training");
    await page.getByRole("button", { name: "Update" }).waitFor();
    const revert = page.getByRole("button", { name: "Revert to the loaded student" });
    if (await revert.isEnabled()) await revert.click();
    await page.getByLabel("Vanilla passes").fill("2");
    await page.getByLabel("Learning rate").fill("1e-3");
    await page.getByLabel("Learning rate").blur();
  },
  start: (page) => page.getByRole("button", { name: "Update" }).click(),
  ended: (page) => page.getByTestId("run-message").getByText("Done: 3 steps").waitFor(),
  async result(page) {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as .zip" }).click();
    const files = unzipSync(readFileSync(await (await download).path()));
    return createHash("sha256").update(files["student/model.safetensors"]!).digest("hex");
  },
  told: (page) => page.getByTestId("run-message"),
};

const TOLD = /[^.]*device (was lost|failed once)[^.]*/;
/** Opened, or still to be opened. */
const TRAINED = /updated here \(3 steps\)|trained in this browser/;

/** Undisturbed work, as it is compared with later. */
interface Calm {
  work: Work;
  result: string;
  submissions: number;
  /** Of this work so far, and what the page said of them. */
  losses: number;
  said: Set<string>;
}

async function calmly(page: Page, work: Work): Promise<Calm> {
  console.error(`${work.name}, undisturbed`);
  await work.prepare(page);
  await arm(page, 0);
  await work.start(page);
  await work.ended(page);
  return {
    work,
    submissions: await submissions(page),
    result: await work.result(page),
    losses: 0,
    said: new Set(),
  };
}

const faults: string[] = [];

function check(holds: boolean, what: string): void {
  if (holds) return;
  console.error(what);
  faults.push(what);
}

/** One loss, and the same work after it. */
async function lose(page: Page, calm: Calm): Promise<void> {
  const at = 1 + Math.floor(uniform() * calm.submissions);
  const where = `${calm.work.name}, submission ${at} of ${calm.submissions}`;
  console.error(where);
  calm.losses += 1;
  try {
    await loseAt(page, calm, at, where);
  } catch (error) {
    check(false, `${where}: ${error instanceof Error ? error.message : error}`);
  }
}

async function loseAt(page: Page, calm: Calm, at: number, where: string): Promise<void> {
  const { work, result } = calm;
  await work.prepare(page);
  await arm(page, at);
  await work.start(page);
  const telling = work.told(page).getByText(TOLD);
  await telling.waitFor();
  const said = (await telling.textContent())!;
  calm.said.add(TOLD.exec(said)![0].trim());
  // Training goes on by itself, unless its models were still being opened.
  if (!said.includes("failed once")) await work.start(page);
  await work.ended(page);
  const after = await work.result(page);
  check(after === result, `${where}: the result is ${after}, undisturbed it is ${result}`);
  const student = (await page.getByTestId("model-student").textContent())!;
  check(TRAINED.test(student), `${where}: the student is ${student}`);
}

/** What the page has taken with all its work at rest, garbage collected. Megabytes, but for `workers`. */
async function taken(browser: Browser, page: Page): Promise<Record<string, number>> {
  await open(page, "tokens");
  await collectGarbage(page);
  return { ...(await memoryNow(browser)), ...cardNow(), workers: page.workers().length };
}

const served = await servePage([
  { path: /\/compute\.worker-[^/]*\.js$/, text: `(${inWorker})(${JSON.stringify(CHANNEL)});` },
]);
await withBrowser(values, async (browser) => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(PATIENCE);
  page.on("pageerror", (error) => check(false, `an error that nobody caught: ${error.message}`));
  await page.goto(served.url);
  console.log(`Adapter: ${await adapterOf(page, values)}\n`);
  // What is scored and drawn needs the student that the first of them leaves.
  const calm: Calm[] = [];
  for (const work of [UPDATE, SCORE, DECODE]) calm.push(await calmly(page, work));
  // A round of losses first: whatever is kept once is no leak.
  for (const each of calm) await lose(page, each);
  const before = await taken(browser, page);
  for (let n = calm.length; n < LOSSES; n += 1) await lose(page, calm[n % calm.length]!);
  const after = await taken(browser, page);
  console.log("| work | losses | of so many submissions | said |");
  console.log("| --- | ---: | ---: | --- |");
  for (const { work, losses, said, ...undisturbed } of calm)
    console.log(`| ${work.name} | ${losses} | ${undisturbed.submissions} | ${[...said].join("; ")} |`);
  console.log(`\n| | after ${calm.length} losses | after ${Math.max(LOSSES, calm.length)} |`);
  console.log("| --- | ---: | ---: |");
  for (const [what, value] of Object.entries(before))
    console.log(`| ${what} | ${value.toFixed(0)} | ${after[what]!.toFixed(0)} |`);
  console.log(`\n${faults.length} faults${faults.map((each) => `\n- ${each}`).join("")}`);
});
served.close();
process.exitCode = faults.length === 0 ? 0 : 1;
