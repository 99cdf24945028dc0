/** "Does evidence help?": one press from the start page, figures that fill in, decisions one at a time, and files. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { axeFaults } from "./axe.ts";
import { holdAt } from "./compute-worker.ts";
import { dropFiles, EPISODES, jsonLines, OWN_FILES, SOURCES, TASK, upload } from "./own-files.ts";
import { expect, type Page, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const PUBLIC = resolve(import.meta.dirname, "../public");
const SAMPLE = join(PUBLIC, "sample");

/** As many episodes of the small library as separate contexts: fewer separate nothing. */
const PLAYED = Array.from({ length: 6 }, (_, n) => ({
  ...EPISODES[0]!,
  episode: `own#${n}`,
  // Thoughts of their own, so that no two episodes have the same figures.
  decisions: EPISODES[0]!.decisions.map((each) => ({
    ...each,
    response: each.response.replace("Go on.", `${"Go on. ".repeat(n)}Go on.`),
  })),
}));

/** A miniature world of the first so many episodes, with the sample's models. Returns how many decisions they have. */
async function serveMiniature(page: Page, episodes: number): Promise<number> {
  const played = PLAYED.slice(0, episodes);
  const optimal = played.flatMap(({ task, episode, decisions }) =>
    decisions.map((_, decision) => ({
      task,
      episode,
      decision,
      optimal: [decision === 0 ? "go to kitchen" : "activate stove"],
    })),
  );
  const manifest = {
    title: "A small world",
    sources: "sources.jsonl.gz",
    episodes: "episodes.jsonl.gz",
    optimal: "optimal.jsonl.gz",
    tokenizer: "tokenizer",
    teacher: "teacher",
    student: "student",
  };
  const files: Record<string, Buffer> = {
    "manifest.json": Buffer.from(JSON.stringify(manifest)),
    "sources.jsonl.gz": gzipSync(jsonLines(SOURCES)),
    "episodes.jsonl.gz": gzipSync(jsonLines(played)),
    "optimal.jsonl.gz": gzipSync(jsonLines(optimal)),
    "registered.json": await readFile(join(PUBLIC, "miniature", "registered.json")),
  };
  await page.context().route("**/miniature/**", async (route) => {
    const name = new URL(route.request().url()).pathname.split("/miniature/")[1]!;
    await route.fulfill({ body: files[name] ?? (await readFile(join(SAMPLE, name))) });
  });
  return optimal.length;
}

const steps = (page: Page) => page.getByTestId("gate-decision");
const shownDecision = (page: Page) => steps(page).getByRole("link", { name: /^Decision \d+ of own#/ });

async function allScored(page: Page, decisions: number): Promise<void> {
  await expect(page.getByTestId("gate-count")).toHaveText(`n = ${decisions} of ${decisions}`, {
    timeout: MODEL_TIME,
  });
  await expect(page.getByRole("button", { name: "All scored" })).toBeVisible();
}

test("one press: the answer, bars with intervals, every decision, and the files; accessible and within its width", async ({
  page,
}) => {
  const decisions = await serveMiniature(page, PLAYED.length);
  await visit(page);
  await page.getByRole("button", { name: "Does evidence help?" }).click();
  await expect(page).toHaveURL(/#\/evidence-test\?library=miniature/);
  await allScored(page, decisions);
  await expect(page.locator("main")).toBeFocused();
  await expect(page.getByTestId("evidence-rail").getByTestId("model-teacher")).toContainText("Folder…");
  const chart = page.getByRole("img", { name: /^Probability of an optimal action/ });
  await expect(chart).toHaveAccessibleName(
    /no evidence: .* \[.*hindsight only: .*minimum prefix: .*success only: .*full graph: 0\.\d{3} \[/,
  );
  const separations = page.getByTestId("gate-separations");
  await expect(separations.getByRole("listitem")).toHaveCount(10);
  await expect(separations).toContainText("Different");

  const saved = async (name: string) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name, exact: true }).click(),
    ]);
    return readFile(await download.path(), "utf8");
  };
  const report = JSON.parse(await saved("Save as JSON"));
  expect(report).toMatchObject({
    format: "gcopd.gate.v1",
    decisions,
    episodes: PLAYED.length,
    seed: 0,
  });
  const pair = report.differences.find(
    ({ from, to }: { from: string; to: string }) => from === "none" && to === "graph",
  );
  const [low, high] = pair.interval;
  const word = low > 0 ? "Yes" : high < 0 ? "No" : "No clear difference";
  const said = `^${word}\\. The teacher’s probability of an optimal action is .* with full graph and .* with no evidence`;
  await expect(page.getByTestId("gate-answer")).toHaveText(new RegExp(said));
  await expect(page.getByRole("status").filter({ hasText: new RegExp(said) })).toHaveCount(1);
  const csv = (await saved("Save as CSV")).trim().split("\r\n").slice(1);
  expect(csv).toHaveLength(5 * decisions);
  for (const { context, mean } of report.contexts) {
    const of = csv.map((line) => line.split(",")).filter((cells) => cells[4] === context);
    const values = of.map((cells) => Number(cells[6]));
    expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(mean, 12);
    if (mean >= 0.0005) await expect(chart).toHaveAccessibleName(new RegExp(`: ${mean.toFixed(3)} \\[`));
  }

  await expect(steps(page).getByText(`1 of ${decisions}`)).toBeVisible();
  const before = await shownDecision(page).textContent();
  await page.keyboard.press("j");
  await expect(steps(page).getByText(`2 of ${decisions}`)).toBeVisible();
  await expect(shownDecision(page)).not.toHaveText(before!);
  await page.keyboard.press("k");
  await expect(shownDecision(page)).toHaveText(before!);
  const table = steps(page).getByRole("table");
  await expect(table.getByRole("row")).toHaveCount(6);
  await page.getByLabel("Order").selectOption("helped");
  await expect(page).toHaveURL(/episode=own/);

  for (const [theme, width] of [
    ["light", 1280],
    ["dark", 800],
    // 1280 px at 200 %.
    ["light", 640],
  ] as const) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: theme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
    expect.soft(await axeFaults(page), `${theme}, ${width} px`).toEqual([]);
    // A chart takes its new width a little after the window.
    await expect
      .poll(() => page.locator("main").evaluate((main) => main.scrollWidth - main.clientWidth), {
        message: `${theme}, ${width} px: nothing beside the view`,
      })
      .toBeLessThanOrEqual(0);
  }

  const at = Number(/Decision (\d+)/.exec((await shownDecision(page).textContent())!)![1]);
  await shownDecision(page).click();
  await expect(page).toHaveURL(/#\/task\//);
  await expect(page.getByRole("heading", { name: `Decision ${at}`, exact: true })).toBeVisible();
});

test.describe("a miniature world that the server does not give at first", () => {
  test.use({ expectedErrors: ["503"] });

  test("is asked for again with the next press", async ({ page }) => {
    const decisions = await serveMiniature(page, 1);
    let refused = 0;
    await page.context().route(
      "**/miniature/manifest.json",
      async (route) => {
        refused += 1;
        await route.fulfill({ status: 503 });
      },
      { times: 1 },
    );
    await visit(page);
    const ask = page.getByRole("button", { name: "Does evidence help?" });
    await ask.click();
    await expect(page.getByTestId("notice")).toContainText("503");
    await ask.click();
    await allScored(page, decisions);
    expect(refused).toBe(1);
  });
});

test("stopped, it keeps its figures and goes on from them", async ({ page }) => {
  const decisions = await serveMiniature(page, 2);
  const count = page.getByTestId("gate-count");
  await page.goto("about:blank");
  await holdAt(page, { at: { call: "score" }, occurrence: 2 });
  await page.goto("./");
  await page.getByRole("button", { name: "Does evidence help?" }).click();
  await expect(count).toHaveText(`n = 1 of ${decisions}`, { timeout: MODEL_TIME });
  await expect(page.getByTestId("gate-answer")).toContainText("Not known yet.");
  const first = await shownDecision(page).textContent();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  const goOn = page.getByRole("button", { name: "Continue" });
  await expect(goOn).toBeEnabled();
  await expect(count).toHaveText(`n = 1 of ${decisions}`);
  await goOn.click();
  await allScored(page, decisions);
  await expect(shownDecision(page)).toHaveText(first!);
  await expect(page.getByTestId("gate-answer")).toContainText("fewer than six episodes say nothing");

  // The controls fold away; the figures stay.
  const controls = page.getByTestId("evidence-rail").getByText("Controls");
  await controls.click();
  await expect(page.getByLabel("Sources per task")).toBeHidden();
  await expect(count).toHaveText(`n = ${decisions} of ${decisions}`);
  await controls.click();

  // Other sources are a test of their own, and those before are not shown for them.
  await page.getByLabel("Sources per task").selectOption("K = 1");
  await expect(page).toHaveURL(/sources=1/);
  await expect(count).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Score decisions" })).toBeEnabled();
});

test("a library of one's own: without optimal actions, with them, and over fewer contexts", async ({
  page,
}) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await expect(page.getByRole("button", { name: TASK })).toBeVisible();
  await page.keyboard.press("8");
  await expect(page.getByText("none are given for this library")).toBeVisible();
  const lines = [{ task: TASK, episode: "own#0", decision: 0, optimal: ["go to kitchen"] }];
  await dropFiles(page, [upload("wrong.jsonl", jsonLines([{ ...lines[0], decision: 99 }]))]);
  await expect(page.getByTestId("notice")).toContainText("wrong.jsonl, line 1, decision:");
  await dropFiles(page, [upload("optimal.jsonl", jsonLines(lines))]);
  await expect(page.getByTestId("notice")).toContainText("The optimal actions of 1 decision are known now");
  await page.getByText("5 of 5 contexts").click();
  for (const name of ["hindsight only", "minimum prefix", "success only"])
    await page.getByRole("checkbox", { name }).uncheck();
  await page.getByRole("button", { name: "Score decisions" }).click();
  await expect(page.getByTestId("gate-count")).toHaveText("n = 1 of 1", { timeout: MODEL_TIME });
  await expect(page.getByTestId("gate-answer")).toContainText("fewer than six episodes say nothing");
  await expect(page.getByTestId("gate-separations")).toContainText("Too few episodes");
  await expect(page.getByTestId("gate-separations").getByRole("listitem")).toHaveCount(1);

  // Other optimal actions are a test of their own.
  await dropFiles(page, [upload("second.jsonl", jsonLines([...lines, { ...lines[0], decision: 1 }]))]);
  await expect(page.getByTestId("notice")).toContainText("The optimal actions of 2 decisions are known now");
  await expect(page.getByTestId("gate-count")).toHaveCount(0);
  await page.getByRole("button", { name: "Score decisions" }).click();
  await expect(page.getByTestId("gate-count")).toHaveText("n = 2 of 2", { timeout: MODEL_TIME });
});

const sweep = (page: Page) => page.getByTestId("sweep");
const drawSweep = async (page: Page, name: string): Promise<void> => {
  await sweep(page)
    .getByRole("button", { name: `Draw over ${name}` })
    .click();
  await expect(sweep(page).getByRole("button", { name: `Drawn over ${name}` })).toBeVisible({
    timeout: MODEL_TIME,
  });
};

test("over K: the same decisions with more and more sources, and the coverage", async ({ page }) => {
  await serveMiniature(page, 1);
  await visit(page, "#/evidence-test?library=miniature");
  await drawSweep(page, "K");
  await expect(
    sweep(page).getByRole("img", { name: /^Probability of an optimal action by K/ }),
  ).toHaveAccessibleName(
    /no evidence: K = 1 \S+, K = 2 \S+, K = 4 \S+, K = 8 \S+, K = 16 \S+; hindsight only: .*full graph: K = 1 /,
  );
  // The small library's task has a success among its first records.
  await expect(sweep(page).getByRole("img", { name: /^Share of tasks covered by K/ })).toHaveAccessibleName(
    /tasks covered: K = 1 [01]\.000, .*K = 16 1\.000$/,
  );
  // What was drawn stays while another K is looked at.
  await page.getByLabel("Sources per task").selectOption("K = 1");
  await expect(sweep(page).getByRole("button", { name: "Drawn over K" })).toBeVisible();
});

test("a part of the library: what is covered, the curve over coverage, and the config of the students", async ({
  page,
}) => {
  await serveMiniature(page, 1);
  await visit(page, "#/evidence-test?library=miniature");
  await expect(page.getByTestId("gate-covered")).toHaveCount(0);
  await page.getByLabel("Failed records").selectOption("25 %");
  await expect(page.getByTestId("gate-covered")).toHaveText("1 of 1 task covered");
  await page.getByLabel("Covered tasks").selectOption("none");
  await expect(page.getByTestId("gate-covered")).toHaveText("0 of 1 task covered");
  await expect(page).toHaveURL(/subset=0%2C0\.25%2C0(&|$)/);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as config" }).click(),
  ]);
  expect(JSON.parse(await readFile(await download.path(), "utf8")).train.subset).toEqual({
    success_tasks: 0,
    failures: 0.25,
  });

  // The curve has each share of its own, whatever the control says.
  await sweep(page).getByLabel("Over").selectOption("coverage");
  await drawSweep(page, "coverage");
  await expect(
    sweep(page).getByRole("img", { name: /^Probability of an optimal action by coverage/ }),
  ).toHaveAccessibleName(/success only: 0 of 1 task \S+, 1 of 1 task \S+; full graph: /);
  await expect(sweep(page)).toContainText("25 % of the failed records");
  await page.getByLabel("Covered tasks").selectOption("all");
  await expect(sweep(page).getByRole("button", { name: "Drawn over coverage" })).toBeVisible();
  await page.getByLabel("Failed records").selectOption("all");
  await expect(sweep(page).getByRole("button", { name: "Draw over coverage" })).toBeVisible();
});

test("the noise of the library: other executions of the same tasks, and the same decisions", async ({
  page,
}) => {
  await visit(page, "#/evidence-test?library=miniature-75");
  const noise = page.getByLabel("Random commands");
  await expect(noise).toHaveValue("miniature-75");
  // Counting reads the whole library, where a part of it is asked for.
  await page.getByLabel("Failed records").selectOption("none");
  await expect(page.getByTestId("gate-covered")).toHaveText("16 of 96 tasks covered");
  await noise.selectOption("30 %");
  await expect(page).toHaveURL(/library=miniature-30(&|$)/);
  await expect(noise).toHaveValue("miniature-30");
  await expect(page.getByTestId("gate-covered")).toHaveText("96 of 96 tasks covered");
  await expect(page.getByText("Optimal actions are known for 1,437 student decisions.")).toBeVisible();
  await page.goBack();
  await expect(noise).toHaveValue("miniature-75");
  await expect(page.getByTestId("gate-covered")).toHaveText("16 of 96 tasks covered");
});
