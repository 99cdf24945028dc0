/**
 * The pictures of the documentation are this test's reference: a picture that no longer shows the page fails it, and
 * `npm run pictures` takes them again. Every picture has a dark sister. An ellipsis of fixed width stands for what was
 * measured or found on this machine (seconds, the worker's device), so that nothing after it on the line moves. Measured
 * curves are hidden, and the names of runs come from one seed.
 */
import {
  test as base,
  decisionShown,
  expect,
  openTrainingForm,
  type Page,
  sampleHash,
  visit,
} from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const TASK = "find-non-living-thing|36|easy";
/** The sample's shortest episodes. */
const SHORT = "lifespan-shortest-lived|51|easy";

const STYLE = `
[data-measured] { font-size: 0 !important; }
[data-measured]::after { content: "…"; font-size: 0.8125rem; }
figure:has([data-figure="tokensPerSecond"]) { visibility: hidden; }
`;

const test = base.extend<{ dressed: undefined }>({
  dressed: [
    async ({ page }, use) => {
      await page.addInitScript((style) => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(style);
        document.adoptedStyleSheets = [sheet];
      }, STYLE);
      await use(undefined);
    },
    { auto: true },
  ],
});

test.use({ colorScheme: "light", viewport: { width: 1280, height: 800 } });

/** Compares the window with docs/images, in both themes. */
async function pictures(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.mouse.move(0, 0);
  for (const [colorScheme, suffix] of [
    ["dark", "-dark"],
    ["light", ""],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page).toHaveScreenshot(`${name}${suffix}.png`, {
      animations: "disabled",
      maxDiffPixelRatio: 0.001,
    });
  }
}

test("library and statistics", async ({ page }) => {
  await visit(page, "#/library?library=sample");
  await expect(page.getByRole("row", { name: /melt/ })).toBeVisible();
  await pictures(page, "library");
  await page.keyboard.press("5");
  await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: MODEL_TIME });
  await pictures(page, "statistics");
});

test("one decision: executions, graph, retrieval", async ({ page }) => {
  await visit(page, sampleHash("task", TASK, { decision: 4 }));
  await decisionShown(page, 4);
  await pictures(page, "task");
});

test("token probabilities under two contexts", async ({ page }) => {
  await visit(page, sampleHash("tokens", TASK, { decision: 4 }));
  await page.getByRole("button", { name: "Score" }).click();
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await pictures(page, "tokens");
});

test("a student updated, and two runs compared", async ({ page }) => {
  await page.addInitScript(() => {
    let state = 9;
    crypto.getRandomValues = (array) => {
      for (let i = 0; i < array!.byteLength; i++) {
        state = (state * 48271) % 2147483647;
        new DataView(array!.buffer, array!.byteOffset).setUint8(i, state & 255);
      }
      return array;
    };
  });
  await visit(page, sampleHash("training", SHORT, { decision: 0 }));
  await page.getByLabel("Preset").selectOption("sample");
  const update = page.getByRole("button", { name: "Update" });
  const detail = page.getByTestId("run-detail");
  for (const [method, vanilla, graph] of [
    ["gc-opd", 1, 2],
    ["opd", 3, null],
  ] as const) {
    await openTrainingForm(page);
    await page.getByRole("combobox", { name: "Method", exact: true }).selectOption(method);
    await page.getByLabel("Vanilla passes").fill(String(vanilla));
    if (graph !== null) await page.getByLabel("Graph-conditioned passes").fill(String(graph));
    await expect(update).toBeEnabled();
    await update.click();
    // The run before ended as this one will, so that only its name tells them apart.
    await expect(detail.getByRole("heading", { level: 2 })).toHaveText(`${method}, ${SHORT}#0`);
    await expect(detail).toContainText("Done: 3 steps", { timeout: MODEL_TIME });
    if (method === "opd") continue;
    await expect(page.getByTestId("run-message")).toBeVisible();
    await pictures(page, "training");
    await page.getByRole("button", { name: "Revert to the loaded student" }).click();
    await expect(page.getByTestId("model-student")).toContainText("the sample’s");
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("6");
  const boxes = page.getByTestId("run-list").getByRole("checkbox");
  await expect(boxes).toHaveCount(2);
  for (const i of [1, 0]) await boxes.nth(i).check();
  await expect(page.getByRole("img", { name: /^Loss.* #1 −?\d.*, #2 −?\d/ })).toBeVisible();
  await expect(page.getByTestId("worker-line")).toContainText("Worker: ");
  await pictures(page, "runs");
});
