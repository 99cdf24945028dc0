/** What a job will need: shown before it starts, refused beyond the user's limit, smaller with weights in fewer bits. */
import { axeFaults } from "./axe.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { decisionShown, expect, type Page, test, visit } from "./site.ts";

async function openOwn(page: Page, key: "t" | "u"): Promise<void> {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press(key);
}

async function checkAxe(page: Page): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
}

for (const theme of ["light", "dark"] as const) {
  test.describe(`${theme} theme`, () => {
    test.use({ colorScheme: theme });

    test("training: the plan by item, and a limit that refuses it with the numbers", async ({ page }) => {
      await openOwn(page, "u");
      const note = page.getByTestId("memory-train");
      await expect(note).toContainText(
        /What it will need: about [\d.]+ [GM]iB \(weights [\d.]+ [GM]iB, activations [\d.]+ [GM]iB, training state [\d.]+ [GM]iB\)/,
      );
      await note.locator("summary").focus();
      await page.keyboard.press("Enter");
      await expect(note.getByRole("row", { name: /student: optimizer state/ })).toBeVisible();
      await note.getByLabel("Limit").fill("0.001");
      const refusal = "the job needs more than the 1.0 MiB that it may take: memory: about";
      await expect(note).toContainText(refusal);
      await checkAxe(page);
      const update = page.getByRole("button", { name: "Update" });
      await expect(update).toBeDisabled();
      await expect(update).toHaveAttribute("title", new RegExp(`^${refusal}`));
      await noteTexts(page, "hint");
      await note.getByLabel("Limit").blur();
      await page.keyboard.press("u");
      await expectSeen(page, "hint", new RegExp(`Update the student: ${refusal}`));
      await expect(page.getByTestId("run-detail")).toHaveCount(0);
      await expect(page.getByTestId("model-student")).toContainText("opened when needed");
      await note.getByLabel("Limit").fill("-3");
      await expect(note.getByLabel("Limit")).toHaveAttribute("aria-invalid", "true");
      await expect(note.getByLabel("Limit")).toHaveAccessibleDescription("expected more than 0, received -3");
      await expect(update).toBeDisabled();
      await expect(page.getByTestId("plan")).toHaveText("");
      await note.getByLabel("Limit").fill("");
      await expect(note).not.toContainText(refusal);
      await expect(update).toBeEnabled();
    });
  });
}

test("scoring: weights in fewer bits need less", async ({ page }) => {
  await openOwn(page, "t");
  const note = page.getByTestId("memory-score");
  const weights = async (): Promise<number> => {
    await expect(note).toContainText(/weights [\d.]+ MiB/);
    await expect(note).toHaveAttribute("aria-busy", "false");
    return Number(/weights ([\d.]+) MiB/.exec((await note.textContent())!)![1]);
  };
  const before = await weights();
  await page.getByRole("combobox", { name: "weights" }).selectOption("int8");
  await expect.poll(weights).toBeLessThan(before);
});
