/** The task table at a hundred thousand tasks: the page's own component and state, built as for users. */
import { resolve } from "node:path";
import { build, type PreviewServer, preview } from "vite";
import { expect, type Page, test } from "./base.ts";

const ROOT = resolve("e2e/table-page");
const OUT = resolve("test-results/table-page");
const TASKS = 100_000;

let server: PreviewServer;

test.beforeAll(async () => {
  // The view can start the workers; it does not here.
  const shared = { configFile: false, root: ROOT, logLevel: "error", worker: { format: "es" } } as const;
  await build({ ...shared, base: "./", build: { outDir: OUT, emptyOutDir: true, target: "es2022" } });
  server = await preview({
    ...shared,
    build: { outDir: OUT },
    preview: { host: "127.0.0.1", port: 0, strictPort: false },
  });
});

test.afterAll(() => server?.close());

const rows = (page: Page) => page.locator("table.tasks tbody tr:not(.spacer)");

async function open(page: Page, tasks: number): Promise<void> {
  await page.goto(new URL(`?tasks=${tasks}`, server.resolvedUrls!.local[0]).href);
  await expect(rows(page).first()).toBeVisible();
}

test("a hundred thousand tasks: few rows are drawn, all are counted and can be reached", async ({ page }) => {
  await open(page, TASKS);
  await expect(page.getByRole("table")).toHaveAttribute("aria-rowcount", String(TASKS + 1));
  expect(await rows(page).count()).toBeLessThan(60);
  expect(
    await rows(page)
      .first()
      .evaluate((row) => row.getBoundingClientRect().height),
  ).toBe(52);
  const scroller = page.getByRole("region", { name: "Tasks", exact: true });
  await scroller.focus();
  await page.keyboard.press("End");
  await expect(rows(page).last()).toHaveAttribute("aria-rowindex", String(TASKS + 1));
  await expect(rows(page).last()).toBeInViewport();
  await page.keyboard.press("Home");
  await expect(rows(page).first()).toHaveAttribute("aria-rowindex", "2");
  await expect(rows(page).first()).toBeInViewport();
});

test("more tasks than an element can be high are reached from the first to the last", async ({ page }) => {
  await open(page, 1_000_000);
  const scroller = page.getByRole("region", { name: "Tasks", exact: true });
  await scroller.focus();
  await page.keyboard.press("End");
  await expect(rows(page).last()).toHaveAttribute("aria-rowindex", "1000001");
  await expect(rows(page).last()).toBeInViewport();
});

test("scrolling, searching and sorting draw no more rows than are in sight", async ({ page }) => {
  await open(page, TASKS);
  // How many elements the table gets does not depend on how fast the machine is; drawing all rows would be a million.
  const counter = await page.evaluateHandle(() => {
    const drawn = { count: 0 };
    new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const node of addedNodes)
          if (node instanceof Element) drawn.count += 1 + node.querySelectorAll("*").length;
    }).observe(document.querySelector("table.tasks")!, { subtree: true, childList: true });
    return drawn;
  });
  /** How many elements were drawn since the last call. */
  const drawn = () =>
    counter.evaluate((drawn) => {
      const { count } = drawn;
      drawn.count = 0;
      return count;
    });
  const inSight = await page.locator("table.tasks *").count();
  const frames = 160;
  const seen = await page.evaluate(async (count) => {
    const scroller = document.querySelector<HTMLElement>("[aria-label=Tasks]")!;
    const seen = new Set<string>();
    for (let frame = 0; frame < count; frame++) {
      // Slowly, as with a wheel, and now and then a leap, as with the bar.
      scroller.scrollTop += frame % 40 === 39 ? 150_000 : 120;
      await new Promise(requestAnimationFrame);
      const row = document.querySelector("table.tasks tbody tr:not(.spacer)");
      seen.add(row?.getAttribute("aria-rowindex") ?? "");
    }
    return seen.size;
  }, frames);
  expect(seen).toBeGreaterThan(20);
  expect((await drawn()) / frames, "elements drawn for a frame").toBeLessThan(2 * inSight);
  for (const column of ["States", "Decisions matched", "Task", "Executions"]) {
    const head = page.getByRole("columnheader", { name: column });
    await head.getByRole("button").click();
    await expect(head).toHaveAttribute("aria-sort", /ending/);
    expect(await drawn(), column).toBeLessThan(10 * inSight);
  }
  for (const words of ["gallium", "gallium foundry", "zzzz", ""]) {
    await page.locator("#task-filter").fill(words);
    if (words === "zzzz") await expect(rows(page)).toHaveCount(0);
    else for (const word of words.split(" ")) await expect(rows(page).first()).toContainText(word);
    expect(await drawn(), words).toBeLessThan(10 * inSight);
  }
  await expect(page.getByRole("status")).toHaveText(`${TASKS.toLocaleString("en")} tasks`);
});
