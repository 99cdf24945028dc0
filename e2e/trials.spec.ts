/**
 * What a new user wants to know, by keyboard alone. How many presses an answer takes, and how long, is noted with the
 * result, not tested.
 */
import type { Locator } from "./base.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** Presses keys and counts them; `note` says how many it took, and how long. */
class Trial {
  presses = 0;
  readonly #began = performance.now();

  constructor(private readonly page: Page) {}

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
    this.presses += keys.length;
  }

  async type(text: string): Promise<void> {
    await this.press(...text);
  }

  note(): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1);
    test.info().annotations.push({ type: "trial", description: `${this.presses} presses, ${seconds} s` });
  }
}

const isFocused = (field: Locator): Promise<boolean> =>
  field.evaluate((element) => element === document.activeElement);

test("why this reference was chosen: without a key, in sight from opening the decision", async ({ page }) => {
  const trial = new Trial(page);
  await visit(page, sampleHash("task", "melt|12|easy", { episode: "melt|12|easy#0", decision: 5 }));
  await decisionShown(page, 5);
  await expect(page.getByTestId("retained-success")).toBeInViewport();
  await expect(page.getByTestId("sentence")).toBeInViewport();
  await expect(page.getByTestId("sentence")).toContainText(/visit|state/);
  trial.note();
});

test("which token moved most, and because of which event: two keys on an open decision", async ({ page }) => {
  const trial = new Trial(page);
  await visit(page, sampleHash("task", "lifespan-shortest-lived|51|easy", { decision: 0 }));
  await decisionShown(page, 0);
  await trial.press("s");
  // The one that moved most is selected by itself.
  await expect(page.getByRole("option", { name: /, Δ /, selected: true })).toBeVisible({
    timeout: MODEL_TIME,
  });
  await expect(page.getByTestId("token-card")).toBeVisible();
  await expect(
    page.getByTestId("left-out").getByRole("button", { name: /Leave out each event/ }),
  ).toBeEnabled();
  await trial.press("O");
  await expect(page.getByTestId("left-out-headline")).toContainText(/explains/, { timeout: MODEL_TIME });
  trial.note();
});

test("a run started, changed, started again, and both compared", async ({ page }) => {
  // A library that is quick to train on: what is pressed is the same in any.
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  const trial = new Trial(page);
  // Shown first, then started.
  await trial.press("u");
  await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
  await trial.press("u");
  const detail = page.getByTestId("run-detail");
  const learned = detail.getByTestId("run-facts").locator("div", { hasText: "learning rate" }).locator("dd");
  await expect(detail).toContainText("Done: ", { timeout: MODEL_TIME });
  await expect(detail.getByRole("heading", { level: 2 })).toBeFocused();
  await expect(learned).toHaveText(/^\d/);
  await expect(learned).not.toHaveText("0.001");
  const goTo = async (control: Locator): Promise<void> => {
    for (let n = 0; n < 50 && !(await isFocused(control)); n += 1) await trial.press("Tab");
    await expect(control).toBeFocused();
  };
  await goTo(page.getByTestId("form-fold"));
  await trial.press("Enter");
  await goTo(page.getByLabel("Learning rate"));
  await trial.press("ControlOrMeta+a");
  await trial.type("1e-3");
  await trial.press("Enter");
  // The second run's card, in the place of the first one's.
  await expect(learned).toHaveText("0.001");
  await expect(detail).toContainText("Done: ", { timeout: MODEL_TIME });
  await trial.press("6");
  await expect(page.getByRole("columnheader", { name: /learning/i })).toBeVisible();
  trial.note();
});
