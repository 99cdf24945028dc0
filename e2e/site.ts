/**
 * The page as a user has it: a worker of its own on a free port, and a browser page that fails its test when anything
 * goes wrong in silence: an error in the console, a blocked resource, a request to any other origin.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { WorkerFixture } from "@playwright/test";
import { test as base, expect, type Locator, type Page } from "./base.ts";
import { MODEL_TIME } from "./throttle.ts";

interface Site {
  /** Ends with a slash. */
  url: string;
}

interface StartedSite extends Site {
  /** Resolves when its process has ended. */
  stop(): Promise<void>;
}

export async function startWorker(
  data: string,
  ...options: string[]
): Promise<StartedSite & { process: ChildProcess }> {
  for (const built of ["dist/cli.js", "dist/page/index.html"]) {
    if (!existsSync(built)) throw new Error(`${built} is not there: run \`npm run build\` first`);
  }
  const worker = spawn(
    process.execPath,
    ["bin/gcopd.js", "worker", "--port", "0", "--data", data, ...options],
    {
      stdio: ["ignore", "pipe", "inherit"],
      // Not the targets of whoever runs the tests.
      env: { ...process.env, XDG_CONFIG_HOME: `${data}-config` },
    },
  );
  const lines = createInterface({ input: worker.stdout! });
  const [line] = (await Promise.race([
    once(lines, "line"),
    once(worker, "exit").then(() => Promise.reject(new Error("the worker ended before it listened"))),
  ])) as [string];
  const stop = async () => {
    if (worker.exitCode !== null || worker.signalCode !== null) return;
    worker.kill("SIGTERM");
    await once(worker, "exit");
  };
  return { url: line.endsWith("/") ? line : `${line}/`, process: worker, stop };
}

/** Uses a site in a new folder, which is gone with it. */
async function withSite(
  start: (folder: string) => Promise<StartedSite>,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
  const { url, stop } = await start(folder);
  await use(url);
  await stop();
  await rm(folder, { recursive: true, force: true });
}

/** The site of a test file, started once per Playwright worker. */
export function siteFixture(
  start: (folder: string) => Promise<StartedSite>,
): [WorkerFixture<Site, object>, { scope: "worker" }] {
  return [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs from here
    async ({}, use) => withSite(start, (url) => use({ url })),
    { scope: "worker" },
  ];
}

/** What may be in the console of a test that expects it, as parts of the text. */
interface Options {
  expectedErrors: string[];
}

/** A worker for many tests. What one of them leaves there, another would find. */
async function startShared(folder: string): Promise<StartedSite> {
  const { url, stop } = await startWorker(folder);
  const jobs = join(folder, "jobs");
  return {
    url,
    async stop() {
      await stop();
      const left = existsSync(jobs) ? readdirSync(jobs) : [];
      expect(left, "jobs on the worker that tests share: a test with some is a testWithWorker").toEqual([]);
    },
  };
}

export const test = base.extend<Options & { watched: undefined }, { site: Site }>({
  site: siteFixture(startShared),
  baseURL: async ({ site }, use) => use(site.url),
  expectedErrors: [[], { option: true }],
  watched: [
    async ({ page, baseURL, expectedErrors }, use) => {
      const problems: string[] = [];
      const note = (text: string): void => {
        if (!expectedErrors.some((part) => text.includes(part))) problems.push(text);
      };
      page.on("pageerror", (error) => note(`uncaught: ${error.message}`));
      page.on("console", (message) => {
        if (message.type() === "error") note(`console: ${message.text()}`);
      });
      page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(baseURL!) && !/^(data|blob):/.test(url)) note(`request to ${url}`);
      });
      // Firefox says it in the console; Chromium tells only who listens.
      await page.addInitScript(() =>
        document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
          console.error(`${violatedDirective} forbids ${blockedURI}`),
        ),
      );
      await use(undefined);
      expect(problems).toEqual([]);
    },
    { auto: true },
  ],
});

/** For tests that have the worker do something: each has a worker of its own, and finds no runs of another's there. */
export const testWithWorker = test.extend({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs from here
  baseURL: async ({}, use) => withSite((folder) => startWorker(folder), use),
});

export { expect, type Page };

/**
 * Presses a key on a control once it is enabled. Playwright's own `press` does not wait for that, unlike its `click`, and
 * a key on a disabled button is lost.
 */
export async function pressEnabled(control: Locator, key = "Enter"): Promise<void> {
  await expect(control).toBeEnabled();
  await control.press(key);
}

/** Opens the page at a hash, in the library by default. */
export async function visit(page: Page, hash = ""): Promise<void> {
  // A new hash on the same page is not a navigation: start from nothing.
  await page.goto("about:blank");
  await page.goto(hash === "" ? "./" : `./${hash}`);
}

export async function openSample(page: Page): Promise<void> {
  await visit(page);
  await page.getByRole("button", { name: "Open the sample" }).click();
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
}

/** Waits until nothing is at work: before, a key that would set a model to work only says why it does not. */
export async function atRest(page: Page): Promise<void> {
  await expect(page.getByTestId("at-work")).toHaveCount(0, { timeout: MODEL_TIME });
}

/** Opens the training form where it has made room for a run. */
export async function openTrainingForm(page: Page): Promise<void> {
  const fold = page.getByTestId("form-fold");
  await expect(fold.or(page.getByTestId("plan"))).not.toHaveCount(0);
  if ((await fold.count()) > 0 && (await fold.getAttribute("aria-expanded")) === "false") await fold.click();
}

/** Fills the limits of an episode that the student plays. */
export async function limitEpisodes(
  page: Page,
  { decisions, tokens }: { decisions: number; tokens: number },
): Promise<void> {
  await page.getByLabel("Maximum decisions").fill(String(decisions));
  await page.getByLabel("Maximum tokens per response").fill(String(tokens));
}

/** A task of the sample at one of its decisions. */
export function sampleHash(
  view: string,
  task: string,
  parameters: Record<string, string | number> = {},
): string {
  const query = new URLSearchParams({ library: "sample" });
  for (const [key, value] of Object.entries(parameters)) query.set(key, String(value));
  return `#/${view}/${encodeURIComponent(task)}?${query}`;
}

/** Waits until the decision's retrieval is shown. */
export async function decisionShown(page: Page, decision: number): Promise<void> {
  await expect(page.getByTestId("decision")).toHaveText(String(decision));
  await expect(page.getByRole("heading", { name: `Decision ${decision}`, exact: true })).toBeVisible();
  // Evidence that is out of sight follows when steps rest.
  await expect(page.locator("section[aria-busy=true]")).toHaveCount(0);
}
