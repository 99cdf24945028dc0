/** The three jobs without a mouse: inspect, score, update. */
import { decisionShown, expect, pressEnabled, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("a page that is loaded hears its keys, and what follows / is for the filter", async ({ page }) => {
  await page.addInitScript(() => {
    // What React puts off, on a machine that is busy until the page is loaded.
    const post = MessagePort.prototype.postMessage;
    MessagePort.prototype.postMessage = function (message: unknown, ...rest: never[]) {
      const later = message === null && document.readyState !== "complete";
      if (later) setTimeout(() => post.call(this, message, ...rest), 3_000);
      else post.call(this, message, ...rest);
    };
    addEventListener("load", () => dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true })));
  });
  await visit(page, "#/statistics?library=sample");
  await expect(page.getByRole("dialog", { name: "Keys and marks" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: MODEL_TIME });
  for (const _ of ["from another view", "from the library"]) {
    const focused = await page.evaluate(() => {
      dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
      return document.activeElement?.id;
    });
    expect(focused).toBe("task-filter");
    await page.keyboard.press("Escape");
  }
});

test("from nothing to a scored decision and a what-if, by keyboard alone", async ({ page }) => {
  await visit(page);
  // Past the header with one key.
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Skip to the view" })).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Open the sample" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
  // The button is gone, and the focus is on what it opened.
  await expect(page.locator("main")).toBeFocused();

  await page.keyboard.press("/");
  await page.keyboard.type("non-living");
  await expect(page.getByRole("row")).toHaveCount(2);
  await page.keyboard.press("Enter");
  await decisionShown(page, 0);
  // The filter is gone: Tab goes on in the view, not in the header.
  await page.keyboard.press("Tab");
  await expect(page.locator("main :focus")).toBeVisible();
  await page.keyboard.press("j");
  await decisionShown(page, 1);

  // A menu keeps the letters until it is left.
  await page.getByRole("button", { name: "What if", exact: true }).press("Enter");
  const evidence = page.getByRole("combobox", { name: "Evidence" });
  await evidence.focus();
  await page.keyboard.press("End");
  await expect(page.getByTestId("what-if")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(evidence).not.toBeFocused();
  await page.keyboard.press("k");
  await decisionShown(page, 0);

  const task = page.getByLabel("Task [ ]").locator("option:checked");
  await page.keyboard.press("]");
  await expect(task).not.toContainText("non-living");
  await decisionShown(page, 0);
  await page.keyboard.press("[");
  await expect(task).toContainText("non-living");
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByTestId("strip")).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("ArrowRight");
  await expect(page.getByTestId("token-card")).toBeVisible();
});

test.describe("a sample that the server does not give", () => {
  test.use({ expectedErrors: ["503"] });

  test("leaves the focus where the user went meanwhile", async ({ page }) => {
    let refuse = (): void => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    await page.context().route("**/sample/sources*", async (route) => {
      await refused;
      await route.fulfill({ status: 503 });
    });
    await visit(page);
    const open = page.getByRole("button", { name: "Open the sample" });
    await pressEnabled(open);
    await expect(open).toBeDisabled();
    await page.locator("main").focus();
    refuse();
    await expect(page.getByTestId("notice")).toContainText("503");
    await expect(open).toBeEnabled();
    await expect(page.locator("main")).toBeFocused();
  });
});
