import { readFile } from "node:fs/promises";
import { holdAt, loseDeviceAt } from "./compute-worker.ts";
import { madeGame } from "./made-game.ts";
import { upload } from "./own-files.ts";
import { expect, limitEpisodes, openSample, type Page, pressEnabled, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const REFUSED = "the open games of alfworld are not those that the run began with";

const openGames = (page: Page) =>
  page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button");

async function makeGames(page: Page, { count, seed }: { count: number; seed: number }): Promise<void> {
  await page.getByRole("spinbutton", { name: "Games" }).fill(String(count));
  await page.getByRole("spinbutton", { name: "First seed" }).fill(String(seed));
  await page.getByRole("button", { name: "Make games" }).click();
}

/** Opens another game of the name that the made game of seed 0 has, and no further one. */
async function openAltered(page: Page): Promise<void> {
  const { file } = madeGame(0);
  const game: object = JSON.parse(file.buffer.toString());
  const altered = { ...game, walkthrough: [] };
  await page
    .getByTestId("pick-games")
    .last()
    .setInputFiles([upload(file.name, Buffer.from(JSON.stringify(altered)))]);
  await expect(openGames(page)).toHaveCount(1);
}

/** The training form, for a run on policy in made games. */
async function fillForm(page: Page, { games, vanilla }: { games: number; vanilla: number }): Promise<void> {
  await page.keyboard.press("4");
  await page.getByLabel("Responses").selectOption("live");
  await expect(page.getByText("no game of alfworld is open").first()).toBeVisible();
  await page.getByLabel("Games").selectOption("made");
  await page.getByLabel("Number to make").fill(String(games));
  await page.getByLabel("First seed").fill("0");
  await limitEpisodes(page, { decisions: 2, tokens: 4 });
  await page.getByLabel("Vanilla passes").fill(String(vanilla));
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.keyboard.press("Tab");
}

test("a run on policy plays made games afresh before its step", async ({ page }) => {
  await openSample(page);
  await fillForm(page, { games: 2, vanilla: 1 });
  const plan = page.getByTestId("plan");
  await expect(plan).toContainText("1 vanilla step, over 2 tasks, on policy");
  await expect(page.getByTestId("cost")).toContainText("2 episodes to play");
  await expect(page.getByRole("button", { name: "Probe the time" })).toHaveCount(0);
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: MODEL_TIME });
  await expect(page.getByTestId("run-detail")).toContainText("before the step: on policy");
  await page.keyboard.press("6");
  await expect(page.getByTestId("run-list")).toContainText("gc-opd, live in alfworld");
  await expect(page.getByTestId("run-list")).toContainText("on policy");
});

test("a run on policy is followed by another tab, and goes on there once its own is closed", async ({
  page,
  context,
}) => {
  const other = await context.newPage();
  await openSample(other);
  await other.keyboard.press("6");
  await holdAt(page, { at: { step: 1 } });
  await openSample(page);
  await fillForm(page, { games: 1, vanilla: 2 });
  await page.getByRole("button", { name: "Update" }).click();
  const row = other.getByTestId("run-list").getByRole("row", { name: /live in alfworld/ });
  await expect(row).toContainText("▶ running · in another tab", { timeout: MODEL_TIME });
  await expect(row.getByRole("cell", { name: "1 of 2" })).toBeVisible({ timeout: MODEL_TIME });
  await expect(row).toContainText("on policy");
  await expect(row.getByRole("button", { name: /^(Resume|Remove)/ })).toHaveCount(0);
  await expect(other.getByTestId("run-charts").getByRole("img", { name: /^Loss.* at / })).toBeVisible();
  await page.close();
  await expect(row).toContainText("? lost");
  // Only in the games that it began with.
  await other.keyboard.press("7");
  await openAltered(other);
  await other.keyboard.press("6");
  await row.getByRole("button", { name: /^Resume/ }).click();
  await expect(row).toContainText(REFUSED);
  await other.keyboard.press("7");
  await other.getByRole("button", { name: "Close all games" }).click();
  await other.keyboard.press("6");
  await pressEnabled(row.getByRole("button", { name: /^Resume/ }));
  await expect(row).toContainText("✓ done", { timeout: MODEL_TIME });
  // The focus went on to the group that the button was in.
  await expect(row.getByRole("group", { name: /^Run / })).toBeFocused();
  await expect(row.getByRole("cell", { name: "2 of 2" })).toBeVisible();
  await expect(other.getByTestId("run-detail")).toContainText("went on after step");
});

/** Two made games, and the panel that plays in them. */
async function openPanel(page: Page, count = 2): Promise<void> {
  await visit(page);
  await fillPanel(page, count);
}

async function fillPanel(page: Page, count: number): Promise<void> {
  await page.keyboard.press("7");
  await makeGames(page, { count, seed: 0 });
  await page.getByLabel("What to do with the games").selectOption("runs");
  await limitEpisodes(page, { decisions: 2, tokens: 4 });
}

/** A file of one task per line. */
const listOf = (tasks: readonly string[]) => ({
  name: "split.txt",
  mimeType: "text/plain",
  buffer: Buffer.from(tasks.join("\n")),
});

test("a list of tasks says what is played, which of them are not open, and what is wrong in it", async ({
  page,
}) => {
  await openSample(page);
  await fillPanel(page, 3);
  const plan = page.getByTestId("live-run-plan");
  await expect(plan).toHaveText("3 of 3 open tasks: 12 episodes");
  const choose = (tasks: readonly string[]) => page.getByTestId("task-list").setInputFiles(listOf(tasks));
  await choose(["made/none", "made/none"]);
  await expect(page.getByText('split.txt, line 2: "made/none" is named twice')).toBeVisible();
  await choose(["made/none"]);
  await expect(page.getByText('split.txt: no game is named "made/none"; the first of 3 is')).toBeVisible();
  await expect(page.getByRole("button", { name: "Evaluate" })).toBeDisabled();
  const [first = ""] = await page.getByRole("list", { name: "Tasks of the open games" }).allInnerTexts();
  const task = first.split("\n")[0]!;
  await choose([task]);
  await expect(page.getByTestId("listed-tasks")).toHaveText("split.txt, 1 task");
  await expect(plan).toHaveText("1 of 3 open tasks: 4 episodes");
  await page.getByRole("button", { name: "Leave it out" }).click();
  await expect(plan).toHaveText("3 of 3 open tasks: 12 episodes");

  await page.getByRole("link", { name: "Training" }).click();
  await page.getByLabel("Responses").selectOption("live");
  await choose([task]);
  await expect(page.getByLabel("Tasks (JSON list)")).toHaveValue(JSON.stringify([task]));
  await choose(["made/none"]);
  await expect(page.getByLabel("Tasks (JSON list)")).toHaveAccessibleDescription(
    /no game is named "made\/none"; the first of 3 is/,
  );
});

const run = (page: Page, kind: string, n = 0) =>
  page
    .getByTestId("live-run")
    .filter({ hasText: new RegExp(`^${kind}`) })
    .nth(n);

test("a student is evaluated twice, and the two are compared; what was played outlives the page", async ({
  page,
}) => {
  const goOn = await holdAt(page, { at: { call: "playLive" } });
  await openPanel(page);
  await page.getByLabel("Seeds").fill("0, 0");
  await expect(page.getByLabel("Seeds")).toHaveAccessibleDescription("expected each one once");
  await page.getByLabel("Seeds").fill("0, 1");
  await expect(page.getByTestId("live-run-plan")).toHaveText("2 of 2 open tasks: 4 episodes");
  await pressEnabled(page.getByRole("button", { name: "Evaluate" }));
  await expect(page.getByTestId("live-run-progress")).toContainText("0 of 4 episodes");
  await expect(run(page, "Evaluation").locator("h3")).toBeFocused();
  // Its model is at work: a second press would start nothing.
  await expect(page.getByRole("button", { name: "Evaluate" })).toBeDisabled();
  // Another device would end it, and it plays in the open games.
  await expect(page.getByTestId("device")).toBeDisabled();
  await expect(page.getByRole("button", { name: "Close all games" })).toBeDisabled();
  // It goes on in another view.
  await page.getByRole("link", { name: "Runs" }).click();
  // The same list as beside its games.
  await expect(page.getByRole("region", { name: "Collections and evaluations" })).toContainText(
    "0 of 4 episodes",
  );
  await page.getByRole("link", { name: "Training" }).click();
  await expect(page.getByRole("button", { name: "Update" })).toBeDisabled();
  await page.getByTestId("at-work").locator("summary").click();
  await expect(page.getByTestId("at-work")).toContainText("Evaluation: 0 of 4 episodes");
  await goOn();
  await page.getByRole("link", { name: "Play" }).click();
  const first = run(page, "Evaluation");
  const figures = first.getByTestId("evaluation");
  await expect(figures).toContainText("2 tasks × 2 seeds", { timeout: MODEL_TIME });
  await expect(figures.getByRole("row", { name: /^all 2/ })).toContainText("0.0 ± 0.0");
  await expect(figures.getByRole("columnheader", { name: "pass@2, %" })).toBeVisible();

  const results = page.waitForEvent("download");
  await first.getByRole("button", { name: "Save results.json" }).click();
  expect(JSON.parse(await readFile(await (await results).path(), "utf8"))).toMatchObject({
    ...{ tasks: 2, seeds: [0, 1], sr: { mean: 0, sd: 0 }, rounds: { mean: 2, sd: 0 } },
  });
  const episodes = page.waitForEvent("download");
  await first.getByRole("button", { name: "Save episodes.jsonl" }).click();
  const records = (await readFile(await (await episodes).path(), "utf8")).trimEnd().split("\n");
  expect(records.map((line) => JSON.parse(line).repetition)).toEqual([0, 0, 1, 1]);

  await pressEnabled(page.getByRole("button", { name: "Evaluate" }));
  await expect(page.getByTestId("evaluation")).toHaveCount(2, { timeout: MODEL_TIME });
  await expect(first.locator("h3")).toBeFocused();
  await first.getByLabel("Compare with").selectOption({ index: 1 });
  await expect(first.getByTestId("comparison")).toHaveText(
    "Success rate +0.0 points (no interval: the difference is the same for every task). " +
      "Of 4 pairs of episodes both won 0, only this one 0, only the other 0, neither 4.",
  );

  await visit(page);
  await page.keyboard.press("7");
  await page.getByLabel("What to do with the games").selectOption("runs");
  await expect(page.getByTestId("evaluation")).toHaveCount(2);
  page.once("dialog", (dialog) => dialog.accept());
  await run(page, "Evaluation").getByRole("button", { name: "Remove…" }).click();
  await expect(page.getByTestId("evaluation")).toHaveCount(1);
});

test("a run says how it samples and with which prompt, and keeps both", async ({ page }) => {
  await openPanel(page, 1);
  await page.getByLabel("Seeds").fill("0");
  await page.getByLabel("Top-p").fill("2");
  await expect(page.getByLabel("Top-p")).toHaveAccessibleDescription("expected at most 1, received 2");
  await page.getByLabel("Top-p").fill("0.9");
  await page.getByLabel("Top-k").fill("5");
  await page.getByLabel("Temperature").fill("0");
  const template = {
    ...{ format: "gcopd.prompt.v1", message: "{task}{history}{observation}", history: "{pairs}" },
    ...{ pair: "{observation}{action}", unreadable_action: "?", lists: {} },
  };
  const choose = (value: object) =>
    page.getByTestId("prompt-template").setInputFiles({
      ...{ name: "own.json", mimeType: "application/json" },
      buffer: Buffer.from(JSON.stringify(value)),
    });
  await choose({ ...template, message: "{task}" });
  await expect(page.getByText("own.json, message: the placeholder {observation} is missing")).toBeVisible();
  await choose(template);
  await expect(page.getByTestId("chosen-prompt")).toHaveText("own.json");
  await page.getByRole("button", { name: "Evaluate" }).click();
  const words =
    "× seed 0, T = 0, top-p = 0.9, top-k = 5, at most 2 decisions, 4 tokens per response, prompt own.json";
  await expect(run(page, "Evaluation")).toContainText(words);
  await expect(page.getByTestId("evaluation")).toContainText("1 task × 1 seed", { timeout: MODEL_TIME });
  await visit(page);
  await page.keyboard.press("7");
  await page.getByLabel("What to do with the games").selectOption("runs");
  await expect(run(page, "Evaluation")).toContainText(words);
});

/** Starts an evaluation of two groups of two episodes: the second is reached when two have ended. */
async function evaluateTwoGroups(page: Page): Promise<void> {
  await openPanel(page);
  await page.getByLabel("Seeds").fill("0, 1");
  await page.getByLabel("Concurrent episodes").fill("2");
  await page.getByRole("button", { name: "Evaluate" }).click();
}

const state = (page: Page) => run(page, "Evaluation").getByTestId("live-run-state");

async function goOnToItsEnd(page: Page): Promise<void> {
  await run(page, "Evaluation").getByRole("button", { name: "Go on" }).click();
  await page.locator("main").focus();
  await expect(page.getByTestId("evaluation")).toContainText("2 tasks × 2 seeds", { timeout: MODEL_TIME });
  // Its end leaves the focus where the user went meanwhile.
  await expect(page.locator("main")).toBeFocused();
}

test("a cancelled evaluation keeps what has ended and goes on", async ({ page }) => {
  const goOn = await holdAt(page, { at: { episodes: 2 } });
  await evaluateTwoGroups(page);
  const progress = page.getByTestId("live-run-progress");
  await expect(progress).toContainText(/^2 of 4 episodes.* left/);
  await progress.getByRole("button", { name: "Cancel" }).click();
  await expect(state(page)).toHaveText("cancelled");
  await expect(run(page, "Evaluation")).toContainText("Kept: 2 of 4 episodes.");
  // Its worker may have stopped by itself, and then goes on with the next.
  await goOn();
  await goOnToItsEnd(page);
});

test("an evaluation whose device is lost says so, keeps what has ended and goes on", async ({ page }) => {
  await loseDeviceAt(page, { at: { episodes: 2 } });
  await evaluateTwoGroups(page);
  await expect(state(page)).toHaveText("failed");
  await expect(run(page, "Evaluation").getByRole("alert")).toContainText(
    /device.*lost.* Kept: 2 of 4 episodes\./,
  );
  await goOnToItsEnd(page);
});

test("an evaluation whose page is closed goes on once its games are open again", async ({ page }) => {
  await holdAt(page, { at: { episodes: 2 } });
  await evaluateTwoGroups(page);
  await expect(page.getByTestId("live-run-progress")).toContainText("2 of 4 episodes");
  await page.reload();
  await page.getByLabel("What to do with the games").selectOption("runs");
  await expect(state(page)).toHaveText("interrupted");
  await expect(run(page, "Evaluation")).toContainText("Kept: 2 of 4 episodes.");
  await run(page, "Evaluation").getByRole("button", { name: "Go on" }).click();
  await expect(run(page, "Evaluation").getByRole("alert")).toContainText(
    "is not open: open or make it in the Play view",
  );
  // Of the same names, but not those that it began with.
  await openAltered(page);
  await makeGames(page, { count: 1, seed: 1 });
  await expect(openGames(page)).toHaveCount(2);
  await run(page, "Evaluation").getByRole("button", { name: "Go on" }).click();
  await expect(run(page, "Evaluation").getByRole("alert")).toContainText(REFUSED);
  await page.getByRole("button", { name: "Close all games" }).click();
  await makeGames(page, { count: 2, seed: 0 });
  await expect(openGames(page)).toHaveCount(2);
  await goOnToItsEnd(page);
});

/** The collections and evaluations of the Play view. */
async function showRuns(page: Page): Promise<void> {
  await visit(page);
  await page.keyboard.press("7");
  await page.getByLabel("What to do with the games").selectOption("runs");
}

test("a run of another tab is followed to its figures, and its tab takes it away everywhere", async ({
  page,
  context,
}) => {
  const other = await context.newPage();
  await showRuns(other);
  const goOn = await holdAt(page, { at: { episodes: 2 } });
  await evaluateTwoGroups(page);
  await expect(state(other)).toHaveText("playing · in another tab");
  const progress = other.getByTestId("live-run-progress");
  await expect(progress).toContainText(/^2 of 4 episodes.* left/);
  await expect(progress.getByRole("progressbar")).toHaveAttribute("value", "2");
  // It is the other tab's to end, to go on with and to remove.
  for (const name of ["Cancel", "Go on", "Remove…"])
    await expect(run(other, "Evaluation").getByRole("button", { name })).toHaveCount(0);
  await other.getByTestId("at-work").locator("summary").click();
  const atWork = other.getByTestId("at-work").getByRole("listitem");
  await expect(atWork).toHaveText("Evaluation, in another tab: 2 of 4 episodes");
  await goOn();
  await expect(other.getByTestId("evaluation")).toContainText("2 tasks × 2 seeds", { timeout: MODEL_TIME });
  await expect(state(other)).toHaveText("done");
  await expect(other.getByTestId("at-work")).toHaveCount(0);
  page.once("dialog", (dialog) => dialog.accept());
  await run(page, "Evaluation").getByRole("button", { name: "Remove…" }).click();
  await expect(other.getByTestId("live-run")).toHaveCount(0);
});

test("a run of another tab can be gone on with once that tab is gone", async ({ page, context }) => {
  await holdAt(page, { at: { episodes: 2 } });
  await evaluateTwoGroups(page);
  await expect(page.getByTestId("live-run-progress")).toContainText("2 of 4 episodes");
  const other = await context.newPage();
  await openPanel(other);
  await expect(state(other)).toHaveText("playing · in another tab");
  await expect(other.getByTestId("live-run-progress")).toContainText("2 of 4 episodes");
  await page.close();
  await expect(state(other)).toHaveText("interrupted");
  await expect(run(other, "Evaluation")).toContainText(
    "the page was closed while it played. Kept: 2 of 4 episodes.",
  );
  await goOnToItsEnd(other);
});

/**
 * Sets a kept run back to where it was before its end was written down.
 *
 * @returns its state until now: the figures are shown before the end is written
 */
const forgetTheEnd = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const opening = indexedDB.open("gcopd-live-runs");
    await new Promise((resolve) => {
      opening.onsuccess = resolve;
    });
    const transaction = opening.result.transaction("runs", "readwrite");
    const written = new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
    const runs = transaction.objectStore("runs");
    const all = runs.getAll();
    await new Promise((resolve) => {
      all.onsuccess = resolve;
    });
    const [run] = all.result;
    if (run.state === "done") runs.put({ ...run, state: "running" });
    await written;
    opening.result.close();
    return run.state;
  });

test("an evaluation whose page is closed just before its end goes on to its figures", async ({ page }) => {
  await openPanel(page, 1);
  await page.getByLabel("Seeds").fill("0");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await expect(page.getByTestId("evaluation")).toContainText("1 task × 1 seed", { timeout: MODEL_TIME });
  await expect.poll(() => forgetTheEnd(page)).toBe("done");
  await openPanel(page, 1);
  await expect(run(page, "Evaluation")).toContainText("Kept: 1 of 1 episode.");
  await run(page, "Evaluation").getByRole("button", { name: "Go on" }).click();
  await expect(page.getByTestId("evaluation")).toContainText("1 task × 1 seed");
});

test("the laboratory: games are collected, a student is trained on policy with them, and measured before and after", async ({
  page,
}) => {
  await openPanel(page, 1);
  const form = page.getByRole("form", { name: "A collection or an evaluation" });
  const evaluate = async (count: number) => {
    await expect(form.getByLabel("Model")).toHaveValue("student");
    await expect(form.getByTestId("model-student")).toContainText("Folder…");
    await form.getByLabel("Seeds").fill("0");
    await form.getByRole("button", { name: "Evaluate" }).click();
    await expect(page.getByTestId("evaluation")).toHaveCount(count, { timeout: MODEL_TIME });
  };
  await evaluate(1);

  await form.getByLabel("Task to run").selectOption("collect");
  await expect(form.getByLabel("Model")).toHaveValue("teacher");
  await expect(form.getByTestId("model-teacher")).toContainText("Folder…");
  await page.getByLabel("Executions per task (K)").fill("2");
  await expect(page.getByTestId("live-run-plan")).toHaveText("1 of 1 open task: 3 episodes");
  await form.getByRole("button", { name: "Collect" }).click();
  const collection = run(page, "Collection by the teacher");
  await expect(collection.getByTestId("collected")).toHaveText("3 executions, 1 successful, 3 verified", {
    timeout: MODEL_TIME,
  });
  await collection.getByRole("button", { name: "Open as a library" }).click();
  await expect(page.getByRole("row", { name: /^made\/small\// })).toHaveCount(1);

  await page.keyboard.press("4");
  await page.getByLabel("Responses").selectOption("live");
  await limitEpisodes(page, { decisions: 2, tokens: 4 });
  await page.getByLabel("Vanilla passes").fill("0");
  await page.getByLabel("Graph-conditioned passes").fill("1");
  await expect(page.getByTestId("plan")).toContainText("over 1 task, on policy");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step", { timeout: MODEL_TIME });

  await page.keyboard.press("Escape");
  await page.keyboard.press("7");
  await form.getByLabel("Task to run").selectOption("evaluate");
  await evaluate(2);
  const after = run(page, "Evaluation by the student: student after 1 step");
  await after.getByLabel("Compare with").selectOption({ index: 1 });
  await expect(after.getByTestId("comparison")).toContainText("Of 1 pair of episodes");
});
