import AxeBuilder from "@axe-core/playwright";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, type Page, test, visit } from "./site.ts";

/** Nothing serious or critical in what is on the screen. */
async function check(page: Page, what: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  expect(
    serious.map(
      ({ id, nodes }) => `${what}: ${id}: ${nodes.map((node) => node.target.join(" ")).slice(0, 3)}`,
    ),
  ).toEqual([]);
}

for (const theme of ["light", "dark"] as const) {
  test.describe(`${theme} theme`, () => {
    test.use({ colorScheme: theme });

    test("axe finds nothing serious on any view", async ({ page }) => {
      test.setTimeout(300_000);
      await visit(page);
      await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
      await expect(page.getByTestId("device")).toBeVisible();
      await check(page, "empty");
      await page.keyboard.press("?");
      await check(page, "help");
      await page.keyboard.press("Escape");

      await dropFiles(page, OWN_FILES);
      await expect(page.getByRole("button", { name: TASK })).toBeVisible();
      await check(page, "library");
      await page.getByRole("button", { name: TASK }).click();
      await decisionShown(page, 0);
      await page.keyboard.press("j");
      await decisionShown(page, 1);
      await page.getByRole("gridcell", { name: /^teacher:0, visit 1/ }).click();
      await expect(page.getByRole("heading", { name: "teacher:0, visit 1" })).toBeVisible();
      await check(page, "task");

      await page.getByRole("combobox", { name: "Evidence" }).selectOption("success-only");
      await expect(page.getByTestId("what-if")).toBeVisible();
      await check(page, "task, what if");
      await page.getByRole("button", { name: "Reset to the full method" }).click();
      await page.keyboard.press("5");
      await expect(page.getByTestId("statistics-scope")).toBeVisible();
      await check(page, "statistics");

      await page.keyboard.press("3");
      await check(page, "tokens, before scoring");
      await page.keyboard.press("s");
      await expect(page.getByRole("listbox")).toBeVisible({ timeout: 100_000 });
      await page.keyboard.press("ArrowRight");
      await check(page, "tokens");
      await page.keyboard.press("c");
      await expect(page.getByRole("dialog", { name: "Case study" })).toBeVisible();
      await check(page, "case study");
      await page.keyboard.press("Escape");

      await page.keyboard.press("4");
      await check(page, "training, before");
      await page.keyboard.press("u");
      await expect(page.getByTestId("run-message")).toBeVisible({ timeout: 200_000 });
      await check(page, "training");

      await visit(page, "#/task/nothing?library=sample&decision=x");
      await expect(page.getByTestId("view-problem")).toBeVisible();
      await check(page, "bad link");
    });
  });
}
