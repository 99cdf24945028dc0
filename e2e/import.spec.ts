/** Other programs' recordings, picked as a folder or dropped as files: the same importers as the command's. */
import { cp, readFile } from "node:fs/promises";
import { dropFiles, upload } from "./own-files.ts";
import { decisionShown, expect, openSample, test, visit } from "./site.ts";

const IMPORTS = "test/fixtures/imports";

test("imports a catalog folder, and says what came in and what did not", async ({ page }) => {
  await visit(page);
  await page.getByTestId("pick-folder").setInputFiles(`${IMPORTS}/scienceworld-catalog/catalog`);
  const report = page.locator(".import-report");
  await expect(report).toContainText("51 executions, 0 student episodes, 555 decisions of 3 tasks");
  await expect(report).toContainText("9 unverified");
  await expect(page.locator("table.tasks tbody th button")).toHaveCount(3);
  await page.getByRole("button", { name: "power-component|0|easy" }).click();
  await expect(page.getByRole("grid")).toBeVisible();
});

test("imports dropped student runs beside nothing else, unaligned ones included", async ({ page }) => {
  await visit(page);
  await dropFiles(page, [upload("openai-chat.jsonl", await readFile(`${IMPORTS}/other/openai-chat.jsonl`))]);
  const report = page.locator(".import-report");
  await expect(report).toContainText("Unaligned:");
  await expect(report).toContainText("no state keys");
  await page.locator("table.tasks tbody th button").first().click();
  await expect(page.getByRole("grid")).toBeVisible();
});

test("imports rollouts with their prompts: the decision is shown with its retrieval", async ({
  page,
}, info) => {
  for (const part of ["episodes", "teacher_scores"]) {
    await cp(`${IMPORTS}/scienceworld-run/${part}`, info.outputPath("run", part), { recursive: true });
  }
  await visit(page);
  await page.getByTestId("pick-folder").setInputFiles(info.outputPath("run"));
  await expect(page.locator(".import-report")).toContainText("4 student episodes, 33 decisions of 2 tasks");
  await page.locator("table.tasks tbody th button").first().click();
  await decisionShown(page, 0);
  await expect(page.getByTestId("sentence")).toBeVisible();
});

test("shows what the recorded teacher gave beside the student's, as recorded and from where", async ({
  page,
}, info) => {
  for (const part of ["episodes", "teacher_scores"]) {
    await cp(`${IMPORTS}/scienceworld-run/${part}`, info.outputPath("run", part), { recursive: true });
  }
  await visit(page);
  await page.getByTestId("pick-folder").setInputFiles(info.outputPath("run"));
  await expect(page.locator(".import-report")).toContainText("with the recorded teacher’s log-probabilities");
  await page.getByRole("button", { name: "power-component|0|easy" }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("3");
  const recorded = page.getByTestId("recorded");
  await expect(recorded).toContainText("measured when it was recorded");
  await expect(recorded).toContainText("teacher_scores/fe691de438b3857993cd0c3d2a422081.json");

  // The figures are those of the files.
  const read = async (name: string) =>
    JSON.parse(
      (
        await readFile(`${IMPORTS}/scienceworld-run/${name}/fe691de438b3857993cd0c3d2a422081.json`)
      ).toString(),
    );
  const teacher: number[] = (await read("teacher_scores")).turns[0].teacher_response_logprobs;
  const student: number[] = (await read("episodes")).steps[0].rollout_logprobs;
  const rows = recorded.locator("tbody tr");
  await expect(rows).toHaveCount(teacher.length);
  const number = (text: string): number => Number(text.replace("−", "-").replace("+", ""));
  for (const i of [0, teacher.length - 1]) {
    const cells = await rows.nth(i).locator("td").allTextContents();
    expect(number(cells[1]!)).toBeCloseTo(teacher[i]!, 2);
    expect(number(cells[2]!)).toBeCloseTo(student[i]!, 2);
    expect(number(cells[3]!)).toBeCloseTo(teacher[i]! - student[i]!, 2);
  }
});

test("asks for the environment where nothing tells it, and imports again with it", async ({ page }) => {
  const messages = [
    "You see a box.",
    "<action>open box</action>",
    "Nothing happens.",
    "<action>wait</action>",
  ].map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }));
  await visit(page);
  await dropFiles(page, [upload("chat.jsonl", Buffer.from(`${JSON.stringify({ messages })}\n`))]);
  const report = page.locator(".import-report");
  await expect(report).toContainText("(custom)");
  await expect(page.getByTestId("environment-note")).toContainText('"custom" is custom');
  await page.getByTestId("environment").fill("alfworld");
  await page.getByRole("button", { name: "Import again" }).click();
  await expect(report).toContainText("(alfworld)");
  await expect(page.getByTestId("environment-note")).toHaveCount(0);
  // Nothing raw is admitted in ALFWorld: what is recorded and what takes part are counted apart.
  await expect(
    page
      .getByRole("row", { name: /chat_0/ })
      .getByRole("cell")
      .first(),
  ).toHaveText("0 of 1");
});

test("a damaged import is one line, and what was open stays", async ({ page }) => {
  await openSample(page);
  const text = (await readFile(`${IMPORTS}/other/openai-chat.jsonl`)).toString();
  const notice = page.getByTestId("notice");
  await dropFiles(page, [upload("chat.jsonl", Buffer.from(`${text}{"messages": 5}\n`))]);
  await expect(notice).toHaveClass(/error/);
  await expect(notice).toContainText("chat.jsonl");
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
  await expect(page.locator(".import-report")).toHaveCount(0);
});
