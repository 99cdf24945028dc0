/** What changes something can be taken back, by key and by button. */
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const MELT = "melt|12|easy";

test("the what-if, the library and the student come back", async ({ page }) => {
  const notice = page.getByTestId("notice");
  await visit(page);
  await noteTexts(page, "hint");
  await page.keyboard.press("z");
  await expectSeen(page, "hint", /there is nothing to undo here/);

  await visit(page, sampleHash("task", MELT, { decision: 12, control: "hindsight-only", sources: 4 }));
  await decisionShown(page, 12);
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).press("Enter");
  await expect(page.getByRole("button", { name: "What if", exact: true })).toBeFocused();
  await expect(notice).toContainText("the what-if was: hindsight only · K = 4 sources per task");
  await page.keyboard.press("z");
  await expect(page.getByTestId("what-if")).toContainText("hindsight only · K = 4 sources per task");
  await expect(notice).toHaveCount(0);
  await expect(page).toHaveURL(/control=hindsight-only/);

  // Other files open beside it; closed, it comes back as it was.
  await dropFiles(page, OWN_FILES);
  await expect(page.getByRole("button", { name: TASK })).toBeVisible();
  await page.goBack();
  await decisionShown(page, 12);
  await page.keyboard.press("1");
  await page.getByRole("button", { name: "Close Ten ScienceWorld tasks" }).click();
  await expect(page.getByRole("button", { name: TASK })).toBeVisible();
  await notice.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
  await page.keyboard.press("2");
  await decisionShown(page, 12);
  await expect(page.getByTestId("what-if")).toContainText("hindsight only");

  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("4");
  await page.getByLabel("Train on").selectOption("task");
  await page.getByLabel("Train on").blur();
  await page.keyboard.press("u");
  const student = page.getByTestId("model-student");
  await expect(student).toContainText("updated here (2 steps)", { timeout: MODEL_TIME });
  await expect(notice).toContainText("it has 2 optimizer steps now");
  // The student is kept first.
  await expect(page.getByTestId("run-message")).toContainText("Done: 2 steps.");
  await noteTexts(page, "hint");
  await page.keyboard.press("z");
  await expect(student).toContainText("the sample’s");
  await expectSeen(page, "hint", /Undone: The student was updated/);
  await expect(page.getByRole("button", { name: "Revert to the loaded student" })).toBeDisabled();
  // The curves were measured: they stay, and say that the student has the steps no longer.
  await expect(page.getByTestId("run-message")).toHaveCount(0);
  await expect(page.getByTestId("taken-back")).toHaveText(
    "The run’s steps were taken back: the student is as it was before this run. Its curves stay among the runs.",
  );
  await expect(page.getByTestId("watched")).toContainText(/log p .* (\S+) before, \1 after 0 steps/);
  await expect(page.locator('svg[data-figure="loss"] .curve.taken-back')).toHaveCount(1);
  await expect(page.getByTestId("run-detail")).toContainText("✓ done · step 2 of 2 · taken back:");
  // Another run begins again, and is not taken back.
  await page.keyboard.press("u");
  await expect(student).toContainText("updated here (2 steps)", { timeout: MODEL_TIME });
  await expect(page.getByTestId("run-message")).toContainText("Done: 2 steps.");
  await expect(page.getByTestId("taken-back")).toHaveCount(0);
  await expect(page.locator('svg[data-figure="loss"] .curve.taken-back')).toHaveCount(0);
  await page.keyboard.press("6");
  const takenBack = page.getByTestId("run-list").getByText("taken back: the student is as it was");
  await expect(takenBack).toHaveCount(1);
  await page.reload();
  await expect(takenBack).toHaveCount(1);
  // So are the card of the run that was started last, and the form.
  await page.keyboard.press("4");
  await expect(page.getByTestId("run-detail")).toContainText("✓ done · step 2 of 2");
  await expect(page.getByTestId("starts-from")).toContainText("trained here (2 optimizer steps)");
  await expect(page.getByLabel("Train on")).toHaveValue("task");
});
