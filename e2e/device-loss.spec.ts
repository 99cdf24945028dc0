/** The device is lost in the middle of a run: the run goes on from its last checkpoint, and says so. */
import { loseDeviceAt } from "./compute-worker.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("training goes on over a lost device", async ({ page }) => {
  await loseDeviceAt(page, { at: { step: 2 } });
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("u");
  await page.getByLabel("Vanilla passes").fill("5");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText(
    "Done: 6 steps. The device failed once on the way; each time the run went on from its last checkpoint.",
    { timeout: MODEL_TIME },
  );
  await expect(page.getByTestId("model-student")).toContainText("updated here (6 steps)");
});
