import { readFile } from "node:fs/promises";
import { axeFaults } from "./axe.ts";
import { decisionShown, expect, openSample, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

const clipboard = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

test("the paper's figures of the sample, under the controls, and as Markdown", async ({ page }) => {
  await openSample(page);
  await page.keyboard.press("5");
  const scope = page.getByTestId("statistics-scope");
  await expect(scope).toBeVisible({ timeout: MODEL_TIME });
  const recorded = Number(/of ([\d,]+) recorded/.exec((await scope.textContent())!)![1]!.replace(",", ""));
  await expect(page.getByRole("img", { name: /by K/ })).toBeVisible();
  const composition = page.getByRole("table", { name: /Outcome composition/ });
  const counts = (await composition.getByRole("row").allTextContents()).slice(1).join();
  expect(counts).toMatch(/both outcomes\d+/);
  await expect(page.getByRole("table", { name: "Evidence in tokens" })).toBeVisible();
  await expect(page.getByRole("table", { name: "Where an execution can be entered" })).toBeVisible();

  await page.getByRole("button", { name: "Copy as Markdown" }).click();
  await expect.poll(() => clipboard(page)).toContain("### Outcome composition of the retained references");
  const markdown = await clipboard(page);
  expect(markdown).toMatch(/\| K \| tasks covered \| share \|/);

  await page.goto(`${page.url()}&sources=1&augmentation=off`);
  await expect(page.getByTestId("what-if")).toBeVisible();
  await expect(scope).toContainText(`10 of ${recorded} recorded`, { timeout: MODEL_TIME });
});

test("charts of a row are drawn at one height, though the legend of one takes a second line", async ({
  page,
}) => {
  await visit(page, "#/statistics?library=sample");
  await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: MODEL_TIME });
  const tops = await page
    .locator(".bar-chart > svg")
    .evaluateAll((charts) => charts.map((chart) => chart.getBoundingClientRect().top));
  expect(tops).toHaveLength(3);
  expect(new Set(tops).size).toBe(1);
});

test("the ablation matrix: computed in the background, cancelled, by figure, over one task, and saved", async ({
  page,
}) => {
  await visit(page, sampleHash("task", "melt|12|easy", { decision: 3 }));
  await decisionShown(page, 3);
  await page.keyboard.press("5");
  const panel = page.getByRole("region", { name: "Ablation matrix" });
  const compute = panel.getByRole("button", { name: "Compute the matrix" });
  await expect(compute).toBeVisible({ timeout: MODEL_TIME });
  // As soon as it can be pressed: before the matrix is there, however fast the machine is.
  await panel.evaluate(
    (region) =>
      new Promise<void>((pressed) => {
        const button = (name: string) =>
          [...region.querySelectorAll("button")].find(({ textContent }) => textContent === name);
        new MutationObserver((_, observer) => {
          const cancel = button("Cancel");
          if (cancel === undefined) return;
          observer.disconnect();
          cancel.click();
          pressed();
        }).observe(region, { subtree: true, childList: true });
        button("Compute the matrix")!.click();
      }),
  );
  await expect(compute).toBeVisible();
  await expect(panel.getByRole("progressbar")).toHaveCount(0);

  await compute.click();
  const table = panel.getByTestId("ablation-table");
  await expect(table).toBeVisible({ timeout: MODEL_TIME });
  const cells = (name: string) => table.getByRole("row", { name }).getByRole("cell").allTextContents();
  await panel.getByRole("button", { name: "Decisions matched" }).click();
  const matched = await cells("full graph");
  expect(matched).toHaveLength(5);
  for (const text of matched) expect(text).toMatch(/^[\d.]+ % \[[\d.]+ %, [\d.]+ %\]$/);
  const shares = matched.map((text) => Number.parseFloat(text));
  expect(
    shares.toSorted((a, b) => a - b),
    "more sources match more",
  ).toEqual(shares);
  await panel.getByRole("button", { name: "With a reference" }).click();
  expect(new Set(await cells("hindsight only"))).toEqual(new Set(["0.0 % [0.0 %, 0.0 %]"]));
  await panel.getByRole("button", { name: "Evidence (mean tokens)" }).click();
  const [, counted] = await page
    .getByRole("table", { name: "Evidence in tokens" })
    .getByRole("row", { name: "mean" })
    .locator("th, td")
    .allTextContents();
  const mean = Math.round(Number(counted!.replace(",", ""))).toLocaleString("en");
  expect((await cells("full graph"))[4]).toMatch(new RegExp(`^${mean} `));
  await expect(panel.getByRole("button", { name: "Mean Δ" })).toBeDisabled();
  expect(await cells("coverage by K")).toHaveLength(5);
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFaults(page, ".ablation"), colorScheme).toEqual([]);
  }

  await panel.getByRole("button", { name: "Copy as Markdown" }).click();
  await expect.poll(() => clipboard(page)).toContain("### Fallbacks");
  expect(await clipboard(page)).toContain("| minimum prefix |");
  const saved = async (press: () => Promise<void>): Promise<string> => {
    const [download] = await Promise.all([page.waitForEvent("download"), press()]);
    return readFile(await download.path(), "utf8");
  };
  const csv = await saved(() => panel.getByRole("button", { name: "Save as CSV" }).click());
  expect(csv.split("\n")[0]).toBe("control,sources_per_task,figure,value,low,high");
  expect(csv).toMatch(/^graph,all,matched,0\.\d+,0\.\d+,0\.\d+$/m);
  await panel.getByLabel("Save “Evidence (mean tokens)”", { exact: true }).click();
  const svg = await saved(() => panel.getByRole("button", { name: /as SVG$/ }).click());
  expect(svg).toContain("by source budget");
  expect(svg).toContain("hindsight only");

  await panel.getByLabel("Over").selectOption("task");
  await compute.click();
  await expect(table).toBeVisible({ timeout: MODEL_TIME });
  await expect(panel).toContainText("bootstrap over 8 episodes");
});

test("the ablation matrix has mean Δ where decisions were scored", async ({ page }) => {
  await visit(page, sampleHash("tokens", "find-non-living-thing|36|easy", { decision: 4 }));
  await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("5");
  const panel = page.getByRole("region", { name: "Ablation matrix" });
  await panel.getByRole("button", { name: "Compute the matrix" }).click({ timeout: MODEL_TIME });
  await panel.getByRole("button", { name: "Mean Δ" }).click({ timeout: MODEL_TIME });
  const row = (name: string) => panel.getByRole("row", { name }).getByRole("cell");
  await expect(row("full graph").last()).toHaveText(/^[+−]\d\.\d{3}$/);
  await expect(row("success only").last()).toHaveText("–");
});
