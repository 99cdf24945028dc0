/** Records that try to be more than text: nothing runs, nothing turns the page around, nothing holds it up. */
import { gzipSync } from "node:zlib";
import { dropFiles, EPISODES, jsonLines, SOURCES, upload } from "./own-files.ts";
import { expect, type Page, test, visit } from "./site.ts";

const HTML = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script></pre></dialog><b>bold`;
const RTL = "\u202eevil\u202c שלום عربي \u2066isolated";
const CONTROLS = "\0\x07\x1b[31mred\x7f\x85 \ufeff \ud83d alone \udc4d";
const EMOJI = "👩‍👩‍👧‍👦👍🏽🏳️‍🌈".repeat(50);
const TOKEN = "x".repeat(100_000);
const HUGE = `${"A long line of an observation, 64 characters with its line end.\n".repeat(80_000)}END-OF-FIVE-MEGABYTES`;
const NASTY = [HTML, RTL, CONTROLS, EMOJI].join(" ");
/** Names are limited to a line each by no rule at all. */
const NAME = `<script>window.pwned=1</script>\u202e${"n".repeat(300)}`;

function hostile(): Parameters<typeof dropFiles>[1] {
  const texts = [NASTY, TOKEN, HUGE];
  const tasks = texts.map((_, i) => `${NAME} ${i}`);
  const withTexts =
    (task: string, text: string) => (decision: (typeof SOURCES)[0]["decisions"][0], j: number) => ({
      ...decision,
      observation: j === 0 ? text : `${decision.observation} ${NASTY}`,
      action: j === 0 ? decision.action : `${decision.action} ${text.slice(0, 200_000)}`,
      feedback: `${task.length} ${NASTY}`,
    });
  const sources = tasks.flatMap((task, i) =>
    SOURCES.map((source) => ({
      ...source,
      task,
      source: `${source.source}${NAME}`,
      task_description: NASTY + TOKEN.slice(0, 20_000),
      decisions: source.decisions.map(withTexts(task, texts[i]!)),
    })),
  );
  const episodes = tasks.flatMap((task, i) =>
    EPISODES.map((episode) => ({
      ...episode,
      task,
      episode: `${NAME}#${i}`,
      task_description: NASTY,
      decisions: episode.decisions.map((decision, j) => ({
        ...withTexts(task, texts[i]!)({ ...decision, attempts: [] }, j),
        prompt: texts[i]!,
        response: `<thought>${NASTY}</thought><action>${TOKEN.slice(0, 2000)}</action>`,
      })),
    })),
  );
  return [
    upload("sources.jsonl.gz", gzipSync(jsonLines(sources))),
    upload("episodes.jsonl.gz", gzipSync(jsonLines(episodes))),
  ];
}

/** No script ran, no foreign element is in the page, and the page is as wide as the window. */
async function unharmed(page: Page, what: string): Promise<void> {
  const state = await page.evaluate(() => ({
    ran: "pwned" in window,
    foreign: document.querySelectorAll("img, main script, main b").length,
    wide: [document.documentElement, document.querySelector("main")!].filter(
      (element) => element.scrollWidth > element.clientWidth,
    ).length,
    // What stands before the first bidi control that is in the page's text, if there is one.
    bidi: /.{0,60}(?=[\u202a-\u202e\u2066-\u2069])/.exec(document.body.textContent ?? "")?.[0] ?? null,
  }));
  expect.soft(state, what).toEqual({ ran: false, foreign: 0, wide: 0, bidi: null });
  await page.screenshot({ path: `test-results/screenshots/hostile-${what}.png` });
}

test("hostile records are text in every view, and hold nothing up", async ({ page }) => {
  test.setTimeout(240_000);
  page.on("dialog", (dialog) => {
    throw new Error(`a dialog opened: ${dialog.message()}`);
  });
  await visit(page);
  await page.evaluate(() => {
    const long: { at: string; ms: number }[] = [];
    Object.assign(window, { long });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        long.push({ at: location.hash.slice(0, 12), ms: duration });
    }).observe({ type: "longtask" });
  });
  await dropFiles(page, hostile());
  const names = page.locator("table.tasks tbody tr:not(.spacer) th button");
  await expect(names).toHaveCount(3, { timeout: 60_000 });
  await expect(names.first()).toContainText("<script>window.pwned=1</script>⟦RLO⟧nnn");
  await expect(names.first()).toContainText("characters)");
  await unharmed(page, "library");
  for (const [i, what] of ["markup", "token", "megabytes"].entries()) {
    await page.keyboard.press("1");
    await names.nth(i).click();
    await expect(page.getByRole("heading", { name: "Decision 0", exact: true })).toBeVisible({
      timeout: 60_000,
    });
    await expect(page.getByTestId("evidence")).toBeVisible();
    await unharmed(page, `task-${what}`);
    await page
      .getByRole("grid")
      .getByRole("gridcell", { name: /^teacher:0/ })
      .nth(1)
      .click();
    await expect(page.locator(".pinned-visit dl")).toBeVisible();
    await unharmed(page, `pinned-${what}`);
    if (what === "megabytes") {
      const whole = page.getByTestId("evidence").getByRole("button", { name: /^Show / });
      await expect(whole.first()).toBeVisible();
      await expect(page.locator(".evidence .cut").first()).toContainText(
        /20,000 of 5,\d{3},\d{3} characters/,
      );
    }
    await page.keyboard.press("v");
    await page.keyboard.press("j");
    await expect(page.getByRole("heading", { name: "Decision 1", exact: true })).toBeVisible({
      timeout: 60_000,
    });
    await page.getByRole("button", { name: "Compare with the chosen" }).first().click();
    await expect(page.getByTestId("same-state")).toBeVisible({ timeout: 30_000 });
    await unharmed(page, `compare-${what}`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("3");
    await unharmed(page, `tokens-${what}`);
  }
  await page.keyboard.press("5");
  await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: 60_000 });
  await unharmed(page, "statistics");
  const long = await page.evaluate(() => (window as unknown as { long: { at: string; ms: number }[] }).long);
  const longest = Math.max(0, ...long.map(({ ms }) => ms));
  console.log(`hostile: ${long.length} long tasks, longest ${longest.toFixed(0)} ms`);
  test.info().annotations.push({ type: "longest task", description: `${longest.toFixed(0)} ms` });
  // Three times what is wanted of a machine of its own.
  expect(longest).toBeLessThan(3000);
});
