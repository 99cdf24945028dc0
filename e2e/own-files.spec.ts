import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { dropFiles, EPISODES, jsonLines, OWN_FILES, SOURCES, TASK, upload } from "./own-files.ts";
import { decisionShown, expect, openSample, test, visit } from "./site.ts";

test("opens dropped files", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  const row = page.getByRole("row", { name: /boil/ });
  await expect(row.getByRole("cell")).toHaveText([
    /^3$/,
    /^2/,
    /^1/,
    /^4$/,
    /^4/,
    "1 (0)",
    "100 %",
    "0 %",
    "–",
  ]);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await expect(page.getByTestId("retained")).toHaveText("★ teacher:0, visit 0");
});

test("opens picked files", async ({ page }) => {
  await visit(page);
  await page.getByTestId("pick-files").setInputFiles(OWN_FILES);
  await expect(page.getByRole("button", { name: TASK })).toBeVisible();
  await expect(page).toHaveURL(/library=own/);
});

test("says how an environment without rules of its own is treated", async ({ page }) => {
  const custom = (records: readonly object[]) =>
    records.map((record) => ({ ...record, environment: "my-game" }));
  await visit(page);
  await dropFiles(page, [
    upload("sources.jsonl", jsonLines(custom(SOURCES))),
    upload("episodes.jsonl", jsonLines(custom(EPISODES))),
  ]);
  const note = page.getByTestId("environment-note");
  await expect(note).toHaveCount(1);
  await expect(note).toContainText('environment "my-game" is custom: its state keys are taken as recorded');
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await expect(page.getByTestId("retained")).toHaveText("★ teacher:0, visit 0");
});

test("takes the index that lies beside a file, and rebuilds a stale one with a note", async ({
  page,
}, info) => {
  const file = info.outputPath("sources.jsonl");
  await writeFile(file, jsonLines(SOURCES));
  execFileSync(process.execPath, ["bin/gcopd.js", "index", file]);
  await visit(page);
  await page.getByTestId("pick-files").setInputFiles([file, `${file}.index.jsonl`]);
  await expect(page.getByText("Opened by the index beside sources.jsonl.")).toBeVisible();
  await expect(page.getByTestId("file-note")).toHaveCount(0);

  await writeFile(file, jsonLines(SOURCES.slice(0, 2)));
  await visit(page);
  await page.getByTestId("pick-files").setInputFiles([file, `${file}.index.jsonl`]);
  await expect(page.getByTestId("file-note")).toContainText(
    "sources.jsonl.index.jsonl is out of date: the index was rebuilt.",
  );
  await expect(page.getByRole("row", { name: /boil/ }).getByRole("cell").first()).toHaveText("2");
});

test("opens sources without episodes, and says what is missing", async ({ page }) => {
  await visit(page);
  await dropFiles(page, [OWN_FILES[0]!]);
  await page.getByRole("button", { name: TASK }).click();
  await expect(page.getByText("No student episode of this task is open")).toBeVisible();
  await expect(page.getByRole("grid")).toBeVisible();
  await page.keyboard.press("3");
  await expect(page.getByTestId("no-episode")).toContainText("Open a file of student episodes");
  await page.getByRole("button", { name: "Tasks with episodes" }).click();
  await expect(page.getByRole("columnheader", { name: /Episodes/ })).toHaveAttribute(
    "aria-sort",
    "descending",
  );
});

test.describe("bad files give one line, and what was open stays", () => {
  const whole = gzipSync(jsonLines(SOURCES));
  const broken = jsonLines(EPISODES).toString();
  for (const [what, file, message] of [
    [
      "truncated gzip",
      upload("cut.jsonl.gz", whole.subarray(0, whole.length - 40)),
      "cut.jsonl.gz: truncated gzip",
    ],
    [
      "a line that is not JSON",
      upload("a.jsonl", Buffer.from(`${broken}{"format": oops\n`)),
      "a.jsonl, line 2: not JSON",
    ],
    [
      "a missing key",
      upload("b.jsonl", jsonLines([{ ...SOURCES[0], outcome: undefined }])),
      "b.jsonl, line 1, outcome",
    ],
    ["a repeated source", upload("c.jsonl", jsonLines([SOURCES[0], SOURCES[0]])), "c.jsonl, line 2"],
    [
      "no final state",
      upload("d.jsonl", jsonLines([{ ...SOURCES[0], final_state: undefined }])),
      "d.jsonl, line 1, final_state: missing; 3 decisions have 3 states and need 4",
    ],
    [
      "something else",
      upload("notes.txt", Buffer.from("hello")),
      "notes.txt: not in any format that can be imported",
    ],
  ] as const) {
    test(what, async ({ page }) => {
      await openSample(page);
      await dropFiles(page, [file]);
      const notice = page.getByTestId("notice");
      await expect(notice).toContainText(message);
      await expect(notice).toHaveClass(/error/);
      await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
      await notice.getByRole("button", { name: "Dismiss" }).click();
      await expect(notice).toHaveCount(0);
    });
  }
});
