import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { RetrievalRecord } from "../src/core/record/schema.ts";
import type { Locator } from "./base.ts";
import { largeTask } from "./large-task.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, openSample, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const EXPECTED: RetrievalRecord[] = gunzipSync(
  readFileSync("test/fixtures/scienceworld/retrieval-expected.jsonl.gz"),
)
  .toString()
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

test("steps through a task's decisions with the keyboard, and shows what retrieval found", async ({
  page,
}) => {
  await openSample(page);
  await page.getByRole("button", { name: "melt|12|easy" }).click();
  await decisionShown(page, 0);
  for (let decision = 0; decision < 8; decision++) {
    await decisionShown(page, decision);
    const expected = EXPECTED.find(
      (each) => each.episode === "melt|12|easy#0" && each.decision === decision,
    )!;
    await expect(page.getByTestId("matched")).toHaveText(String(expected.matched_visits));
    await expect(page.getByTestId("eligible")).toHaveText(String(expected.candidates.length));
    const { winner } = expected;
    const names = [expected.success, expected.failure].flatMap((each) =>
      each === null ? [] : [each.source],
    );
    const retained = page.getByTestId("retained");
    for (const name of names) await expect(retained).toContainText(name);
    if (winner?.kind === "source")
      await expect(retained).toHaveText(`★ ${winner.source}, visit ${winner.position}`);
    else if (names.length === 0)
      await expect(retained).toHaveText(winner === null ? "no record" : "the student’s own continuation");
    await expect(page.getByTestId("evidence")).toContainText(
      "STUDENT'S COMPLETE ACTUAL ACTION/OBSERVATION EXECUTION",
    );
    await page.keyboard.press("j");
  }
  await page.keyboard.press("k");
  await decisionShown(page, 7);
  await expect(page).toHaveURL(/decision=7/);
  await page.keyboard.press("]");
  await expect(page.getByLabel("Task [ ]").locator("option:checked")).toHaveText("power-component|0|easy");
  await decisionShown(page, 0);
});

test("quick steps, forth and back, end at the right decision with all that belongs to it", async ({
  page,
}) => {
  const expected = (decision: number) =>
    EXPECTED.find((each) => each.episode === "melt|12|easy#0" && each.decision === decision)!;
  await visit(page, sampleHash("task", "melt|12|easy", { episode: "melt|12|easy#0" }));
  await decisionShown(page, 0);
  // What the teacher reads of decisions 2 and 9, each opened by itself.
  const evidence = page.getByTestId("evidence");
  const texts = new Map<number, string | null>();
  for (const decision of [2, 9]) {
    await visit(page, sampleHash("task", "melt|12|easy", { episode: "melt|12|easy#0", decision }));
    await decisionShown(page, decision);
    texts.set(decision, await evidence.textContent());
  }
  await visit(page, sampleHash("task", "melt|12|easy", { episode: "melt|12|easy#0" }));
  await decisionShown(page, 0);
  for (const [keys, decision] of [
    ["jjjk", 2],
    ["jjjjjjjjkjk", 9],
    ["kkkkkkk", 2],
  ] as const) {
    // In one task of the page, faster than any hand: nothing is drawn in between.
    await page.evaluate((all) => {
      for (const key of all) window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }, keys);
    await decisionShown(page, decision);
    await expect(page.getByTestId("matched")).toHaveText(String(expected(decision).matched_visits));
    await expect(page.getByTestId("eligible")).toHaveText(String(expected(decision).candidates.length));
    await expect(page.locator(".matrix .cell.current")).toHaveAttribute("data-cell", `0:${decision}`);
    await expect(evidence).toHaveText(texts.get(decision)!);
    await expect(page).toHaveURL(new RegExp(`decision=${decision}(&|$)`));
  }
  // The step of the history that is left names the last decision, though it was just opened.
  await page.evaluate(() => {
    for (const key of ["j", "1"]) window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
  await page.goBack();
  await decisionShown(page, 3);
});

test("says why a matched visit is not eligible", async ({ page }) => {
  await visit(page, sampleHash("task", "use-thermometer|3|easy", { decision: 7 }));
  await decisionShown(page, 7);
  const matched = page.getByLabel("Matched visits");
  await expect(matched.getByRole("row", { name: /teacher:3/ })).toContainText(
    "not eligible: the recording has a gap between the visit and the end",
  );
  await expect(matched.getByRole("row", { name: /teacher:0/ })).toContainText("its outcome is not a success");
  await expect(matched.getByRole("row", { name: /planner:0/ })).toContainText("★ winner");
});

test("the timeline has a cell for each decision, says what was found and how far it moved, and goes there", async ({
  page,
}) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  const timeline = page.getByRole("listbox", { name: "Timeline of the episode" });
  const cells = timeline.getByRole("option");
  await expect(cells.first()).toHaveAttribute("aria-selected", "true");
  await expect(cells.first()).toHaveAccessibleName(
    /^Decision 0: .*; successful record at the current state; not scored$/,
  );
  await expect(page.locator(".timeline-legend")).toContainText("fallback, no shared state");
  const colour = (of: Locator): Promise<string> => of.evaluate((e) => getComputedStyle(e).backgroundColor);
  const inLegend = (text: string): Locator =>
    page.locator(".timeline-legend > span", { hasText: text }).locator(".timeline-swatch");
  const found = await colour(cells.first().locator("span"));
  expect(found).toBe(await colour(inLegend("at the current state")));
  await cells.nth(1).click();
  await decisionShown(page, 1);
  await expect(cells.nth(1)).toHaveAttribute("aria-selected", "true");
  await cells.nth(1).press("Home");
  await decisionShown(page, 0);
  await expect(cells.first()).toBeFocused();
  await cells.first().press("End");
  const last = (await cells.count()) - 1;
  await decisionShown(page, last);
  await expect(cells.nth(last)).toBeFocused();
  // Under a control that retains nothing there is nothing to find.
  await page.getByRole("button", { name: "What if", exact: true }).click();
  await page.getByRole("combobox", { name: "Evidence" }).selectOption("hindsight-only");
  await expect(cells.first()).toHaveAccessibleName(/; no record; not scored$/);
  expect(await colour(inLegend("no record"))).not.toBe(found);
  expect(await colour(cells.first().locator("span"))).toBe(await colour(inLegend("no record")));
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
  // Scored, it is as high as its tokens moved.
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("2");
  await expect(cells.nth(last)).toHaveAccessibleName(/; mean \|Δ\| \d+\.\d{3} nats$/);
  await expect(page.locator(".timeline-legend")).toContainText(/height: mean \|Δ\|, up to \d+\.\d\d nats/);
  const heights = await cells.evaluateAll((all) =>
    all.map((cell) => cell.firstElementChild!.getBoundingClientRect().height),
  );
  expect(Math.max(...heights)).toBe(heights[last]);
});

test("a hundred decisions fit into the timeline of a narrow window", async ({ page }) => {
  await page.setViewportSize({ width: 800, height: 800 });
  await visit(page);
  await dropFiles(page, largeTask({ task: "long|1|easy", executions: 3, decisions: 100, lanes: 2 }));
  await page.getByRole("button", { name: "long|1|easy" }).click();
  await decisionShown(page, 0);
  const cells = page.getByRole("listbox", { name: "Timeline of the episode" }).getByRole("option");
  await expect(cells).toHaveCount(100);
  await expect(cells.last()).toBeInViewport({ ratio: 1 });
  await cells.last().click();
  await decisionShown(page, 99);
});

test("the matrix is a grid for the keyboard, and marks the same state everywhere", async ({ page }) => {
  await visit(page, sampleHash("task", "use-thermometer|3|easy"));
  await decisionShown(page, 0);
  const grid = page.getByRole("grid", { name: "Executions by visit" });
  await grid.getByRole("gridcell").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  const focused = page.locator(":focus");
  await expect(focused).toHaveAttribute(
    "aria-label",
    /^teacher:0, visit 2: state C: \d+ visits by \d+ executions/,
  );
  await expect(page.getByTestId("matrix-status")).toContainText("teacher:0, visit 2");
  await expect.poll(() => grid.locator(".same-state").count()).toBeGreaterThan(5);
  await expect(page.locator(".graph-view .node.same-state")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "teacher:0, visit 2" })).toBeVisible();
  await expect(page).toHaveURL(/visit=teacher%3A0%402/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("heading", { name: "teacher:0, visit 2" })).toHaveCount(0);
});

test("in a wide window the matrix takes the room of its panel", async ({ page }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await visit(page, sampleHash("task", "melt|12|easy"));
  await decisionShown(page, 0);
  const columns = page.locator(".matrix .column-head");
  const panel = (await page.locator(".matrix").boundingBox())!;
  const last = (await columns.last().boundingBox())!;
  expect(last.width).toBeGreaterThan(24);
  expect(last.x + last.width).toBeGreaterThan(panel.x + 0.95 * panel.width);
  expect(last.x + last.width).toBeLessThanOrEqual(panel.x + panel.width);
});

test("the graph has a node for each state and turns to the remaining cost", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 2 }));
  await decisionShown(page, 2);
  await expect(page.locator(".graph-view .node")).toHaveCount(15);
  // In a narrow window too, no label lies on a state; one without room shows while its state is pointed at.
  await page.setViewportSize({ width: 800, height: 800 });
  const graph = page.locator(".graph-view");
  const covered = () =>
    graph.evaluate((view) => {
      const circles = [...view.querySelectorAll(".node > circle")].map((each) =>
        each.getBoundingClientRect(),
      );
      const labels = [...view.querySelectorAll<SVGTextElement>(".node > .beside:not(.crowded)")];
      return labels.flatMap((label) => {
        const box = label.getBoundingClientRect();
        const on = circles.some((circle) => {
          const [x, y] = [circle.x + circle.width / 2, circle.y + circle.height / 2];
          const dx = x - Math.max(box.left, Math.min(x, box.right));
          // Of the line's height, digits and capitals take the middle.
          const dy = y - Math.max(box.top + 3, Math.min(y, box.bottom - 4));
          return Math.hypot(dx, dy) < circle.width / 2 - 1;
        });
        return on ? [label.textContent] : [];
      });
    });
  await expect(graph.locator(".beside")).not.toHaveCount(0);
  expect(await covered()).toEqual([]);
  const hidden = graph.locator(".crowded").first();
  await expect(hidden).toBeHidden();
  await hidden.locator("xpath=..").locator("circle").hover();
  await expect(hidden).toBeVisible();
  await page.setViewportSize({ width: 1280, height: 800 });
  const before = await page.locator(".graph-view .node").last().getAttribute("transform");
  await page.getByRole("button", { name: "remaining cost" }).click();
  await expect(page).toHaveURL(/axis=cost/);
  await expect(page.locator(".graph-view .node").last()).not.toHaveAttribute("transform", before!);
});

test.describe("links", () => {
  test("open the same decision, axis and visit in a fresh tab", async ({ page }) => {
    await visit(
      page,
      sampleHash("task", "melt|12|easy", {
        episode: "melt|12|easy#2",
        decision: 4,
        visit: "teacher:3@5",
        axis: "cost",
      }),
    );
    await decisionShown(page, 4);
    await expect(page.getByLabel("Student episode")).toHaveValue("melt|12|easy#2");
    await expect(page.getByRole("heading", { name: "teacher:3, visit 5" })).toBeVisible();
    await expect(page.getByRole("button", { name: "remaining cost" })).toHaveAttribute(
      "aria-pressed",
      "true",
    );
  });

  for (const [what, hash, message] of [
    ["an unknown task", sampleHash("task", "boil everything"), "no task “boil everything”"],
    ["an unknown episode", sampleHash("task", "melt|12|easy", { episode: "x" }), "no episode “x”"],
    [
      "a decision beyond the end",
      sampleHash("tokens", "melt|12|easy", { decision: 99 }),
      "has no decision 99: they go from 0 to 22",
    ],
  ] as const) {
    test(`say what is wrong with ${what}`, async ({ page }) => {
      await visit(page, hash);
      await expect(page.getByTestId("view-problem")).toContainText(message);
    });
  }

  test("say nothing in red before the library that they name is read", async ({ page }) => {
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.context().route("**/sample/sources*", async (route) => {
      await answered;
      await route.continue();
    });
    await visit(page, sampleHash("task", "boil everything"));
    await expect(page.getByTestId("opening-linked")).toHaveText("Opening the sample…");
    await expect(page.locator(".error, .fault, .missing, main [role=alert]")).toHaveCount(0);
    answer();
    await expect(page.getByTestId("view-problem")).toContainText("no task “boil everything”");
  });

  test("say which part is nonsense, and use the rest", async ({ page }) => {
    await visit(page, `${sampleHash("task", "melt|12|easy", { decision: "three" })}&colour=blue`);
    await expect(page.getByRole("alert")).toContainText(
      "“decision=three” in the link: expected a whole number from 0.",
    );
    await expect(page.getByRole("alert")).toContainText("unknown part “colour”");
    await decisionShown(page, 0);
  });

  test("say when a pinned visit does not exist", async ({ page }) => {
    await visit(page, sampleHash("task", "melt|12|easy", { visit: "teacher:3@500" }));
    await expect(page.getByText(/Execution teacher:3 has no visit 500/)).toBeVisible();
  });
});
