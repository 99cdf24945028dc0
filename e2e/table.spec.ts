/** The task table at a hundred thousand tasks: the page's own component and state, built as for users. */
import { resolve } from "node:path";
import { build, type PreviewServer, preview } from "vite";
import { expect, type Page, test } from "./base.ts";
import { plainWork } from "./plain-work.ts";

const ROOT = resolve("e2e/table-page");
const OUT = resolve("test-results/table-page");
const TASKS = 100_000;

// Recording draws and copies the page on the thread that is measured.
test.use({ trace: "off" });

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

test("scrolling, searching and sorting cost a few times the plain work", async ({ page }) => {
  await open(page, TASKS);
  const scroll = () =>
    page.evaluate(async () => {
      const scroller = document.querySelector<HTMLElement>("[aria-label=Tasks]")!;
      const long: number[] = [];
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) long.push(entry.duration);
      });
      observer.observe({ type: "longtask" });
      const seen = new Set<string>();
      const frames = 160;
      for (let frame = 0; frame < frames; frame++) {
        // Slowly, as with a wheel, and now and then a leap, as with the bar.
        scroller.scrollTop += frame % 40 === 39 ? 150_000 : 120;
        await new Promise(requestAnimationFrame);
        const row = document.querySelector("table.tasks tbody tr:not(.spacer)");
        seen.add(row?.getAttribute("aria-rowindex") ?? "");
      }
      for (const entry of observer.takeRecords()) long.push(entry.duration);
      observer.disconnect();
      return { long, frames, seen: seen.size };
    });
  // Thread time is the page's own, whatever else the machine does, and is held to plain work on the same machine: drawing
  // all rows would be a thousand times a hundred of them. The clock's times grow where cores are shared: they are printed.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async (): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
  const plain = await plainWork(page, TASKS);
  console.log(
    `plain: ${plain.sort.toFixed(1)} ms to sort the names, ${plain.rows.toFixed(1)} ms for a hundred rows`,
  );
  const before = await spent();
  const { long, frames, seen } = await scroll();
  const perFrame = ((await spent()) - before) / frames;
  console.log(`scrolling: ${perFrame.toFixed(1)} ms of the main thread a frame; long tasks: [${long}]`);
  expect(perFrame / plain.rows, "frames beside a hundred plain rows").toBeLessThan(20);
  expect(seen).toBeGreaterThan(20);
  test.info().annotations.push({ type: "long tasks, ms", description: String(long) });

  /** Milliseconds from the input to the frame after which the table shows the result. */
  const measured = (action: { click?: string; type?: string }): Promise<number> =>
    page.evaluate(async ({ click, type }) => {
      const began = performance.now();
      if (click !== undefined) {
        [...document.querySelectorAll<HTMLElement>("th button")]
          .find((button) => button.textContent?.startsWith(click))!
          .click();
      } else {
        const input = document.querySelector<HTMLInputElement>("#task-filter")!;
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!.set!.call(input, type);
        input.dispatchEvent(new Event("input", { bubbles: true }));
      }
      await new Promise(requestAnimationFrame);
      await new Promise((resolve) => setTimeout(resolve));
      return performance.now() - began;
    }, action);
  const timed = async (action: { click?: string; type?: string }) => {
    const began = await spent();
    const wall = await measured(action);
    return { ms: (await spent()) - began, wall };
  };
  const note = (what: string, { ms, wall }: { ms: number; wall: number }): void => {
    const text = `${ms.toFixed(0)} ms of the main thread, ${wall.toFixed(0)} ms by the clock`;
    test.info().annotations.push({ type: what, description: text });
    console.log(`${what}: ${text}`);
  };
  for (const column of ["States", "Decisions matched", "Task", "Executions"]) {
    const took = await timed({ click: column });
    note(`sort by ${column}`, took);
    expect(took.ms / plain.sort, column).toBeLessThan(20);
    await expect(page.getByRole("columnheader", { name: column })).toHaveAttribute("aria-sort", /ending/);
  }
  for (const words of ["gallium", "gallium foundry", "zzzz", ""]) {
    const took = await timed({ type: words });
    note(`search for “${words}”`, took);
    expect(took.ms / plain.sort, words).toBeLessThan(20);
    if (words === "zzzz") await expect(rows(page)).toHaveCount(0);
    else for (const word of words.split(" ")) await expect(rows(page).first()).toContainText(word);
  }
  await expect(page.getByRole("status")).toHaveText(`${TASKS.toLocaleString("en")} tasks`);
});
