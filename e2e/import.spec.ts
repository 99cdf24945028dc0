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
