/** Several libraries open together: each its own, told apart by the address, and none ever shows on another. */
import { axeFaults } from "./axe.ts";
import { dropFiles, EPISODES, jsonLines, OWN_FILES, SOURCES, TASK, upload } from "./own-files.ts";
import { decisionShown, expect, openSample, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** The same task and episode, without the first of its executions. */
const HELD_OUT = [
  upload("held-out.jsonl", jsonLines(SOURCES.slice(1))),
  upload("episodes.jsonl", jsonLines(EPISODES)),
];

const libraries = (page: Page) => page.getByTestId("libraries").locator("tbody tr");
const header = (page: Page) => page.getByRole("combobox", { name: "Library" });
const retained = (page: Page) => page.getByTestId("retained");

/** Opens both, and waits on the second one's list of tasks. */
async function openBoth(page: Page): Promise<void> {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await expect(page.getByRole("heading", { name: "sources.jsonl.gz, episodes.jsonl" })).toBeVisible();
  await expect(page.getByTestId("libraries")).toHaveCount(0);
  await dropFiles(page, HELD_OUT);
  await expect(page.getByRole("heading", { name: "held-out.jsonl, episodes.jsonl" })).toBeVisible();
  await expect(libraries(page)).toHaveCount(2);
}

test("the same task in two libraries has its own executions and retrieval in each", async ({ page }) => {
  await openBoth(page);
  // Name, tasks, executions, succeeded, episodes, matched.
  await expect(libraries(page).nth(0)).toContainText(/sources\.jsonl\.gz.*1\s*3\s*67 %\s*1 \(0\)\s*100 %/);
  await expect(libraries(page).nth(1)).toContainText(
    /held-out\.jsonl.*shown\s*1\s*2\s*50 %\s*1 \(0\)\s*100 %/,
  );
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await expect(retained(page)).toHaveText("★ teacher:2, visit 0");
  const heldOut = /library=own-[0-9a-f]{12}/.exec(page.url())![0];

  // The other one: the same task, with its own executions.
  await page.keyboard.press("l");
  await expect(retained(page)).toHaveText("★ teacher:0, visit 0");
  await decisionShown(page, 0);
  await expect(page.getByRole("gridcell", { name: /^teacher:0, visit 0/ })).toBeVisible();
  await expect(page).not.toHaveURL(new RegExp(heldOut));
  await page.keyboard.press("j");
  await decisionShown(page, 1);

  // Each is where it was left; Back and Forward lead from one to the other.
  await page.keyboard.press("L");
  await expect(retained(page)).toHaveText("★ teacher:2, visit 0");
  await decisionShown(page, 0);
  await expect(page.getByRole("gridcell", { name: /^teacher:0, / })).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(heldOut));
  await page.goBack();
  await decisionShown(page, 1);
  await expect(page.getByRole("gridcell", { name: /^teacher:0, visit 0/ })).toBeVisible();
  await page.goForward();
  await decisionShown(page, 0);
  await expect(retained(page)).toHaveText("★ teacher:2, visit 0");
  await header(page).selectOption({ label: "sources.jsonl.gz, episodes.jsonl" });
  await decisionShown(page, 1);

  // The palette leads there too.
  await page.keyboard.press("Control+k");
  await page.keyboard.type("held-out");
  await page.keyboard.press("Enter");
  await expect(retained(page)).toHaveText("★ teacher:2, visit 0");
});

test("each keeps its table, and the statistics are the shown one's, with the others beside", async ({
  page,
}) => {
  await openSample(page);
  await dropFiles(page, OWN_FILES);
  await expect(libraries(page)).toHaveCount(2);
  await page.keyboard.press("l");
  await expect(header(page).locator("option:checked")).toHaveText(/ScienceWorld/);
  await page.getByLabel(/^Filter/).fill("melt");
  const names = page.locator("table.tasks tbody th button");
  await expect(names).toHaveText(["melt|12|easy"]);
  await libraries(page)
    .nth(1)
    .getByRole("button", { name: "sources.jsonl.gz, episodes.jsonl", exact: true })
    .click();
  await expect(names).toHaveText([TASK]);
  await page.keyboard.press("l");
  await expect(names).toHaveText(["melt|12|easy"]);

  await page.keyboard.press("5");
  await expect(page.getByTestId("statistics-scope")).toContainText("of 176 recorded executions");
  await expect(libraries(page)).toHaveCount(2);
  await expect(libraries(page).nth(1)).toContainText(/sources\.jsonl\.gz.*1\s*3\s*67 %/);
  await page.keyboard.press("l");
  await expect(page.getByTestId("statistics-scope")).toContainText("of 3 recorded executions");
});

test("scores stay with the library that they were measured in", async ({ page }) => {
  await openBoth(page);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("3");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("l");
  await expect(header(page).locator("option:checked")).toHaveText(/sources\.jsonl\.gz/);
  await expect(page.getByTestId("decision")).toHaveText("0");
  await expect(page.getByRole("listbox")).toHaveCount(0);
  await page.keyboard.press("1");
  await expect(
    page
      .getByRole("row", { name: new RegExp(TASK.replaceAll("|", "\\|")) })
      .getByRole("cell")
      .last(),
  ).toHaveText("–");
  await page.keyboard.press("l");
  await expect(
    page
      .getByRole("row", { name: new RegExp(TASK.replaceAll("|", "\\|")) })
      .getByRole("cell")
      .last(),
  ).not.toHaveText("–");
  await page.keyboard.press("3");
  await expect(page.getByRole("listbox")).toBeVisible();
});

test("a library closes, comes back, and its link asks for it or opens it", async ({ page }) => {
  await openBoth(page);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("j");
  await decisionShown(page, 1);
  await page.keyboard.press("1");
  await page.getByRole("button", { name: "Close held-out.jsonl, episodes.jsonl" }).click();
  await expect(page.getByRole("heading", { name: "sources.jsonl.gz, episodes.jsonl" })).toBeVisible();
  await expect(page.getByTestId("libraries")).toHaveCount(0);
  await page.keyboard.press("z");
  await expect(page.getByRole("heading", { name: "held-out.jsonl, episodes.jsonl" })).toBeVisible();
  await page.keyboard.press("2");
  await decisionShown(page, 1);
  await expect(page).toHaveURL(/decision=1/);

  // A link to what is not open opens it beside, and Back leads to where one was.
  await page.evaluate(
    (hash) => {
      window.location.hash = hash;
    },
    sampleHash("task", "melt|12|easy", { decision: 12 }),
  );
  await decisionShown(page, 12);
  await expect(header(page).locator("option")).toHaveCount(3);
  await page.goBack();
  await decisionShown(page, 1);
  await expect(page.getByRole("gridcell", { name: /^teacher:0, / })).toHaveCount(0);

  // After a reload the files must be given again, and lead to where the link says.
  await expect(page).toHaveURL(/decision=1/);
  await page.reload();
  await expect(page.getByTestId("own-link")).toBeVisible();
  await dropFiles(page, OWN_FILES);
  await expect(page.getByRole("heading", { name: "sources.jsonl.gz, episodes.jsonl" })).toBeVisible();
  await page.goBack();
  await expect(page.getByTestId("own-link")).toBeVisible();
  await dropFiles(page, HELD_OUT);
  await decisionShown(page, 1);
  await expect(header(page).locator("option")).toHaveCount(2);
});

for (const theme of ["light", "dark"] as const) {
  test.describe(`${theme} theme`, () => {
    test.use({ colorScheme: theme });

    test("axe finds nothing serious with two libraries", async ({ page }) => {
      const check = async (): Promise<void> => {
        expect(await axeFaults(page)).toEqual([]);
      };
      await openBoth(page);
      await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
      await check();
      await page.keyboard.press("5");
      await expect(page.getByTestId("statistics-scope")).toBeVisible();
      await check();
      await page.keyboard.press("2");
      await expect(page.getByRole("heading", { name: "Pick a task first" })).toBeVisible();
      await check();
    });
  });
}
