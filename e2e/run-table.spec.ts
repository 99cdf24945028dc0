import { type Kept, keepRuns } from "./kept-runs.ts";
import { expect, type Page, test, visit } from "./site.ts";

const noisy = (offset: number): number[] =>
  Array.from({ length: 20 }, (_, n) => offset + 1 / (n + 1) + (n % 2) / 10);

const RUNS: readonly Kept[] = [
  { digits: "000000000001", config: { seed: 0, settings: { learning_rate: 1e-3 } }, losses: noisy(0) },
  { digits: "000000000002", config: { seed: 1, settings: { learning_rate: 1e-3 } }, losses: noisy(0.2) },
  { digits: "000000000003", config: { control: "hindsight-only" }, losses: noisy(1), state: "cancelled" },
];

async function openRuns(page: Page, runs = RUNS): Promise<void> {
  await visit(page, "#/runs");
  await expect(page.getByText("No run yet.")).toBeVisible();
  await keepRuns(page, runs);
  await page.reload();
  await expect(rows(page)).toHaveCount(runs.length);
}

const list = (page: Page) => page.getByTestId("run-list");
const rows = (page: Page) => list(page).locator("[data-run]");
const names = (page: Page) => list(page).getByRole("rowheader").getByRole("link");

test("the table shows what differs between configs, sorts by it, groups, and filters by tags", async ({
  page,
}) => {
  await openRuns(page);
  const headers = list(page).getByRole("columnheader");
  await expect(headers).toHaveText([
    /chart/,
    /run/,
    /where/,
    /state/,
    /Evidence/,
    /Learning rate/,
    /Seed/,
    /steps/,
    /loss/,
    /started/,
    /./,
  ]);
  // Newest first; then by what differs, and by a figure.
  await expect(names(page)).toHaveText(["run 3", "run 2", "run 1"]);
  await list(page).getByRole("button", { name: "Learning rate" }).click();
  await expect(list(page).getByRole("columnheader", { name: "Learning rate" })).toHaveAttribute(
    "aria-sort",
    "ascending",
  );
  await expect(names(page).first()).toHaveText("run 3");
  await list(page).getByRole("button", { name: "loss" }).press("Enter");
  await expect(names(page)).toHaveText(["run 1", "run 2", "run 3"]);
  await list(page).getByRole("button", { name: "loss" }).press("Enter");
  await expect(names(page)).toHaveText(["run 3", "run 2", "run 1"]);

  await page.getByLabel("Group by").selectOption("Evidence");
  await expect(list(page).locator(".run-group")).toHaveText([
    "Evidence hindsight-only 1 run",
    "Evidence default 2 runs",
  ]);
  await page.getByLabel("Group by").selectOption({ label: "nothing" });

  // Tags are kept by the browser.
  const first = rows(page).filter({ hasText: "run 1" });
  await first.getByRole("button", { name: /^Add a tag: run 1/ }).click();
  await page.getByLabel("New tag").fill("none");
  await page.keyboard.press("Escape");
  // Whoever leaves the field, or takes a tag away, goes on from the button.
  const add = first.getByRole("button", { name: /^Add a tag: run 1/ });
  await expect(add).toBeFocused();
  await page.keyboard.press("Enter");
  await page.getByLabel("New tag").fill("baseline");
  await page.keyboard.press("Enter");
  await expect(add).toBeFocused();
  await expect(first).toContainText("baseline");
  await page.reload();
  // The address keeps the order.
  await expect(list(page).getByRole("columnheader", { name: "loss" })).toHaveAttribute(
    "aria-sort",
    "descending",
  );
  await page.getByRole("button", { name: "baseline", exact: true }).click();
  await expect(names(page)).toHaveText(["run 1"]);
  await expect(page.getByText("1 of 3 runs")).toBeVisible();
  await page.getByRole("button", { name: "baseline", exact: true }).click();
  await expect(rows(page)).toHaveCount(3);
  await first.getByRole("button", { name: /^Remove the tag baseline/ }).click();
  await expect(add).toBeFocused();

  // What can be done with a run is in sight where its columns are not.
  await page.setViewportSize({ width: 700, height: 800 });
  await expect(list(page).getByRole("columnheader", { name: "started" })).not.toBeInViewport({ ratio: 1 });
  await expect(first.getByRole("button", { name: /^Remove: / })).toBeInViewport({ ratio: 1 });

  // A run that has ended is not said to be about to.
  await expect(rows(page).filter({ hasText: "run 3" })).toContainText("▢ cancelled");
  await expect(list(page)).not.toContainText(/requested|ending/);
});

test("seeds of one config are one curve with its spread, smoothed on request; stages are named", async ({
  page,
}) => {
  await openRuns(page);
  await page.getByLabel("Group by").selectOption("config");
  await list(page).getByRole("checkbox", { name: "run 2: all on the chart" }).check();
  await list(page)
    .getByRole("checkbox", { name: /^run 3, page-/ })
    .check();
  const loss = page.locator('svg[data-figure="loss"]');
  await expect(loss).toHaveAccessibleName(/at the last step: #1 0\.25\d* ± 0\.1414, #2 1\.150$/);
  await expect(loss.locator(".band")).toHaveCount(1);
  await expect(loss.locator(".curve")).toHaveCount(2);
  await expect(page.getByRole("list", { name: "Runs on the charts" })).toContainText("mean of 2 seeds");
  await expect(loss.locator("[data-stage]")).toHaveText([/^vanilla$/, /graph-cond/]);
  const second = loss.locator('[data-stage="graph-conditioned"]');
  await expect(second.locator("title")).toHaveText("graph-conditioned from step 11 on");
  // By name too, in however narrow a chart.
  await expect(second.locator("text")).toHaveText(/graph-cond/);

  await page.getByLabel("Smooth over").selectOption("5 steps");
  await expect(loss.locator(".curve.raw")).toHaveCount(2);
  // What is read stays as it was measured.
  await expect(loss).toHaveAccessibleName(/#2 1\.150$/);
  await page.getByLabel("Average seeds").uncheck();
  await expect(loss.locator(".band")).toHaveCount(0);
  await expect(loss).toHaveAccessibleName(/#1 .*, #2 .*, #3 /);
});

test("a chart that has nothing to say is folded into a line that says why, and opens", async ({ page }) => {
  await openRuns(page);
  await list(page)
    .getByRole("checkbox", { name: /^run 1, page-/ })
    .check();
  const folded = page.getByTestId("folded-chart");
  await expect(folded.locator("summary")).toHaveText([
    "Mean advantage: the loss with its sign turned",
    "Share of clipped tokens: 0 at every step",
    "KL to the rollout policy: 0 at every step",
  ]);
  await expect(page.locator('svg[data-figure="rolloutKl"]')).toHaveCount(0);
  await folded.last().locator("summary").press("Enter");
  await expect(page.locator('svg[data-figure="rolloutKl"]')).toBeVisible();
  await folded.last().locator("summary").press("Enter");
  await expect(page.locator('svg[data-figure="rolloutKl"]')).toHaveCount(0);

  // A run of which there is something to say brings it back.
  const moved = { digits: "000000000004", config: {}, losses: noisy(0), metrics: { clipFraction: 0.25 } };
  await keepRuns(page, [moved]);
  await page.reload();
  await list(page)
    .getByRole("checkbox", { name: /^run 4, page-/ })
    .check();
  await expect(page.locator('svg[data-figure="clipFraction"]')).toHaveAccessibleName(/#1 0, #2 0\.2500/);
  await expect(folded).toHaveCount(2);
});
