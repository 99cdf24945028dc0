import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { RetrievalRecord } from "../src/core/record/schema.ts";
import { decisionShown, expect, openSample, sampleHash, test, visit } from "./site.ts";

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
    await expect(page.getByTestId("winner")).toHaveText(
      winner === null
        ? "none"
        : winner.kind === "student"
          ? /student’s own/
          : `★ ${winner.source}, visit ${winner.position}`,
    );
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
  expect(await grid.locator(".same-state").count()).toBeGreaterThan(5);
  await expect(page.locator(".graph-view .node.same-state")).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "teacher:0, visit 2" })).toBeVisible();
  await expect(page).toHaveURL(/visit=teacher%3A0%402/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("heading", { name: "teacher:0, visit 2" })).toHaveCount(0);
});

test("the graph has a node for each state and turns to the remaining cost", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 2 }));
  await decisionShown(page, 2);
  await expect(page.locator(".graph-view .node")).toHaveCount(15);
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
