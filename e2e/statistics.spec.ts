import { expect, openSample, test } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

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

  await page.getByRole("button", { name: "Copy as Markdown" }).click();
  const markdown = await page.evaluate(() => navigator.clipboard.readText());
  expect(markdown).toContain("### Outcome composition of the retained references");
  expect(markdown).toMatch(/\| K \| tasks covered \| share \|/);

  await page.goto(`${page.url()}&sources=1&augmentation=off`);
  await expect(page.getByTestId("what-if")).toBeVisible();
  await expect(scope).toContainText(`10 of ${recorded} recorded`, { timeout: MODEL_TIME });
});
