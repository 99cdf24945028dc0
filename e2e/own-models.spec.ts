/** Models with tokenizers of their own: each is read with its own, and one does not depend on the other. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { scoreOutputSchema } from "../src/core/record/schema.ts";
import { holdAt } from "./compute-worker.ts";
import { OWN_FILES } from "./own-files.ts";
import { modelFolder, withOtherLetters, withThoughtToken } from "./own-model.ts";
import { checkBothThemes, openOwnTokens, scoreOwn } from "./own-tokens.ts";
import { atRest, expect, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

test("a teacher with its own tokenizer is scored beside any student, as on the command line", async ({
  page,
}) => {
  const folder = await modelFolder("models/qwen3-a", withThoughtToken);
  await openOwnTokens(page, 1, OWN_FILES, folder);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  const problem = page.getByTestId("model-problem");
  await expect(problem).toHaveText(
    /^The student is left out: response\[0\]: id 1872 is "<thought>" in qwen3-a and no token in .*tokenizer: /,
  );
  await checkBothThemes(page, ".model-pickers");
  await expect(page.getByLabel("All tokens in figures").locator("thead th")).toHaveText([
    "#",
    "token",
    "p teacher, without evidence",
    "p teacher, with evidence",
    "Δ log p",
  ]);

  await expectTerminalDeltas(page, folder);

  // A student that reads these tokens can be picked right there, and is scored with the teacher.
  await page.getByTestId("pick-student-folder").setInputFiles(folder);
  await expect(page.getByTestId("model-student")).toContainText("qwen3-a, your own");
  await expect(problem).toHaveCount(0);
  await atRest(page);
  await page.keyboard.press("s");
  await expect(page.getByRole("columnheader", { name: "p student" })).toBeVisible({ timeout: MODEL_TIME });
});

test("a run says before it starts that teacher and student read other tokens", async ({ page }) => {
  await visit(page, sampleHash("training", "melt|12|easy"));
  await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
  await page
    .getByTestId("pick-teacher-folder")
    .setInputFiles(await modelFolder("models/qwen3-a", withOtherLetters));
  await expect(page.getByTestId("model-problem")).toHaveText(
    /^No run here until the teacher reads the student’s tokens: qwen3-a: not the token ids of tokenizer: id \d+ is "H" here and "G" there; id \d+ is "G" here and "H" there\.$/,
  );
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText(
    "the teacher reads other tokens than the student, and a run needs the same",
  );
});

/** Its opening does not answer. */
async function openHeldTeacher(page: Page): Promise<void> {
  await holdAt(page, { at: { call: "load" } });
  await visit(page, sampleHash("training", "melt|12|easy"));
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
  await expect(page.getByTestId("at-work")).toContainText("Opening the teacher");
}

test("an opening that does not answer ends with Cancel, and the next one opens", async ({ page }) => {
  await openHeldTeacher(page);
  const atWork = page.getByTestId("at-work");
  await atWork.locator("summary").click();
  await atWork.getByRole("button", { name: "Cancel: Opening the teacher" }).click();
  await expect(page.getByTestId("notice")).toContainText(
    "Opening the teacher was stopped: the one before stays.",
  );
  await expect(page.getByTestId("model-teacher")).toContainText("the sample’s");
  await expect(atWork).toHaveCount(0);
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
});

test("an opening goes on on the device that is chosen meanwhile", async ({ page }) => {
  await openHeldTeacher(page);
  await page.getByTestId("device").selectOption("cpu");
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await expect(page.getByTestId("notice")).toContainText("The teacher is now qwen3-a.");
  await expect(page.getByTestId("at-work")).toHaveCount(0);
});

test("a model without a tokenizer is opened only with the one that the user names", async ({ page }) => {
  await scoreOwn(page);
  const ask = page.getByTestId("no-tokenizer");
  const bare = "test/fixtures/models/qwen3-b";
  // The browser's dialog gives the focus back to the button that asked for it.
  const folder = page.getByRole("group", { name: /^teacher: / }).getByRole("button", { name: "Folder…" });
  await folder.focus();
  await page.getByTestId("pick-teacher-folder").setInputFiles(bare);
  await expect(ask).toContainText("qwen3-b has no tokenizer.json");
  await checkBothThemes(page, ".banners");
  await ask.getByRole("button", { name: "Don’t open it" }).press("Enter");
  await expect(ask).toHaveCount(0);
  await expect(folder).toBeFocused();
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible();

  await page.getByTestId("pick-teacher-folder").setInputFiles(bare);
  await ask.getByRole("button", { name: "Take the student’s (the sample’s)" }).click();
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-b, your own");
  await expect(page.getByTestId("model-problem")).toHaveCount(0);

  // Its files can be picked, too: here another tokenizer, which the teacher's tokens mean nothing to.
  await page.getByTestId("pick-student-folder").setInputFiles("test/fixtures/models/qwen3-a");
  const other = await modelFolder("models/qwen3-b", withOtherLetters);
  await page
    .getByTestId("pick-tokenizer")
    .setInputFiles(["tokenizer.json", "tokenizer_config.json"].map((name) => join(other, name)));
  await expect(page.getByTestId("model-student")).toContainText("qwen3-a, your own");
  await expect(page.getByTestId("model-problem")).toContainText("The student is left out");
});

test("the sample's student beside a teacher of the user's own: Δ is that of the command line", async ({
  page,
}) => {
  const folder = await modelFolder("models/qwen3-a");
  await openOwnTokens(page, 1, OWN_FILES, folder);
  await page.keyboard.press("s");
  await expect(page.getByRole("columnheader", { name: "p student" })).toBeVisible({ timeout: MODEL_TIME });
  await expectTerminalDeltas(page, folder);
});

/** The page's Δ of each token is that of `gcopd evidence` and `gcopd score`. */
async function expectTerminalDeltas(page: Page, model: string): Promise<void> {
  const [shown, expected] = [await savedDeltas(page), await terminalDeltas(model)];
  expect(shown).toHaveLength(expected.length);
  for (const [i, delta] of expected.entries()) expect(Math.abs(delta - shown[i]!)).toBeLessThan(2e-4);
}

/** Δ log p of each token, in full precision. */
async function savedDeltas(page: Page): Promise<number[]> {
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Case study" });
  await dialog.getByRole("combobox", { name: "Rows" }).selectOption("whole");
  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download CSV" }).click();
  const text = await readFile(await (await downloading).path(), "utf8");
  await page.keyboard.press("Escape");
  const [head, ...rows] = text
    .trimEnd()
    .split("\r\n")
    .map((line) => Array.from(line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g), ([, cell]) => cell!));
  const at = head!.findIndex((name) => name.startsWith("delta"));
  return rows.map((row) => Number(row[at]));
}

/** The same by `gcopd evidence` and `gcopd score`, in f32 on the processor. */
async function terminalDeltas(model: string): Promise<number[]> {
  const at = (name: string) => test.info().outputPath(name);
  for (const { name, buffer } of OWN_FILES) await writeFile(at(name), buffer);
  const gcopd = (...args: string[]) => promisify(execFile)(process.execPath, ["bin/gcopd.js", ...args]);
  const files = ["--library", at("sources.jsonl.gz"), "--episodes", at("episodes.jsonl")];
  const which = ["--episode", "own#0", "--decision", "1", "--tokenizer", model];
  await gcopd("evidence", ...files, ...which, "--requests", at("requests.jsonl"));
  const { stdout } = await gcopd("score", "--model", model, "--device", "cpu", "--in", at("requests.jsonl"));
  const [vanilla, evidence] = stdout
    .trimEnd()
    .split("\n")
    .map((line) => scoreOutputSchema.parse(JSON.parse(line)).logprobs);
  return evidence!.map((value, i) => value - vanilla![i]!);
}

test("a model that the browser keeps is opened on the next visit without asking for its folder", async ({
  page,
}) => {
  const folder = await modelFolder("models/qwen3-a");
  await visit(page, sampleHash("tokens", "melt|12|easy", { decision: 3 }));
  const teacher = page.getByTestId("model-teacher");
  await page.getByTestId("pick-teacher-folder").setInputFiles(folder);
  await expect(teacher).toContainText("qwen3-a, your own");
  await teacher.getByRole("button", { name: "Keep" }).click();
  await expect(page.getByTestId("notice")).toContainText("qwen3-a is kept in this browser");
  await expect(teacher.getByRole("button", { name: "Keep" })).toHaveCount(0);
  await teacher.getByLabel("weights").selectOption("bf16");
  await expect(teacher).toContainText("teacher: qwen3-a, opened when needed");

  await page.reload();
  await expect(teacher).toContainText("the sample’s, opened when needed");
  await expect(teacher.getByRole("status")).toContainText("Your model “qwen3-a” was closed by the reload");
  await checkBothThemes(page, ".model-pickers");
  await teacher.getByRole("button", { name: "Open it again" }).click();
  await expect(teacher).toContainText("qwen3-a, your own");
  await expect(teacher.getByRole("status")).toHaveCount(0);

  const student = page.getByTestId("model-student");
  await student.getByText("Kept…").click();
  await student.getByRole("button", { name: /^qwen3-a, / }).click();
  await expect(student).toContainText("qwen3-a, your own");
  await teacher.getByText("Kept…").click();
  await teacher.getByRole("button", { name: "Remove qwen3-a from this browser" }).click();
  await expect(page.getByText("Kept…")).toHaveCount(0);
});
