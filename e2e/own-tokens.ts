/** The tokens view over the small library of a user's own, with the tiny teacher. */
import { axeFaults } from "./axe.ts";
import { dropFiles, OWN_FILES, TASK, type UploadFile } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { atRest, decisionShown, expect, type Page, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** Opens the files, a decision of their episode, its tokens, and the teacher. */
export async function openOwnTokens(
  page: Page,
  decision = 1,
  files: UploadFile[] = OWN_FILES,
  teacher?: string,
): Promise<void> {
  await visit(page);
  await dropFiles(page, files);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  for (let i = 0; i < decision; i++) await page.keyboard.press("j");
  await decisionShown(page, decision);
  await page.keyboard.press("t");
  await page
    .getByTestId("pick-teacher-folder")
    .setInputFiles(teacher ?? (await modelFolder("models/qwen3-a")));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
}

/** The same, scored, with nothing at work any more. */
export async function scoreOwn(page: Page, decision = 1, files: UploadFile[] = OWN_FILES): Promise<void> {
  await openOwnTokens(page, decision, files);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await atRest(page);
}

/** axe finds nothing at all in a part of the page, in either theme. */
export async function checkBothThemes(page: Page, selector: string): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => document.documentElement.setAttribute("data-theme", name), theme);
    expect(await axeFaults(page, selector), theme).toEqual([]);
  }
}
