/** The controls of the ablations: kept in the link, followed by retrieval, evidence and scoring, and said on every view. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ScoreOutput } from "../src/core/record/schema.ts";
import { axeFaults } from "./axe.ts";
import { dropFiles, OWN_FILES, TASK, upload } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { decisionShown, expect, type Page, pressEnabled, sampleHash, test, visit } from "./site.ts";
import { scoreInTerminal } from "./terminal.ts";
import { MODEL_TIME } from "./throttle.ts";

const MELT = "melt|12|easy";

test("a control changes the evidence, is in the link, and is said until it is reset", async ({ page }) => {
  await visit(page, sampleHash("task", MELT, { decision: 12 }));
  await decisionShown(page, 12);
  const evidence = page.getByTestId("evidence");
  const full = await evidence.textContent();
  await expect(page.getByTestId("what-if")).toHaveCount(0);

  await page.getByRole("button", { name: "What if", exact: true }).click();
  await page.getByRole("combobox", { name: "Evidence" }).selectOption("hindsight-only");
  await expect(page.getByTestId("what-if")).toContainText("hindsight only");
  await page.getByRole("button", { name: "Text", exact: true }).click();
  await expect(evidence).not.toHaveText(full!);
  expect((await evidence.textContent())!.length).toBeLessThan(full!.length);
  await expect(page).toHaveURL(/control=hindsight-only/);

  await page.keyboard.press("3");
  await expect(page.getByTestId("what-if")).toContainText("hindsight only");
  await page.keyboard.press("2");
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
  await expect(page.getByTestId("what-if")).toHaveCount(0);
  await expect(evidence).toHaveText(full!);
  await expect(page).not.toHaveURL(/control/);
});

test("budget and augmentation decide which executions take part; a link restores them", async ({ page }) => {
  await visit(page, sampleHash("task", MELT, { decision: 12 }));
  await decisionShown(page, 12);
  const rows = page.getByRole("grid").getByRole("row");
  const all = await rows.count();
  await visit(page, sampleHash("task", MELT, { decision: 12, sources: 4, augmentation: "off" }));
  await decisionShown(page, 12);
  await expect(page.getByTestId("what-if")).toContainText(
    "K = 4 sources per task · without planner and oracle records",
  );
  const left = Number((await page.getByTestId("left-out").textContent())!.split(" ")[0]);
  expect(left).toBeGreaterThan(0);
  await expect(rows).toHaveCount(all - left);
  // By keyboard alone.
  await page.getByLabel("Sources per task (K)").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await expect(rows).toHaveCount(all);
  await expect(page.getByTestId("what-if")).toHaveCount(0);

  // A part of the library, as the evidence test asks for one.
  await visit(page, sampleHash("task", MELT, { decision: 12, subset: "0,1,0" }));
  await decisionShown(page, 12);
  await expect(page.getByTestId("what-if")).toContainText("successes of 0 % of the covered tasks");
  await expect.poll(() => rows.count()).toBeLessThan(all);
  expect(await rows.count()).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Take back: successes of 0 % of the covered tasks" }).click();
  await expect(rows).toHaveCount(all);
  await expect(page).not.toHaveURL(/subset/);

  await visit(page, sampleHash("task", MELT, { subset: "2,1,0" }));
  await expect(page.getByRole("alert")).toContainText(
    "“subset=2,1,0” in the link: expected the shares of covered tasks and of failed records, from 0 to 1, and a seed",
  );
  await visit(page, sampleHash("task", MELT, { sources: 3 }));
  await expect(page.getByRole("alert")).toContainText("“sources=3” in the link: expected one of 1, 4, 8, 16");
});

test("scores belong to the evidence that was asked for", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("2");
  await page.getByRole("button", { name: "What if", exact: true }).click();
  await page.getByRole("combobox", { name: "Evidence" }).selectOption("success-only");
  await expect(page.getByTestId("what-if")).toBeVisible();
  await page.keyboard.press("3");
  await expect(page.getByRole("button", { name: "Score", exact: false })).toBeVisible();
  await expect(page.getByRole("listbox")).toHaveCount(0);
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
  await expect(page.getByRole("listbox")).toBeVisible();
});

test("a doubted reference: off, another by hand, the text edited; each step in the link, saved, opened and scored", async ({
  page,
}) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("j");
  await decisionShown(page, 1);
  const changes = page.getByTestId("what-if-changes");
  const reference = changes.getByRole("row", { name: /^successful reference/ });
  await expect(changes).toHaveCount(0);

  await page.getByRole("button", { name: "Switch off: teacher:0" }).first().click();
  await expect(reference).toContainText("teacher:0, visit 1 (current)");
  await expect(reference).toContainText("teacher:2, visit 2 (current)");
  await expect(page.getByTestId("what-if")).toContainText("teacher:0 switched off");
  await expect(page.getByTestId("left-out")).toHaveText("1 recorded execution does not take part");
  await expect(page.locator(".what-if-controls")).not.toContainText("GC-OPD + GA");
  await expect(page).toHaveURL(/without=teacher%3A0/);
  const diff = page.getByTestId("evidence-diff");
  await expect(diff.locator("del").filter({ hasText: "EXECUTION: teacher:0" }).locator("mark")).toHaveText(
    "0",
  );
  await expect(diff.locator("ins").filter({ hasText: "EXECUTION: teacher:2" })).toHaveCount(1);
  await checkThemes(page);

  // The browser's history is the undo.
  await page.goBack();
  await expect(changes).toHaveCount(0);
  await expect(page.getByTestId("what-if")).toHaveCount(0);
  await page.goForward();
  await expect(reference).toContainText("teacher:2, visit 2 (current)");

  await page.getByRole("button", { name: "Take as successful reference: teacher:2, visit 1" }).click();
  await expect(reference).toContainText("→ teacher:2, visit 1 (current)");
  await expect(page.getByTestId("sentence")).toContainText("chosen by hand as successful record: teacher:2");
  await expect(page).toHaveURL(/pin=teacher%3A2%401/);

  // A part left out, then the text itself, all by keyboard.
  await page.keyboard.press("m");
  const editor = page.getByTestId("evidence-editor");
  await expect(editor.getByRole("textbox")).toBeFocused();
  await expect(editor.getByRole("textbox")).toBeInViewport({ ratio: 0.9 });
  await pressEnabled(editor.getByText("Leave parts out"));
  await pressEnabled(editor.getByRole("checkbox", { name: /^event 1 of the successful record/ }), "Space");
  await expect(page.getByTestId("what-if")).toContainText("without event 1 of the successful record");
  // The list stays as it is, with the focus in it.
  await expect(editor.getByRole("checkbox", { name: /^event 1 of the successful record/ })).toBeFocused();
  const text = editor.getByRole("textbox", { name: "Evidence as the teacher is to read it" });
  await expect(text).not.toHaveValue(/Source event \[0\]/);
  await text.fill("The stove is in the kitchen. Activate it.");
  await expect(editor).toContainText("Not applied yet");
  // Looking elsewhere loses nothing of it.
  await page.getByRole("button", { name: "Text", exact: true }).click();
  await page.getByRole("button", { name: "Edit (not applied)" }).click();
  await expect(text).toHaveValue("The stove is in the kitchen. Activate it.");
  await text.press("Control+Enter");
  await expect(page.getByTestId("what-if")).toContainText("evidence edited by hand");
  await expect(diff.locator("ins")).toHaveText(["The stove is in the kitchen. Activate it."]);
  await expect(page).toHaveURL(/text=[\w-]+/);

  // Scored: none, the full method's, the changed one, on the same response.
  await page.keyboard.press("t");
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  const table = page.getByLabel("All tokens in figures");
  await expect(table.locator("thead th")).toContainText(
    [
      "#",
      "token",
      "p teacher, without evidence",
      "p teacher, recorded graph evidence",
      "p teacher, what-if evidence",
      "Δ log p",
      "p student",
    ],
    { timeout: MODEL_TIME },
  );
  const strip = page.getByRole("listbox", { name: "Response tokens" });
  const response = (await strip.getByRole("option").allTextContents()).join("");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as record" }).click();
  const saved = await readFile(await (await download).path());
  const record = JSON.parse(saved.toString());
  expect(record).toMatchObject({
    format: "gcopd.retrieval.v1",
    decision: 1,
    success: { source: "teacher:2", position: 1 },
    what_if: {
      without: ["teacher:0"],
      pin: { source: "teacher:2", position: 1 },
      leave_out: [{ record: "success", event: 0 }],
      evidence_text: "The stove is in the kitchen. Activate it.",
    },
    full_method: { retrieval: { success: { source: "teacher:0" } } },
    scores: { teacher: "qwen3-a" },
  });
  const { response_ids, vanilla, full_method, what_if } = record.scores;
  for (const each of [vanilla, full_method, what_if]) expect(each).toHaveLength(response_ids.length);

  // The command line, given the saved record, scores the same response under the same contexts.
  const scored = await scoreSaved(saved, test.info().outputPath());
  expect(scored.map(({ id }) => id)).toEqual(["own#0/1/vanilla", "own#0/1/evidence"]);
  for (const [{ logprobs }, shown] of [
    [scored[0]!, vanilla],
    [scored[1]!, what_if],
  ] as const) {
    expect(logprobs).toHaveLength(shown.length);
    for (const [i, value] of logprobs.entries()) expect(Math.abs(value - shown[i])).toBeLessThan(2e-4);
  }

  // Back at the full method its scores are there, of the same response.
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
  await expect(page.getByTestId("what-if")).toHaveCount(0);
  await expect(table.locator("thead th").nth(3)).toHaveText("p teacher, with evidence");
  expect((await strip.getByRole("option").allTextContents()).join("")).toBe(response);

  // The record opens what it was saved from.
  await page.keyboard.press("2");
  await dropFiles(page, [upload("what-if.jsonl", saved)]);
  await expect(page.getByTestId("what-if")).toContainText("evidence edited by hand");
  await expect(reference).toContainText("→ teacher:2, visit 1 (current)");
  // Another decision is without what was changed by hand of this one; Back brings it back.
  await page.keyboard.press("k");
  await decisionShown(page, 0);
  await expect(page.getByTestId("what-if")).not.toContainText("edited");
  await page.goBack();
  await expect(page.getByTestId("what-if")).toContainText("evidence edited by hand");
});

test("what cannot be is refused with the reason", async ({ page }) => {
  await visit(page, sampleHash("task", MELT, { decision: 12, pin: "teacher:999@3" }));
  await expect(page.getByTestId("view-problem")).toContainText(
    "teacher:999, visit 3 cannot be the successful reference of decision 12",
  );
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
  await decisionShown(page, 12);
  await visit(page, sampleHash("task", MELT, { decision: 12, without: "nobody" }));
  await expect(page.getByTestId("view-problem")).toContainText("no execution nobody");
  await visit(page, sampleHash("task", MELT, { decision: 12, text: "*" }));
  await expect(page.getByRole("alert")).toContainText("drop the record file that was saved with it");
  await decisionShown(page, 12);
});

/** axe finds nothing in what a what-if adds. */
async function checkThemes(page: Page): Promise<void> {
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => document.documentElement.setAttribute("data-theme", name), theme);
    expect(await axeFaults(page, ".task-view", ".status-bar"), theme).toEqual([]);
  }
}

/** The saved record's scores, from the command line. */
async function scoreSaved(record: Buffer, folder: string): Promise<ScoreOutput[]> {
  const at = (name: string) => join(folder, name);
  await mkdir(folder, { recursive: true });
  for (const { name, buffer } of OWN_FILES) await writeFile(at(name), buffer);
  await writeFile(at("what-if.jsonl"), record);
  const files = ["--library", at("sources.jsonl.gz"), "--episodes", at("episodes.jsonl")];
  const changed = ["--what-if", at("what-if.jsonl")];
  return scoreInTerminal([...files, ...changed], "test/fixtures/models/qwen3-a", folder);
}
