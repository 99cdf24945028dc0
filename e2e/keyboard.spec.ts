/** The three jobs without a mouse: inspect, score, update. */
import { decisionShown, expect, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("from nothing to a scored decision and a what-if, by keyboard alone", async ({ page }) => {
  await visit(page);
  // Past the header with one key.
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Skip to the view" })).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Open the sample" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();

  await page.keyboard.press("/");
  await page.keyboard.type("non-living");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.keyboard.press("Enter");
  await decisionShown(page, 0);
  await page.keyboard.press("j");
  await decisionShown(page, 1);

  // A menu keeps the letters until it is left.
  await page.getByRole("button", { name: "What if", exact: true }).press("Enter");
  const evidence = page.getByRole("combobox", { name: "Evidence" });
  await evidence.focus();
  await page.keyboard.press("End");
  await expect(page.getByTestId("what-if")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(evidence).not.toBeFocused();
  await page.keyboard.press("k");
  await decisionShown(page, 0);

  const task = page.getByLabel("Task [ ]").locator("option:checked");
  await page.keyboard.press("]");
  await expect(task).not.toContainText("non-living");
  await decisionShown(page, 0);
  await page.keyboard.press("[");
  await expect(task).toContainText("non-living");
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByTestId("strip")).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("ArrowRight");
  await expect(page.getByTestId("token-card")).toBeVisible();
});
