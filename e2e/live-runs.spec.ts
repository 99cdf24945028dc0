import { expect, openSample, test } from "./site.ts";

test("a run on policy plays made games afresh before its step", async ({ page }) => {
  await openSample(page);
  await page.keyboard.press("4");
  await page.getByLabel("Responses").selectOption("live");
  await expect(page.getByText("no game of alfworld is open").first()).toBeVisible();
  await page.getByLabel("Games").selectOption("made");
  await page.getByLabel("How many").fill("2");
  await page.getByLabel("First seed").fill("0");
  await page.getByLabel("Most decisions").fill("2");
  await page.getByLabel("Most tokens of a response").fill("4");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  const plan = page.getByTestId("plan");
  await expect(plan).toContainText("1 vanilla step, then 0 graph-conditioned, over 2 tasks, on policy");
  await expect(page.getByTestId("cost")).toContainText("2 episodes to play", { timeout: 60_000 });
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: 200_000 });
  await expect(page.getByTestId("run-detail")).toContainText("before the step: on policy");
  await page.keyboard.press("6");
  await expect(page.getByTestId("run-list")).toContainText("gc-opd, live in alfworld");
  await expect(page.getByTestId("run-list")).toContainText("on policy");
});
