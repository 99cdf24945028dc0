/** Every view's address opens the same view in a fresh tab, nonsense opens with a message, and nobody else is asked. */
import type { BrowserContext } from "@playwright/test";
import { expectSeen, noteTexts } from "./seen.ts";
import { decisionShown, expect, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const MELT = "melt|12|easy";

/** What a view shows, without what depends on how long it was looked at. */
const shown = async (page: Page): Promise<string> =>
  (await page.locator("main").innerText()).replace(/\s+/g, " ");

/** Copies the link with its key and opens it where nothing was opened before. */
async function inFreshTab(page: Page, fresh: BrowserContext): Promise<Page> {
  await noteTexts(page, "hint");
  await page.keyboard.press("y");
  await expectSeen(page, "hint", /Link copied/);
  const tab = await fresh.newPage();
  await tab.goto(await page.evaluate(() => navigator.clipboard.readText()));
  return tab;
}

test("each view opens the same in a fresh tab, and only the page's own origin is ever asked", async ({
  page,
  context,
  browser,
  site,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const fresh = await browser.newContext();
  const asked = new Set<string>();
  for (const each of [context, fresh]) {
    each.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol !== "data:" && protocol !== "blob:") asked.add(origin);
    });
    each.on("page", (opened) => opened.on("websocket", (socket) => asked.add(socket.url())));
  }
  const views: [string, () => Promise<void>][] = [
    [
      "#/library?library=sample&filter=easy&sort=-states",
      () => expect(page.getByRole("row")).toHaveCount(11),
    ],
    [
      sampleHash("task", MELT, { decision: 4, visit: "teacher:3@5", axis: "cost", sources: 8 }),
      () => decisionShown(page, 4),
    ],
    [
      sampleHash("tokens", MELT, { decision: 4, control: "success-only", signal: "rank" }),
      () => expect(page.getByTestId("response")).toBeVisible(),
    ],
    [
      sampleHash("training", MELT, { decision: 4, control: "minimum-prefix" }),
      () => expect(page.getByTestId("plan")).toContainText("minimum prefix"),
    ],
    [
      "#/statistics?library=sample&control=hindsight-only",
      () => expect(page.getByRole("table").first()).toBeVisible(),
    ],
  ];
  for (const [hash, ready] of views) {
    await visit(page, hash);
    await ready();
    const tab = await inFreshTab(page, fresh);
    // Both settle: what is counted or planned in the background arrives in its own time.
    await expect(async () => {
      expect(await shown(tab), hash).toBe(await shown(page));
      expect(new URL(tab.url()).hash).toBe(new URL(page.url()).hash);
    }).toPass();
    await expect(tab.locator(".banner.warn[role=alert]")).toHaveCount(0);
    await tab.close();
  }
  // A model's work too: nothing is fetched but what lies beside the page.
  await visit(page, sampleHash("tokens", "find-non-living-thing|36|easy", { decision: 1 }));
  await decisionNumber(page, 1);
  // Before the decision is read, the key says so and does nothing.
  await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
  await page.keyboard.press("s");
  await expect(page.getByTestId("strip")).toBeVisible({ timeout: MODEL_TIME });
  expect([...asked]).toEqual([new URL(site.url).origin]);
  await fresh.close();
});

const decisionNumber = (page: Page, decision: number): Promise<void> =>
  expect(page.getByTestId("decision")).toHaveText(String(decision));

test("links of nonsense open with a message that names it, and can be left", async ({ page }) => {
  for (const [hash, message] of [
    ["#/nowhere/%E0%A4%A/x?decision=-1&visit=@&token=1.5&axis=z", "no view called “nowhere”"],
    ["#/task/%3Cscript%3E?library=theirs&evidence=all&control=magic&sources=3&sort=size", "“library=theirs”"],
    ["#/tokens?augmentation=maybe&terminal-note=1&sides=x&compare=a&signal=colour&__proto__=1", "__proto__"],
    [`#/training/${"a".repeat(20_000)}?constructor=1&episode=&task=`, "“constructor”"],
    ["#/statistics?library=sample&filter=%00%E2%80%AE&sort=-&decision=99999999999999999999", "“sort=-”"],
  ]) {
    await visit(page, hash);
    await expect(page.getByRole("alert").first()).toContainText(message!);
    await expect(page.locator("main")).not.toBeEmpty();
    await page.getByRole("button", { name: "Go to the library" }).first().click();
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(page).toHaveURL(/#\/library/);
  }
});
