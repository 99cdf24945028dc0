/**
 * The pictures of the documentation are this test's reference: a picture that no longer shows the page fails it, and
 * `npm run pictures` takes them again. Every picture has a dark sister. The fonts are the same on every machine, and
 * an ellipsis of one width stands for what was measured or found on this machine (seconds, the device of the worker):
 * what follows it on the line may not move with it. A curve of what was measured is not shown, and the names of runs are drawn by lot from one seed.
 */
import { readFileSync } from "node:fs";
import { test as base, decisionShown, expect, type Page, sampleHash, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const TASK = "find-non-living-thing|36|easy";

const font = (family: string, file: string): string =>
  `@font-face { font-family: "${family}"; font-weight: 100 900; src: url(data:font/woff2;base64,${readFileSync(
    `node_modules/@fontsource-variable/${file}`,
  ).toString("base64")}) format("woff2"); }`;

const STYLE = `
${font("Picture text", "inter/files/inter-latin-wght-normal.woff2")}
${font("Picture mono", "jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2")}
:root { --font-text: "Picture text", "DejaVu Sans", sans-serif !important; --font-mono: "Picture mono", "DejaVu Sans Mono", monospace !important; }
[data-measured] { font-size: 0 !important; }
[data-measured]::after { content: "…"; font-size: 0.8125rem; }
figure:has([data-figure="tokensPerSecond"]) { visibility: hidden; }
`;

const test = base.extend<{ dressed: undefined }>({
  dressed: [
    async ({ page }, use) => {
      await page.addInitScript((style) => {
        document.addEventListener("DOMContentLoaded", () => {
          const sheet = document.createElement("style");
          sheet.textContent = style;
          document.head.append(sheet);
        });
      }, STYLE);
      await use(undefined);
    },
    { auto: true },
  ],
});

// The fonts come as data, which the page's own policy forbids.
test.use({ bypassCSP: true, reducedMotion: "reduce" } as Parameters<typeof test.use>[0]);

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
  await visit(page, sampleHash("training", TASK, { decision: 4 }));
  await page.getByLabel("Preset").selectOption("sample");
  const update = page.getByRole("button", { name: "Update" });
  const detail = page.getByTestId("run-detail");
  for (const [method, vanilla, graph] of [
    ["gc-opd", 1, 2],
    ["opd", 3, null],
  ] as const) {
    await page.getByRole("combobox", { name: "Method", exact: true }).selectOption(method);
    await page.getByLabel("Vanilla passes").fill(String(vanilla));
    if (graph !== null) await page.getByLabel("Graph-conditioned passes").fill(String(graph));
    await expect(update).toBeEnabled();
    await update.click();
    await expect(detail).toContainText(`${method}, ${TASK}`);
    await expect(detail).toContainText("✓ done · step 3 of 3", { timeout: MODEL_TIME });
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
  await expect(page.getByRole("img", { name: /^Loss.* A −?\d.*, B −?\d/ })).toBeVisible();
  await expect(page.getByTestId("worker-line")).toContainText("Worker: ");
  await pictures(page, "runs");
});
