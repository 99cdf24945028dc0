/** Any two visits beside each other: chosen by key or button, kept in the link. */
import { readFileSync } from "node:fs";
import { dropFiles, upload } from "./own-files.ts";
import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";

test("v on a cell, v on another: observations, actions and states side by side", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 4 }));
  await decisionShown(page, 4);
  const grid = page.getByRole("grid", { name: "Executions by visit" });
  await grid.getByRole("gridcell").first().focus();
  await page.keyboard.press("v");
  await expect(page.locator(".visit-waits")).toContainText("the student, visit 0");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("v");
  const dialog = page.getByRole("dialog", { name: "Two visits" });
  await expect(dialog).toContainText("teacher:0, visit 1");
  await expect(dialog.getByTestId("same-state")).toHaveText("different");
  await expect(dialog).toContainText("keep the keys of these states");
  await expect(dialog.locator("del").first()).toBeVisible();
  await expect(dialog.locator("ins").first()).toBeVisible();
  await page.screenshot({ path: "test-results/screenshots/compare.png" });
  await expect(page).toHaveURL(/beside=source%3Ateacher%3A0%401/);
  const url = page.url();
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page).not.toHaveURL(/beside/);
  await page.goto("about:blank");
  await page.goto(url);
  await expect(dialog).toContainText("teacher:0, visit 1");
  await dialog.getByRole("button", { name: "Close" }).click();
  // Before there is a second one, Esc takes the first back, then unpins.
  await grid.getByRole("gridcell").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.press("v");
  await expect(page.locator(".visit-waits")).toContainText("teacher:0, visit 0");
  await page.keyboard.press("Escape");
  await expect(page.locator(".visit-waits")).toHaveCount(0);
  await expect(page).toHaveURL(/visit=/);
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/visit=/);
  // From the candidate table and from the pinned visit.
  await page.getByLabel("Matched visits").getByRole("button").first().click();
  await page.keyboard.press("v");
  await page.getByRole("button", { name: "Compare with the chosen" }).first().click();
  await expect(dialog.getByTestId("same-state")).toHaveText("the same");
});

test("what differs between two pages is said field by field; nonsense in the link is one line", async ({
  page,
}) => {
  await visit(page);
  const file = (name: string) => upload(name, readFileSync(`test/fixtures/webshop/${name}`));
  await dropFiles(page, [file("sources.jsonl.gz"), file("episodes.jsonl.gz")]);
  await page
    .getByRole("row", { name: /goal1500/ })
    .getByRole("button")
    .click();
  await decisionShown(page, 0);
  const hash = new URL(page.url()).hash;
  await page.evaluate((to) => {
    window.location.hash = to;
  }, `${hash}&beside=source%3Ateacher%3A0%400&beside=source%3Ateacher%3A0%401`);
  const dialog = page.getByRole("dialog", { name: "Two visits" });
  await expect(dialog.getByRole("row", { name: /page changed start search_results/ })).toBeVisible();
  await page.keyboard.press("Escape");
  await visit(page, `${sampleHash("task", "melt|12|easy")}&beside=teacher`);
  await decisionShown(page, 0);
  await expect(page.getByRole("alert")).toContainText("“beside=teacher” in the link: expected source:NAME@");
  await visit(page, `${sampleHash("task", "melt|12|easy")}&beside=source:teacher:0@0&beside=source:nobody@1`);
  await expect(dialog.getByRole("alert")).toContainText("no execution nobody");
});
