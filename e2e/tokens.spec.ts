import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";

test("scores a decision of the sample under both contexts, and goes through its tokens", async ({ page }) => {
  test.setTimeout(400_000);
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 1 }));
  await decisionShown(page, 1);
  await page.keyboard.press("s");
  await expect(page.getByTestId("scoring")).toBeVisible();
  const strip = page.getByRole("listbox", { name: "Response tokens" });
  await expect(strip).toBeVisible({ timeout: 380_000 });
  const tokens = strip.getByRole("option");
  const text = (await tokens.allTextContents()).join("").replaceAll("␣", " ");
  expect(text).toBe("<thought>Let me see what is around first.</thought><action>go to kitchen</action>");

  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(tokens.nth(1)).toBeFocused();
  const card = page.getByTestId("token-card");
  await expect(card.getByRole("row")).toHaveCount(4);
  expect(page.url()).toContain("token=1");

  // The figures agree with each other: Δ is the difference, and the sum is that of the table.
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));
  const logs = await card.getByRole("row").locator("td:last-child").allTextContents();
  const delta = number(logs[1]!) - number(logs[0]!);
  expect(number((await card.locator("p strong").textContent())!)).toBeCloseTo(delta, 2);
  const column = await page
    .getByLabel("All tokens in figures")
    .locator("tbody td:nth-child(5)")
    .allTextContents();
  const sum = column.reduce((total, cell) => total + number(cell), 0);
  expect(number((await page.getByTestId("sums").locator("strong").textContent())!)).toBeCloseTo(sum, 1);
  for (const each of logs) expect(number(each)).toBeLessThan(0);

  const provenance = page.getByLabel("Measured on");
  await expect(provenance).toContainText("WebGPU");
  await expect(provenance).toContainText("the same ids on both sides");
  await page.keyboard.press("End");
  await expect(tokens.last()).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(card).toHaveCount(0);
});

test("takes a teacher of the user's own from a folder, and scores with it", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("t");
  await page.getByTestId("pick-teacher-folder").setInputFiles("test/fixtures/models/qwen3-a");
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: 100_000 });
  await expect(page.getByLabel("Measured on")).toContainText("qwen3-a");
});

test("cancels: requested, then confirmed, and the page goes on", async ({ page }) => {
  await visit(page, sampleHash("tokens", "melt|12|easy", { decision: 20 }));
  await page.getByRole("button", { name: "Score" }).click();
  await expect(page.getByTestId("scoring")).toContainText(/tokens/, { timeout: 60_000 });
  await page.keyboard.press("Escape");
  await expect(page.getByText("Cancel requested")).toBeVisible();
  await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
  await page.keyboard.press("2");
  await decisionShown(page, 20);
});

test("refuses a token beyond the response", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: 100_000 });
  await page.evaluate(() => {
    window.location.hash += "&token=400";
  });
  await expect(page.getByText("The response has no token 400")).toBeVisible();
});
