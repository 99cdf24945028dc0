/**
 * The page as a user has it: a worker of its own on a free port, and a browser page that fails its test when anything
 * goes wrong in silence: an error in the console, a blocked resource, a request to any other origin.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { WorkerFixture } from "@playwright/test";
import { test as base, expect, type Locator, type Page } from "./base.ts";

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

/** The site of a test file, started once per Playwright worker in a new folder. */
export function siteFixture(
  start: (folder: string) => Promise<StartedSite>,
): [WorkerFixture<Site, object>, { scope: "worker" }] {
  return [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs from here
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
      const { url, stop } = await start(folder);
      await use({ url });
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
    { scope: "worker" },
  ];
}

/** What may be in the console of a test that expects it, as parts of the text. */
interface Options {
  expectedErrors: string[];
}

export const test = base.extend<Options & { watched: undefined }, { site: Site }>({
  site: siteFixture((folder) => startWorker(folder)),
  baseURL: async ({ site }, use) => use(site.url),
  expectedErrors: [[], { option: true }],
  watched: [
    async ({ page, site, expectedErrors }, use) => {
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
        if (!url.startsWith(site.url) && !/^(data|blob):/.test(url)) note(`request to ${url}`);
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

export { expect, type Page };

/** Opens the page at a hash, in the library by default. */
/**
 * Presses a key on a control once it is enabled. Playwright's own `press` does not wait for that, unlike its `click`, and
 * a key on a disabled button is lost.
 */
export async function pressEnabled(control: Locator, key = "Enter"): Promise<void> {
  await expect(control).toBeEnabled();
  await control.press(key);
}

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
