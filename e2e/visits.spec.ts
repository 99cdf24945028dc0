/** Tables of visits where there are hundreds: few rows are drawn, all are counted, found and reached. */
import AxeBuilder from "@axe-core/playwright";
import type { Locator } from "@playwright/test";
import { largeTask } from "./large-task.ts";
import { dropFiles } from "./own-files.ts";
import { decisionShown, expect, test, visit } from "./site.ts";

/** Every execution visits the one state of each step, so that each decision has hundreds of matched visits. */
const TASK = { task: "crowded", executions: 240, decisions: 8, lanes: 1 };

const rows = (table: Locator): Locator => table.locator("tbody tr");

test.beforeEach(async ({ page }) => {
  await visit(page);
  await dropFiles(page, largeTask(TASK));
  await page.getByRole("button", { name: TASK.task }).click();
  await decisionShown(page, 0);
});

test("matched visits: the last one is reached by keyboard, with the reason why it was rejected", async ({
  page,
}) => {
  const table = page.getByRole("region", { name: "Matched visits" });
  const matched = Number(await page.getByTestId("matched").textContent());
  expect(matched).toBeGreaterThanOrEqual(TASK.executions);
  await expect(table.getByRole("table")).toHaveAttribute("aria-rowcount", String(matched + 1));
  expect(await rows(table).count()).toBeLessThan(40);
  await expect(rows(table).first()).toContainText("★ winner");
  await table.focus();
  await page.keyboard.press("End");
  await expect(rows(table).last()).toHaveAttribute("aria-rowindex", String(matched + 1));
  await expect(rows(table).last()).toBeInViewport();
  await expect(rows(table).last()).toContainText("not eligible: its outcome is not a success");
  // Tab goes on where the drawn rows end.
  await page.keyboard.press("Home");
  await expect(rows(table).first()).toHaveAttribute("aria-rowindex", "2");
  const end = Number(await rows(table).last().getAttribute("aria-rowindex"));
  const row = (index: number): Locator => table.locator(`tr[aria-rowindex="${index}"]`);
  await row(end).getByRole("button").last().focus();
  await expect(row(end + 1)).toHaveCount(1);
  await page.keyboard.press("Tab");
  await expect(
    row(end + 1)
      .getByRole("button")
      .first(),
  ).toBeFocused();
  const { violations } = await new AxeBuilder({ page }).include(".inspector").analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
});

test("matched visits are found by execution, visit or reason, and begin again at the top with a step", async ({
  page,
}) => {
  const table = page.getByRole("region", { name: "Matched visits" });
  const search = page.getByRole("searchbox", { name: "Find matched visits" });
  await search.fill("teacher:3 outcome");
  // teacher:3, and all from 30 to 39: those whose number three divides did not succeed.
  await expect(rows(table).first()).toContainText("teacher:3");
  for (const text of await rows(table).allTextContents()) {
    expect(text).toMatch(/teacher:3\d?.*its outcome is not a success/);
  }
  await search.fill("no such words");
  await expect(rows(table)).toHaveCount(0);
  await search.fill("");
  await table.focus();
  await page.keyboard.press("End");
  await expect(rows(table).first()).not.toHaveAttribute("aria-rowindex", "2");
  // The browser scrolls there over some frames, and would go on while the step begins.
  const matched = await page.getByTestId("matched").textContent();
  await expect(rows(table).last()).toHaveAttribute("aria-rowindex", String(Number(matched) + 1));
  await page.keyboard.press("j");
  await decisionShown(page, 1);
  await expect(rows(table).first()).toHaveAttribute("aria-rowindex", "2");
  await expect(rows(table).first()).toBeInViewport();
});
