import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";

/** The longest of everything: two hundred decisions in one execution. */
const LONG = "inclined-plane-friction-named-surfaces|653|easy";

for (const [width, height] of [
  [1280, 800],
  [1920, 1080],
] as const) {
  for (const theme of ["light", "dark"] as const) {
    test.describe(`${width} × ${height}, ${theme}`, () => {
      test.use({ viewport: { width, height }, colorScheme: theme });

      test("no view is wider than the window", async ({ page }) => {
        test.setTimeout(300_000);
        const look = async (name: string): Promise<void> => {
          await page.screenshot({ path: `test-results/screenshots/${name}-${width}-${theme}.png` });
          const wide = await page.evaluate(() =>
            [document.documentElement, document.querySelector("main")!]
              .filter((element) => element.scrollWidth > element.clientWidth)
              .map((element) => element.tagName),
          );
          expect(wide, name).toEqual([]);
        };
        await visit(page);
        await look("empty");
        await visit(page, sampleHash("library", ""));
        await expect(page.getByRole("row", { name: /melt/ })).toBeVisible();
        await look("library");
        for (const [task, decision] of [
          ["melt|12|easy", 12],
          [LONG, 20],
        ] as const) {
          await visit(page, sampleHash("task", task, { decision }));
          await decisionShown(page, decision);
          await look(task === LONG ? "task-long" : "task");
        }
        await page.keyboard.press("3");
        await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
        await look("tokens");
        await page.keyboard.press("4");
        await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
        await look("training");
        await page.keyboard.press("5");
        await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: 100_000 });
        await look("statistics");
      });
    });
  }
}
