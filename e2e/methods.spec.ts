/** Methods beside the paper's own, in the page. */
import { decisionShown, expect, limitEpisodes, openSample, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("the student is its own teacher, under evidence: no other teacher is opened", async ({ page }) => {
  await visit(page, sampleHash("task", "lifespan-shortest-lived|51|easy", { decision: 0 }));
  await decisionShown(page, 0);
  await page.keyboard.press("4");
  await page.getByRole("combobox", { name: "Method", exact: true }).selectOption("self-distillation");
  await page.getByLabel("Graph-conditioned passes").fill("1");
  await page.keyboard.press("Tab");
  await expect(page.getByTestId("method-note")).toContainText("arXiv 2602.04942");
  await expect(page.getByTestId("method-note")).toContainText("Uncertain: ");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step", { timeout: MODEL_TIME });
  await expect(page.getByText("teacher: the sample’s, opened when needed")).toBeVisible();
});

test("episodes are cut at a depth that grows", async ({ page }) => {
  await openSample(page);
  await page.keyboard.press("4");
  await page.getByLabel("Responses").selectOption("live");
  await page.getByLabel("Games").selectOption("made");
  await page.getByLabel("Number to make").fill("1");
  await page.getByLabel("First seed").fill("0");
  await limitEpisodes(page, { decisions: 2, tokens: 4 });
  await page.getByRole("combobox", { name: "Method", exact: true }).selectOption("tcod-f2b");
  await page.getByLabel("Forward to backward passes").fill("1");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step", { timeout: MODEL_TIME });
});
