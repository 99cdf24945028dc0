/** How the page looks whatever it shows: its typefaces, controls of one height, and nothing that moves by itself. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator } from "./base.ts";
import { keepRuns } from "./kept-runs.ts";
import { dropFiles, EPISODES, jsonLines, OWN_FILES, SOURCES, TASK, upload } from "./own-files.ts";
import { scoreOwn } from "./own-tokens.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { atRest, decisionShown, expect, openSample, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const VIEWS = ["Library", "Task", "Tokens", "Training", "Statistics", "Runs", "Play", "Evidence"];

const tabs = (page: Page) => page.getByRole("navigation", { name: "Views" });

test("the typefaces come from the page’s own origin, and text is drawn in them", async ({ page }) => {
  const fonts: { url: string; type: string | undefined }[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith(".woff2"))
      fonts.push({ url: response.url(), type: response.headers()["content-type"] });
  });
  await openSample(page);
  await page.evaluate(() => document.fonts.ready);
  await expect.poll(() => fonts.length).toBeGreaterThanOrEqual(2);
  for (const { url, type } of fonts) expect(type, url).toBe("font/woff2");
  const loaded = await page.evaluate(() =>
    [...document.fonts].filter(({ status }) => status === "loaded").map(({ family }) => family),
  );
  expect(loaded.join()).toContain("Inter Variable");
  expect(loaded.join()).toContain("JetBrains Mono Variable");
  const family = await page.evaluate(() => getComputedStyle(document.body).fontFamily);
  expect(family).toMatch(/^"?Inter Variable/);
  expect((await page.request.get("licenses/inter.txt")).ok()).toBe(true);
});

/** In the typefaces of the page, which come in the place of others. */
async function openInTypefaces(page: Page): Promise<void> {
  await visit(page, sampleHash("library", ""));
  await expect(page.getByRole("row", { name: /melt/ })).toBeVisible();
  await page.evaluate(() => document.fonts.ready);
}

test("tabs stay where they are in every view, with a notice and with two libraries", async ({ page }) => {
  await openInTypefaces(page);
  const places = (): Promise<number[]> =>
    tabs(page)
      .getByRole("link")
      .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().left));
  const before = await places();
  for (const view of VIEWS) {
    await tabs(page).getByRole("link", { name: view }).click();
    await expect(tabs(page).getByRole("link", { name: view })).toHaveAttribute("aria-current", "page");
    expect(await places(), view).toEqual(before);
  }
  await dropFiles(page, [upload("chat.jsonl", Buffer.from("{}\n"))]);
  await expect(page.getByTestId("notice")).toBeVisible();
  expect(await places(), "with a notice").toEqual(before);
  await dropFiles(page, OWN_FILES);
  await expect(page.getByTestId("libraries").locator("tbody tr")).toHaveCount(2);
  expect(await places(), "with two libraries").toEqual(before);
});

test("a notice moves nothing in the view, and goes without moving anything", async ({ page }) => {
  await openInTypefaces(page);
  await expect(page.getByTestId("counting")).toHaveCount(0);
  const row = page.getByRole("row", { name: /melt/ });
  const place = await row.boundingBox();
  await dropFiles(page, [{ name: "chat.jsonl", mimeType: "application/json", buffer: Buffer.from("{}\n") }]);
  const notice = page.getByTestId("notice");
  await expect(notice).toBeVisible();
  expect(await row.boundingBox()).toEqual(place);
  // It fills the bar.
  const below = await notice.evaluate(
    (element) =>
      element.parentElement!.getBoundingClientRect().bottom - element.getBoundingClientRect().bottom,
  );
  expect(below).toBe(0);
  await notice.getByRole("button", { name: "Dismiss" }).click();
  await expect(notice).toHaveCount(0);
  expect(await row.boundingBox()).toEqual(place);
});

const topOf = async (of: Locator): Promise<number> => (await of.boundingBox())!.y;

/** Notes where elements stand in every frame from now on; the returned function says at which heights each was. */
async function watchTops(page: Page, ids: readonly string[]): Promise<() => Promise<number[][]>> {
  const tops = await page.evaluateHandle((names) => {
    const seen = names.map(() => new Set<number>());
    const look = (): void => {
      for (const [i, name] of names.entries()) {
        const top = document.querySelector(`[data-testid="${name}"]`)?.getBoundingClientRect().top;
        if (top !== undefined) seen[i]!.add(Math.round(top));
      }
      requestAnimationFrame(look);
    };
    look();
    return seen;
  }, ids);
  return () => tops.evaluate((seen) => seen.map((each) => [...each]));
}

test("scoring again, and leaving parts out, move nothing that stands there", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1200 });
  await scoreOwn(page, 1);
  await page.evaluate(() => document.fonts.ready);
  const before = await watchTops(page, ["strip", "left-out-headline"]);
  await noteTexts(page, "scoring");
  await page.getByRole("button", { name: "Score again" }).click();
  await expectSeen(page, "scoring", /tokens/);
  await atRest(page);
  for (const tops of await before()) expect(tops).toHaveLength(1);

  // What stands below moves once, as the parts are asked for, and no more as their figures come.
  const tops = await watchTops(page, ["left-out-headline", "teacher-actions"]);
  await page.getByRole("button", { name: "Leave out each event" }).click();
  await expect(page.getByTestId("left-out")).toContainText(/([2-9]) of \1 events/, { timeout: MODEL_TIME });
  await atRest(page);
  const [headline, below] = await tops();
  expect(headline).toHaveLength(1);
  expect(below).toHaveLength(2);

  // The map's frame is as thick as it was drawn, however far the map is stretched.
  await expect(page.locator(".effect-map .selected")).toHaveCSS("vector-effect", "non-scaling-stroke");
  const heights = await page
    .locator(
      ".scored-tools button, .left-out-tools button, .panel-head fieldset.segmented, .signals:has([name=unit])",
    )
    .evaluateAll((controls) => controls.map((control) => Math.round(control.getBoundingClientRect().height)));
  expect([...new Set(heights)]).toEqual([28]);
});

test("a what-if is told of below the view, which stays where it is", async ({ page }) => {
  await visit(page, sampleHash("task", "melt|12|easy", { decision: 3 }));
  await decisionShown(page, 3);
  const bar = page.locator(".step-bar");
  const before = await topOf(bar);
  await visit(page, sampleHash("task", "melt|12|easy", { decision: 3, control: "hindsight-only" }));
  await expect(page.getByTestId("what-if")).toBeVisible();
  expect(await topOf(bar)).toBe(before);
});

test("controls of a rail fold away when a wide window becomes narrow, and come back", async ({ page }) => {
  await visit(page, sampleHash("tokens", "melt|12|easy", { decision: 3 }));
  const rail = page.getByTestId("tokens-rail");
  await expect(rail).toHaveAttribute("open", "");
  await page.setViewportSize({ width: 800, height: 800 });
  await expect(rail).not.toHaveAttribute("open");
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(rail).toHaveAttribute("open", "");
});

test("runs and training have their controls in the same rail, beside what they set", async ({ page }) => {
  await visit(page, "#/runs");
  await expect(page.getByText("No run yet.")).toBeVisible();
  await keepRuns(page, [
    { digits: "000000000001", config: { seed: 0 }, losses: [3, 2, 2, 1] },
    { digits: "000000000002", config: { seed: 1 }, losses: [3, 2, 2, 1] },
  ]);
  await page.reload();
  const rail = page.getByTestId("runs-rail");
  for (const name of ["Group by", "Smooth over", "Read at step"])
    await expect(rail.getByLabel(name)).toBeVisible();
  const list = page.getByTestId("run-list");
  const width = async (): Promise<number> => (await list.boundingBox())!.width;
  const beside = await width();
  await rail.locator("summary").press("Enter");
  await expect(rail.getByLabel("Group by")).toBeHidden();
  await expect.poll(width).toBeGreaterThan(beside + 200);
  await page.keyboard.press("4");
  const models = page.getByTestId("training-rail");
  await expect(models.getByTestId("model-student")).toBeVisible();
  await expect(models.getByRole("button", { name: "Save as .zip" })).toBeVisible();
});

test("buttons of what is not open yet are as high as those of a bar", async ({ page }) => {
  await visit(page);
  for (const name of ["Does evidence help?", /^Take the tour/])
    expect(Math.round((await page.getByRole("button", { name }).boundingBox())!.height)).toBe(28);
});

test("a view comes back as far down as it was left, and lends its place to no other", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 400 });
  await visit(page, "#/statistics?library=sample");
  await expect(page.getByTestId("statistics-scope")).toBeVisible();
  const main = page.locator("main");
  const top = (): Promise<number> => main.evaluate((element) => element.scrollTop);
  // In one task: the view is left before the browser has sent a scroll event.
  await main.evaluate((element) => {
    element.scrollTo(0, 300);
    element.dispatchEvent(new KeyboardEvent("keydown", { key: "4", bubbles: true }));
  });
  await expect(page.getByRole("heading", { name: "Update the student" })).toBeVisible();
  expect(await top()).toBe(0);
  await page.keyboard.press("5");
  await expect.poll(top).toBe(300);
});

test("controls of a bar have one height", async ({ page }) => {
  await visit(page, sampleHash("task", "melt|12|easy", { decision: 3 }));
  await decisionShown(page, 3);
  const heights = await page
    .locator(".top :is(select, button:not(.skip)), .step-bar :is(select, button), .retained-name .small")
    .evaluateAll((controls) => controls.map((control) => Math.round(control.getBoundingClientRect().height)));
  expect(heights.length).toBeGreaterThan(5);
  expect([...new Set(heights)]).toEqual([28]);
});

test("beside an open library there is one menu to open another", async ({ page }) => {
  await openSample(page);
  const menu = page.locator("summary", { hasText: "Open…" });
  await expect(menu).toHaveCount(1);
  const files = page.getByRole("button", { name: "Open files…" });
  await expect(files).toBeHidden();
  await menu.focus();
  await page.keyboard.press("Enter");
  await expect(files).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(files).toBeHidden();
  await expect(menu).toBeFocused();
  await menu.click();
  await page.getByLabel("Filter").click();
  await expect(files).toBeHidden();
});

test("a library without prompts says that nothing in it can be scored", async ({ page }) => {
  const bare = EPISODES.map((episode) => ({
    ...episode,
    decisions: episode.decisions.map(({ prompt: _, ...decision }) => decision),
  }));
  await visit(page);
  await dropFiles(page, [
    upload("sources.jsonl", jsonLines(SOURCES)),
    upload("episodes.jsonl", jsonLines(bare)),
  ]);
  await expect(page.getByTestId("no-prompts")).toContainText("nothing can be scored");
  await expect(page.getByRole("row", { name: TASK })).toContainText("no prompts");
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("3");
  await expect(page.getByRole("button", { name: "Score" })).toBeDisabled();
  await expect(page.getByText("no teacher can score it")).toBeVisible();
});

test("libraries of files with the same names are told apart by their folders and by what they hold", async ({
  page,
}) => {
  const folder = await mkdtemp(join(tmpdir(), "gcopd-names-"));
  await mkdir(join(folder, "first-try"));
  for (const [name, records] of [
    ["sources.jsonl", SOURCES],
    ["episodes.jsonl", EPISODES],
  ] as const)
    await writeFile(join(folder, "first-try", name), jsonLines([...records]));
  await visit(page);
  await page.getByTestId("pick-folder").setInputFiles(join(folder, "first-try"));
  await expect(page.getByRole("heading", { name: "first-try/" })).toBeVisible();
  await rm(folder, { recursive: true });
  await dropFiles(page, [upload("sources.jsonl", jsonLines(SOURCES.slice(0, 1)))]);
  await dropFiles(page, [
    upload("sources.jsonl", jsonLines([{ ...SOURCES[0], task: "melt|1|easy" }, SOURCES[1]])),
  ]);
  const names = page.getByRole("combobox", { name: "Library" }).locator("option");
  await expect(names).toHaveText([
    "first-try/",
    "sources.jsonl · scienceworld, 1 task",
    "sources.jsonl · scienceworld, 2 tasks",
  ]);
});
