import { expect, openSample, test, visit } from "./site.ts";

test("opens the sample, sorts and filters its tasks", async ({ page }) => {
  await openSample(page);
  const names = page.locator("table.tasks tbody th button");
  await expect(names).toHaveCount(10);
  const sorted = await names.allTextContents();
  expect(sorted).toEqual([...sorted].sort());

  await page.getByRole("button", { name: "States" }).click();
  await expect(names.first()).toHaveText("inclined-plane-friction-named-surfaces|653|easy");
  await expect(page.getByRole("columnheader", { name: "States" })).toHaveAttribute("aria-sort", "descending");
  await expect(page).toHaveURL(/sort=-states/);

  await page.keyboard.press("/");
  await page.keyboard.type("red light bulb");
  await expect(names).toHaveText(["power-component|0|easy"]);
  await page.keyboard.press("Escape");
  await expect(names).toHaveCount(10);

  await page.getByRole("combobox", { name: "Show" }).selectOption("without a success");
  await expect(names).toHaveText(["inclined-plane-friction-named-surfaces|653|easy"]);
  await expect(page).toHaveURL(/show=no-success/);
  await page.reload();
  await expect(names).toHaveCount(1);
  await page.getByRole("combobox", { name: "Show" }).selectOption("with scored decisions");
  await page.getByRole("button", { name: "Show all tasks" }).click();
  await expect(names).toHaveCount(10);
});

test("the counts of a task are those of the fixture's README", async ({ page }) => {
  await openSample(page);
  const row = page.getByRole("row", { name: /^chemistry-mix\|3\|easy/ });
  // 18 sources, 13 successful, 8 episodes with 5 won, 44 % of decisions matched.
  await expect(row.getByRole("cell")).toHaveText([
    /^18$/,
    /^13/,
    /^5/,
    /^149$/,
    /^32/,
    "8 (5)",
    "44 %",
    /%$/,
    "–",
  ]);
});

test("teaches when nothing is open, and asks again for files that a link leads into", async ({ page }) => {
  await visit(page);
  await expect(page.getByRole("heading", { name: /what the teacher is shown/ })).toBeVisible();
  for (const [view, shows] of [
    ["task", "executions of a task side by side"],
    ["tokens", "with the evidence"],
    ["training", "on its own episodes"],
    ["statistics", "references, outcomes"],
  ]) {
    await visit(page, `#/${view}`);
    await expect(page.getByTestId("nothing-open")).toContainText(shows!);
    await expect(page.getByRole("button", { name: "Open the sample" })).toBeEnabled();
  }
  await visit(page, "#/task/boil?library=own&decision=2");
  await expect(page.getByTestId("own-link")).toBeVisible();
});

test("shows the keys, and closes with Escape", async ({ page }) => {
  await visit(page);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys and marks" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

test("remembers the theme", async ({ page }) => {
  await visit(page);
  await page.getByLabel("Theme").selectOption("dark");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await visit(page);
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
