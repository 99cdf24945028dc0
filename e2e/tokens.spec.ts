import { holdAt } from "./compute-worker.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { checkBothThemes, scoreOwn } from "./own-tokens.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { decisionShown, expect, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("scores a decision of the sample under both contexts, and goes through its tokens", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 1 }));
  await decisionShown(page, 1);
  await noteTexts(page, "scoring");
  await page.keyboard.press("s");
  await expectSeen(page, "scoring", /tokens/);
  const strip = page.getByRole("listbox", { name: "Response tokens" });
  await expect(strip).toBeVisible({ timeout: MODEL_TIME });
  const tokens = strip.getByRole("option");
  const text = async () => (await tokens.allTextContents()).join("").replaceAll("␣", " ");
  const response = "<thought>Let me see what is around first.</thought><action>go to kitchen</action>";
  expect(await text()).toBe(`${response}<|im_end|>`);

  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(tokens.nth(1)).toBeFocused();
  const card = page.getByTestId("token-card");
  await expect(card.getByRole("row")).toHaveCount(4);
  await expect(page).toHaveURL(/token=1/);

  // The figures agree with each other: Δ is the difference, and the sum is that of the table.
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));
  const logs = await card.getByRole("row").locator("td:last-child").allTextContents();
  const delta = number(logs[1]!) - number(logs[0]!);
  expect(number((await card.locator("p strong").textContent())!)).toBeCloseTo(delta, 2);
  const column = await page
    .getByLabel("All tokens in figures")
    .locator("tbody td:nth-child(5)")
    .allTextContents();
  const sum = column.reduce((total, cell) => total + number(cell), 0);
  expect(number((await page.getByTestId("sums").locator("strong").textContent())!)).toBeCloseTo(sum, 1);
  for (const each of logs) expect(number(each)).toBeLessThan(0);

  const provenance = page.getByLabel("Measured on");
  await expect(provenance).toContainText("WebGPU");
  await expect(provenance).toContainText("the same ids on both sides");
  await page.keyboard.press("End");
  await expect(tokens.last()).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(card).toHaveCount(0);

  // Without the end of the turn: the tokens and the sums of earlier versions, until the way back is taken.
  const sums = page.getByTestId("sums");
  await expect(sums).toContainText("whole response (22 tokens)");
  await page.getByLabel("End-of-turn token").uncheck();
  await expect(page).toHaveURL(/[?&]end-of-turn=off(&|$)/);
  await expect(strip).toHaveCount(0);
  await page.keyboard.press("s");
  await expect(strip).toBeVisible({ timeout: MODEL_TIME });
  expect(await text()).toBe(response);
  await expect(sums).toContainText("whole response (21 tokens): log p −2.084 teacher, without evidence");
  await expect(sums.locator("strong")).toHaveText("+0.091");
  await page.goBack();
  await expect(tokens).toHaveCount(22);
  await expect(page.getByLabel("End-of-turn token")).toBeChecked();
});

test("takes a teacher of the user's own from a folder, and scores with it", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("t");
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByLabel("Measured on")).toContainText("qwen3-a");
});

test("takes an export to ONNX as teacher, and refuses it as student", async ({ page }) => {
  await visit(page, sampleHash("training", "melt|12|easy"));
  // An opening that succeeds takes away what was told before: the sample first, then the folder.
  await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
  await page.getByTestId("pick-student-folder").setInputFiles(await modelFolder("onnx/qwen3-a"));
  await expect(page.getByRole("alert")).toContainText("an export to ONNX can be a teacher only");
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("t");
  // The provider's WebAssembly: its WebGPU kernels take minutes on a software adapter.
  await page.getByTestId("device").selectOption("cpu");
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("onnx/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByLabel("Measured on")).toContainText("ONNX Runtime");
});

test("cancels: requested, then confirmed, and the page goes on", async ({ page }) => {
  await holdAt(page, { at: { call: "score" } });
  await visit(page, sampleHash("tokens", "melt|12|easy", { decision: 20 }));
  await noteTexts(page, "scoring");
  await page.getByRole("button", { name: "Score" }).click();
  await expect(page.getByTestId("scoring")).toContainText("tokens");
  await page.keyboard.press("Escape");
  await expectSeen(page, "scoring", /Cancel requested/);
  await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
  await page.keyboard.press("2");
  await decisionShown(page, 20);
});

test("makes the case study's table of a scored decision with one key, to copy and to save", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await scoreOwn(page, 1);
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Case study" });
  await expect(dialog).toBeVisible();
  await expect(page.getByTestId("case-context")).toContainText(
    `Task ${TASK} (scienceworld), episode own#0, decision 1. Teacher qwen3-a (f32, WebGPU)`,
  );
  const rows = dialog.getByLabel("Case study in figures").locator("tbody tr");
  await expect(rows).toHaveCount(10);
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));
  const changes = (await rows.locator("td:last-child").allTextContents()).map(number);
  expect(changes.map(Math.abs)).toEqual(changes.map(Math.abs).sort((a, b) => b - a));

  // The same figures as in the view's own table, in the response's order.
  await dialog.getByRole("combobox", { name: "Rows" }).selectOption("whole");
  const all = await page
    .getByLabel("All tokens in figures")
    .locator("tbody td:nth-child(5)")
    .allTextContents();
  expect(await rows.locator("td:last-child").allTextContents()).toEqual(all);

  const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  await dialog.getByRole("combobox", { name: "Rows" }).selectOption("5");
  const first = (await rows.first().locator("td").allTextContents())[1]!;
  await dialog.getByRole("button", { name: "Copy as Markdown" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied 5 rows as Markdown.");
  const markdown = await clipboard();
  expect(markdown.trimEnd().split("\n")).toHaveLength(4 + 5);
  expect(markdown.split("\n")[4]).toContain(`| ${first} |`);
  await dialog.getByRole("button", { name: "Copy as LaTeX" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied 5 rows as LaTeX.");
  expect(await clipboard()).toContain("\\toprule");
  await dialog.getByRole("button", { name: "Copy as CSV" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied 5 rows as CSV.");
  expect((await clipboard()).trimEnd().split("\r\n")).toHaveLength(1 + 5);

  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download CSV" }).click();
  expect((await downloading).suggestedFilename()).toBe("boil_1_easy-own_0-1.csv");

  await checkBothThemes(page, "dialog.case-study");

  // Nothing behind the dialog hears the keys.
  await page.keyboard.press("k");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByTestId("decision")).toHaveText("1");
  // From another view too.
  await page.keyboard.press("2");
  await decisionShown(page, 1);
  await page.keyboard.press("c");
  await expect(dialog).toBeVisible();
  await page.keyboard.press("c");
  await expect(dialog).toBeHidden();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys and marks" })).toContainText("Case study");
  await page.keyboard.press("Escape");

  // Without scores it says what is missing.
  await page.keyboard.press("k");
  await expect(page.getByTestId("decision")).toHaveText("0");
  await noteTexts(page, "hint");
  await page.keyboard.press("c");
  await expectSeen(page, "hint", /score this decision first/);
});

test("leaves out each record of the evidence, and each event of one, and links to its place", async ({
  page,
}) => {
  await scoreOwn(page, 1);
  await page.keyboard.press("ArrowRight");
  await expect(page.getByTestId("token-card")).toBeVisible();
  const panel = page.getByTestId("left-out");
  await panel.getByRole("button", { name: "Leave out each record" }).press("Enter");
  await expect(page.getByTestId("left-out-facts")).toContainText(/^2 passes computed with qwen3-a \(f32, /, {
    timeout: MODEL_TIME,
  });
  const records = panel.getByLabel("Records left out", { exact: true }).locator("tbody tr");
  await expect(records).toHaveCount(2);
  await expect(records.filter({ hasText: "the successful record teacher:0" })).toHaveCount(1);
  await expect(records.filter({ hasText: "the student’s execution" })).toHaveCount(1);

  // The largest change of the picked token first; a change is the difference of its two figures.
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", "").replace(",", ""));
  const cells = await Promise.all(
    (await records.all()).map(async (row) => (await row.locator("td").allTextContents()).map(number)),
  );
  const changes = cells.map((row) => row[3]!);
  expect(changes.map(Math.abs)).toEqual(changes.map(Math.abs).sort((a, b) => b - a));
  expect(changes.some((change) => change !== 0)).toBe(true);
  for (const row of cells) expect(row[3]!).toBeCloseTo(row[2]! - row[1]!, 2);

  // Each token of one record's pass: the changes add up to the one of the response.
  const first = records.first();
  await first.getByRole("button", { name: /^Changes of each token/ }).click();
  const tokens = panel.getByLabel(/^Tokens without /).locator("tbody tr");
  const each = (await tokens.locator("td:last-child").allTextContents()).map(number);
  expect(each.length).toBe(await page.getByRole("option", { name: /, Δ / }).count());
  expect(each.map(Math.abs)).toEqual(each.map(Math.abs).sort((a, b) => b - a));
  expect(each.reduce((sum, value) => sum + value, 0)).toBeCloseTo(cells[0]![4]!, 1);

  await panel.getByRole("combobox", { name: "One event at a time of" }).selectOption("success");
  await panel.getByRole("button", { name: "Leave out each of its events" }).click();
  const events = panel.getByLabel("Events left out", { exact: true }).locator("tbody tr");
  await expect(events).toHaveCount(3, { timeout: MODEL_TIME });
  await expect(page.getByTestId("left-out-facts")).toContainText("5 passes computed with qwen3-a");
  await expect(panel.getByRole("button", { name: "Leave out each of its events" })).toBeDisabled();

  await checkBothThemes(page, ".left-out");

  // To the place in the evidence, by a link that anybody can open.
  await events
    .getByRole("button", { name: /^event 2 of the successful record teacher:0: activate stove/ })
    .press("Enter");
  await expect(page).toHaveURL(/evidence=success%401/);
  await expect(page.getByTestId("pointed")).toContainText("Marked: event 2 of the successful record.");
  const marked = page.getByTestId("evidence").locator(".pointed");
  await expect(marked).toHaveCount(1);
  await expect(marked).toHaveText(/^Source event 2 \[MATCHED STATE\]\nRecorded action: activate stove\n/);
  await expect(marked).toBeInViewport();
  await page.keyboard.press("Escape");
  await expect(marked).toHaveCount(0);
  await page.evaluate(() => {
    window.location.hash += "&evidence=failure@7";
  });
  await expect(page.getByTestId("pointed")).toHaveText(/does not have event 8 of the failed record/);
});

test("cancels leaving out, and goes on from what was scored", async ({ page }) => {
  // The decision itself takes three passes.
  const goOn = await holdAt(page, { at: { call: "score" }, occurrence: 4 });
  await scoreOwn(page, 1);
  const button = page.getByRole("button", { name: "Leave out each record" });
  await button.click();
  await expect(page.getByTestId("leaving-out")).toContainText(
    /Pass 1 of 2: without the student’s execution · .* tokens · time left/,
  );
  await page.keyboard.press("Escape");
  await expect(button).toBeEnabled();
  await expect(page.getByText("Each record was left out.")).toBeHidden();
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible();
  // Its worker may have stopped by itself, and then goes on with the next.
  await goOn();
  await button.click();
  await expect(page.getByText("Each record was left out.")).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByTestId("left-out-facts")).toContainText(/^2 passes computed/);
});

test("refuses a token beyond the response", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await page.evaluate(() => {
    window.location.hash += "&token=400";
  });
  await expect(page.getByText("The response has no token 400")).toBeVisible();
});
