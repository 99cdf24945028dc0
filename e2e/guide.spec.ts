import { axeFaults } from "./axe.ts";
import { expect, openSample, pressEnabled, test, visit } from "./site.ts";

const PAGES = [
  ["Inspect retrieval", "Inspect retrieval, decision by decision"],
  ["Compare token probabilities", "Compare token probabilities with and without evidence"],
  ["Update a student", "Update a student and watch it"],
] as const;

for (const theme of ["light", "dark"] as const) {
  test(`the guide: its three pages by keyboard, with pictures of the theme, ${theme}`, async ({ page }) => {
    // The page's own choice of theme, against the system's.
    await page.emulateMedia({ colorScheme: theme === "dark" ? "light" : "dark" });
    await openSample(page);
    await page.getByLabel("Theme").selectOption(theme);
    await page.keyboard.press("g");
    const guide = page.getByRole("dialog", { name: "Guide" });
    for (const [button, heading] of PAGES) {
      await pressEnabled(guide.getByRole("button", { name: button }));
      await expect(guide.getByRole("heading", { level: 1, name: heading })).toBeVisible();
      const pictures = guide.locator("img:visible");
      expect(await pictures.count()).toBeGreaterThan(0);
      for (const picture of await pictures.all()) {
        await picture.scrollIntoViewIfNeeded();
        await expect
          .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
          .toBeGreaterThan(0);
        const dark = /-dark/.test((await picture.getAttribute("src"))!);
        expect(dark).toBe(theme === "dark");
      }
      expect(await axeFaults(page, "dialog.guide")).toEqual([]);
    }
    await page.keyboard.press("Escape");
    await expect(guide).toBeHidden();
  });
}

test("the guide speaks first of what is shown, and its pages link to each other", async ({ page }) => {
  await visit(page, "#/tokens?library=sample");
  await page.keyboard.press("g");
  const guide = page.getByRole("dialog", { name: "Guide" });
  await expect(guide.getByRole("heading", { level: 1 })).toHaveText(PAGES[1][1]);
  await guide.getByRole("link", { name: "update a student" }).click();
  await expect(guide.getByRole("heading", { level: 1 })).toHaveText(PAGES[2][1]);
  await page.keyboard.press("g");
  await expect(guide).toBeHidden();
  await expect(page).toHaveURL(/#\/tokens/);
});
