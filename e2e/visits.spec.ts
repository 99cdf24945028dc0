/** Tables of visits where there are hundreds: few rows are drawn, all are counted, found and reached. */
import type { Locator } from "@playwright/test";
import { axeFaults } from "./axe.ts";
import { largeTask } from "./large-task.ts";
import { dropFiles } from "./own-files.ts";
import { decisionShown, expect, pressEnabled, test, visit } from "./site.ts";

/** Every execution visits the one state of each step, so that each decision has hundreds of matched visits. */
const TASK = { task: "crowded", executions: 240, decisions: 8, lanes: 1 };

const rows = (table: Locator): Locator => table.locator("tbody tr");

test.beforeEach(async ({ page }) => {
  await visit(page);
  await dropFiles(page, largeTask(TASK));
  await page.getByRole("button", { name: TASK.task }).click();
  await decisionShown(page, 0);
});

test("matched visits: what is alike is one row; opened, the last one is reached by keyboard", async ({
  page,
}) => {
  const table = page.getByRole("region", { name: "Matched visits" });
  const matched = Number(await page.getByTestId("matched").textContent());
  expect(matched).toBeGreaterThanOrEqual(TASK.executions);
  // Those that tie, and those that were rejected, are a row each.
  const lines = Number(await table.getByRole("table").getAttribute("aria-rowcount")) - 1;
  expect(lines).toBeLessThan(40);
  await expect(rows(table)).toHaveCount(lines);
  await expect(rows(table).first()).toContainText("★ winner");
  const tied = rows(table)
    .first()
    .getByRole("button", { name: /^\d+ tied, broken by/ });
  await expect(tied).toHaveAttribute("aria-expanded", "false");
  const rejected = table.getByRole("button", { name: /^\d+ rejected for this/ }).last();
  const hidden = Number((await rejected.textContent())!.split(" ")[0]);
  expect(hidden).toBeGreaterThan(30);
  await pressEnabled(rejected);
  await expect(rejected).toHaveAttribute("aria-expanded", "true");
  await expect(rejected).toBeFocused();
  const all = lines + hidden - 1;
  await expect(table.getByRole("table")).toHaveAttribute("aria-rowcount", String(all + 1));
  expect(await rows(table).count()).toBeLessThan(all);
  // The inspector is what scrolls: from below the table, Shift+Tab comes to its last row.
  const below = page.getByRole("button", { name: /^Compare/ });
  await below.focus();
  await expect(rows(table).last()).toHaveAttribute("aria-rowindex", String(all + 1));
  await page.keyboard.press("Shift+Tab");
  await expect(rows(table).last().locator(":focus")).toHaveCount(1);
  await expect(rows(table).last()).toBeInViewport();
  await expect(rows(table).last()).toContainText("not eligible: its outcome is not a success");
  // Tab goes on where the drawn rows end.
  await page.getByRole("button", { name: "Why", exact: true }).click();
  await rejected.focus();
  // The rows follow the scroller.
  await expect(rows(table).last()).not.toHaveAttribute("aria-rowindex", String(all + 1));
  const end = Number(await rows(table).last().getAttribute("aria-rowindex"));
  expect(end).toBeLessThan(all + 1);
  const row = (index: number): Locator => table.locator(`tr[aria-rowindex="${index}"]`);
  await row(end).getByRole("button").last().focus();
  await expect(row(end + 1)).toHaveCount(1);
  await page.keyboard.press("Tab");
  await expect(
    row(end + 1)
      .getByRole("button")
      .first(),
  ).toBeFocused();
  expect(await axeFaults(page, ".inspector")).toEqual([]);
});

test("the decision has one scroller, and buttons of a visit show for pointer and focus", async ({ page }) => {
  const scrollers = await page
    .locator(".inspector, .inspector *")
    .evaluateAll((elements) =>
      elements
        .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowY))
        .map(({ className }) => className),
    );
  expect(scrollers).toEqual(["panel inspector"]);
  const row = rows(page.getByRole("region", { name: "Matched visits" })).first();
  const off = row.getByRole("button", { name: /^Switch off/ });
  await expect(off).toHaveCSS("opacity", "0");
  await row.hover();
  await expect(off).toHaveCSS("opacity", "1");
  await page.mouse.move(0, 0);
  await expect(off).toHaveCSS("opacity", "0");
  await off.focus();
  await expect(off).toHaveCSS("opacity", "1");
  // The evidence is one press away, and has the focus then.
  await page.getByRole("button", { name: "Evidence", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Evidence Rₜ" })).toBeInViewport();
  await expect(page.getByTestId("evidence")).toBeInViewport();
});

test("matched visits are found by execution, visit or reason, and are folded again with a step", async ({
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
  const tied = rows(table).first().getByRole("button", { name: /tied/ });
  await tied.click();
  await expect(tied).toHaveAttribute("aria-expanded", "true");
  await page.keyboard.press("j");
  await decisionShown(page, 1);
  await expect(rows(table).first()).toHaveAttribute("aria-rowindex", "2");
  await expect(tied).toHaveAttribute("aria-expanded", "false");
});
