import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("without WebGPU the page says so, says how to turn it on, and computes on the CPU", async ({ page }) => {
  await visit(page);
  const banner = page.getByTestId("no-webgpu");
  await expect(banner).toContainText("No WebGPU here:");
  const line = await banner.locator("summary strong").boundingBox();
  const summary = await banner.locator("summary").boundingBox();
  expect(summary!.height, "on one line").toBeLessThan(2 * line!.height);
  await banner.locator("summary").click();
  for (const browser of ["Chrome", "Safari", "Firefox"]) await expect(banner).toContainText(browser);
  await expect(page.getByTestId("device")).toHaveValue("cpu");

  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByLabel("Measured on")).toContainText("CPU reference");
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
  ).toBeLessThanOrEqual(0);
});
