/** The controls of the ablations: kept in the link, followed by retrieval, evidence and scoring, and said on every view. */
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";

const MELT = "melt|12|easy";

test("a control changes the evidence, is in the link, and is said until it is reset", async ({ page }) => {
  await visit(page, sampleHash("task", MELT, { decision: 12 }));
  await decisionShown(page, 12);
  const evidence = page.getByTestId("evidence");
  const full = await evidence.textContent();
  await expect(page.getByTestId("what-if")).toHaveCount(0);

  await page.getByRole("combobox", { name: "Evidence" }).selectOption("hindsight-only");
  await expect(page.getByTestId("what-if")).toContainText("hindsight only");
  await expect(evidence).not.toHaveText(full!);
  expect((await evidence.textContent())!.length).toBeLessThan(full!.length);
  expect(page.url()).toContain("control=hindsight-only");

  await page.keyboard.press("3");
  await expect(page.getByTestId("what-if")).toContainText("hindsight only");
  await page.keyboard.press("2");
  await page.getByRole("button", { name: "Reset to the full method" }).click();
  await expect(page.getByTestId("what-if")).toHaveCount(0);
  await expect(evidence).toHaveText(full!);
  expect(page.url()).not.toContain("control");
});

test("budget and augmentation decide which executions take part; a link restores them", async ({ page }) => {
  await visit(page, sampleHash("task", MELT, { decision: 12 }));
  await decisionShown(page, 12);
  const rows = page.getByRole("grid").getByRole("row");
  const all = await rows.count();
  await visit(page, sampleHash("task", MELT, { decision: 12, sources: 4, augmentation: "off" }));
  await decisionShown(page, 12);
  await expect(page.getByTestId("what-if")).toContainText(
    "K = 4 sources per task · without planner and oracle records",
  );
  const left = Number((await page.getByTestId("left-out").textContent())!.split(" ")[0]);
  expect(left).toBeGreaterThan(0);
  await expect(rows).toHaveCount(all - left);
  // By keyboard alone.
  await page.getByLabel("Sources per task (K)").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await expect(rows).toHaveCount(all);
  await expect(page.getByTestId("what-if")).toHaveCount(0);

  await visit(page, sampleHash("task", MELT, { sources: 3 }));
  await expect(page.getByRole("alert")).toContainText("“sources=3” in the link: expected one of 1, 4, 8, 16");
});

test("scores belong to the evidence that was asked for", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: 100_000 });
  await page.keyboard.press("2");
  await page.getByRole("combobox", { name: "Evidence" }).selectOption("success-only");
  await expect(page.getByTestId("what-if")).toBeVisible();
  await page.keyboard.press("3");
  await expect(page.getByRole("button", { name: "Score", exact: false })).toBeVisible();
  await expect(page.getByRole("listbox")).toHaveCount(0);
  await page.getByRole("button", { name: "Reset to the full method" }).click();
  await expect(page.getByRole("listbox")).toBeVisible();
});
