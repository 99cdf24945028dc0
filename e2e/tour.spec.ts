/** The guided tour of the sample: by keyboard alone, true to the figures of the page, in under two minutes. */
import { axeFaults } from "./axe.ts";
import { expect, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** Words a minute of a slow reader of a foreign language. */
const READING = 180;

test("the tour leads through the real views by keyboard, in under two minutes with the reading", async ({
  page,
}) => {
  const tour = page.getByTestId("tour");
  await visit(page);
  await page.getByRole("button", { name: "Take the tour" }).focus();
  const began = Date.now();
  await page.keyboard.press("Enter");

  const seen: string[] = [];
  const at = async (step: string, text: RegExp | string): Promise<void> => {
    await expect(tour).toHaveAttribute("data-step", step);
    await expect(tour.locator("#tour-text")).toContainText(text, { timeout: MODEL_TIME });
    // The step points at something, and the focus is on what goes on.
    await expect(page.locator(".tour-ring")).toBeVisible();
    await expect(tour.getByRole("button").last()).toBeFocused();
    const said = (await tour.locator("#tour-text").textContent())!;
    seen.push(said);
  };
  await at("library", "10 tasks with 176 recorded executions and 66 student episodes");
  expect(seen.at(-1)).toContain("“Decisions matched”");
  await expect(page.getByRole("columnheader", { name: "Decisions matched" })).toBeVisible();
  await page.keyboard.press("Enter");
  await at("matrix", "Each row is an execution");
  await page.keyboard.press("ArrowRight");
  await at("same-state", "in 26 visits");
  await expect(page.getByTestId("matched")).toHaveText("26");
  await page.keyboard.press("ArrowLeft");
  await at("matrix", "Column 4");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await at("reference", "26 matching visits");
  expect(seen.at(-1)).not.toContain(await page.getByTestId("sentence").textContent());
  await page.keyboard.press("ArrowRight");
  await at("evidence", /\d tokens/);
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press("ArrowRight");
  await at("score", "twice");
  await expect(tour.getByRole("button", { name: /Score/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await at("delta", "Largest:");
  const [, before, after] = / goes from (\S+) without to (\S+) with/.exec(seen.at(-1)!)!;
  const largest = page.getByLabel("All tokens in figures").getByRole("row", { name: before! });
  await expect(largest.filter({ hasText: after! }).first()).toBeAttached();
  await page.keyboard.press("ArrowRight");
  await at("training", "takes it back");
  await page.keyboard.press("Enter");
  await expect(tour).toHaveCount(0);
  const walked = (Date.now() - began) / 1000;
  const words = [...new Set(seen)].join(" ").split(/\s+/).length;
  const reading = (60 * words) / READING;
  console.log(`tour: ${walked.toFixed(0)} s walked, ${words} words to read in ${reading.toFixed(0)} s`);
  // The walk was on a software adapter, and on a machine that may be slow; what is read is the same everywhere.
  expect(reading, "seconds of reading").toBeLessThan(90);
  expect(await page.evaluate(() => localStorage.getItem("gcopd-tour"))).toBe("done");

  // Left in the middle from anywhere, with Escape, and found again in the palette.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("tour");
  await page.keyboard.press("Enter");
  await at("library", "10 tasks");
  await page.locator("main").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("Escape");
  await expect(tour).toHaveCount(0);
});
