/** Everything by keyboard: the palette finds actions and places, and the sheet names the keys. */
import { axeFaults } from "./axe.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { decisionShown, expect, openSample, sampleHash, test, visit } from "./site.ts";

const TASK = "find-non-living-thing|36|easy";

test("the palette goes to tasks, episodes, executions and decisions, and does what it names", async ({
  page,
}) => {
  await openSample(page);
  const box = page.getByRole("combobox", { name: /^Find an action/ });
  const options = page.locator("#palette-list").getByRole("option");

  await page.keyboard.press("Control+k");
  await expect(box).toBeFocused();
  await box.fill("non liv");
  await expect(options.first()).toContainText(TASK);
  await page.keyboard.press("Enter");
  await expect(box).toHaveCount(0);
  await decisionShown(page, 0);

  await page.keyboard.press("Control+k");
  await box.fill("4");
  await expect(options.first()).toContainText("Decision 4");
  await page.keyboard.press("Enter");
  await decisionShown(page, 4);

  await page.keyboard.press("Control+k");
  await box.fill("teacher:0");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "teacher:0, visit 0" })).toBeVisible();

  // What was chosen last comes first; arrows go through the lines, round the ends too.
  await page.keyboard.press("Control+k");
  await expect(options.first()).toContainText("teacher:0");
  await page.keyboard.press("ArrowUp");
  await expect(options.last()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("ArrowDown");
  await expect(options.first()).toHaveAttribute("aria-selected", "true");

  // What cannot be done says why, and stays.
  await box.fill("case study");
  await expect(options.first()).toContainText("score this decision first");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByRole("status")).toContainText("score this decision first");
  await box.fill("nothing has this name");
  await expect(options).toHaveCount(0);
  expect(await axeFaults(page, "dialog.palette")).toEqual([]);

  await box.fill("theme dark");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  await expect(box).toHaveCount(0);
});

test("a key that can do nothing says what is missing; the link of a place is copied", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await visit(page);
  await noteTexts(page, "hint");
  await page.keyboard.press("s");
  await expectSeen(page, "hint", /open a student decision first/);
  await visit(page, sampleHash("task", TASK, { decision: 3 }));
  await decisionShown(page, 3);
  await noteTexts(page, "hint");
  await page.keyboard.press("y");
  await expectSeen(page, "hint", /Link copied/);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(() => page.url()).toBe(copied);
  // At once after a step, before the address bar has it.
  await page.evaluate(() => {
    for (const key of ["j", "y"]) window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/decision=4(&|$)/);
});
