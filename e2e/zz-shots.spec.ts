import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";
for (const [w, h] of [[1280, 800], [1920, 1080], [800, 900]]) test.describe(`${w}`, () => {
  test.use({ viewport: { width: w!, height: h! }, colorScheme: w === 1280 ? "light" : "dark" });
  test("shots", async ({ page }) => {
    await visit(page, sampleHash("task", "melt|12|easy", { decision: 12 }));
    await decisionShown(page, 12);
    await page.keyboard.press("6");
    await page.waitForTimeout(1000);
    await page.screenshot({ path: `/tmp/shots/runs-${w}.png` });
    await page.keyboard.press("8");
    await page.getByRole("button", { name: "Test the miniature world" }).click();
    await page.waitForTimeout(12000);
    await page.screenshot({ path: `/tmp/shots/evidence-${w}.png`, fullPage: true });
  });
});
