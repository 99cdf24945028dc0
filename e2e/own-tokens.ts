/** The tokens view over the small library of a user's own, with the tiny teacher. */
import { axeFaults } from "./axe.ts";
import { dropFiles, OWN_FILES, TASK, type UploadFile } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { atRest, decisionShown, expect, type Page, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** Opens the files, a decision of their episode and its tokens; the teacher is the sample's. */
async function openSampleTokens(page: Page, decision: number, files: UploadFile[]): Promise<void> {
  await visit(page);
  await dropFiles(page, files);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  for (let i = 0; i < decision; i++) await page.keyboard.press("j");
  await decisionShown(page, decision);
  await page.keyboard.press("t");
}

/** The same with another teacher, the tiny one when absent. */
export async function openOwnTokens(
  page: Page,
  decision = 1,
  files: UploadFile[] = OWN_FILES,
  teacher?: string,
): Promise<void> {
  await openSampleTokens(page, decision, files);
  await page
    .getByTestId("pick-teacher-folder")
    .setInputFiles(teacher ?? (await modelFolder("models/qwen3-a")));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
}

/** Scores what is open, until nothing is at work any more. */
async function scoreOpen(page: Page): Promise<void> {
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await atRest(page);
}

/** The files' decision scored by the tiny teacher. */
export async function scoreOwn(page: Page, decision = 1, files: UploadFile[] = OWN_FILES): Promise<void> {
  await openOwnTokens(page, decision, files);
  await scoreOpen(page);
}

/** Their decision 1 scored by the sample's teacher, which ends its responses: one of random weights writes up to the limit. */
export async function scoreBySample(page: Page): Promise<void> {
  await openSampleTokens(page, 1, OWN_FILES);
  await scoreOpen(page);
}

/** axe finds nothing at all in a part of the page, in either theme. */
export async function checkBothThemes(page: Page, selector: string): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => document.documentElement.setAttribute("data-theme", name), theme);
    expect(await axeFaults(page, selector), theme).toEqual([]);
  }
}
