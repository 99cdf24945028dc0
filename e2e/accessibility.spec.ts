/** Every view, dialog and panel, in both themes and narrow: nothing that axe finds, nothing that a keyboard misses. */
import { axeFaults } from "./axe.ts";
import { madeGame, walkthroughRecord } from "./made-game.ts";
import { dropFiles, jsonLines, OWN_FILES, TASK, upload } from "./own-files.ts";
import { keyboardFaults } from "./reachable.ts";
import { decisionShown, expect, limitEpisodes, openTrainingForm, type Page, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 900, height: 800 };

/** Light and wide, then dark and narrow: colours do not depend on the width, nor the layout on the theme. */
async function check(page: Page, what: string): Promise<void> {
  for (const [theme, size] of [
    ["light", WIDE],
    ["dark", NARROW],
  ] as const) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme: theme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
    expect.soft(await axeFaults(page), `${what}, ${theme}, ${size.width} px wide`).toEqual([]);
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: "light" });
  expect.soft(await keyboardFaults(page), `${what}, by keyboard`).toEqual([]);
}

/** Opens a dialog with a key, checks it, closes it. */
async function checkDialog(page: Page, key: string, name: string | RegExp): Promise<void> {
  await page.keyboard.press(key);
  await expect(page.getByRole("dialog", { name })).toBeVisible();
  await check(page, `dialog ${name}`);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog", { name })).toHaveCount(0);
}

test("nothing open, the dialogs, links and files that are none", async ({ page }) => {
  await visit(page);
  await expect(page.getByTestId("device")).toBeVisible();
  await check(page, "empty");
  await checkDialog(page, "?", /keys|Keyboard|Keys/i);
  await checkDialog(page, "g", /guide/i);
  await checkDialog(page, "Control+k", "Command palette");
  const files = page.getByRole("button", { name: "Open files…" });
  await files.focus();
  await page.getByTestId("pick-files").setInputFiles([upload("broken.jsonl", Buffer.from("{"))]);
  await expect(page.getByTestId("notice")).toBeVisible();
  await expect(files).toBeFocused();
  for (const [key, view] of [
    ["2", "task"],
    ["5", "statistics"],
    ["6", "runs"],
    ["7", "play"],
    ["8", "evidence-test"],
  ] as const) {
    await page.keyboard.press(key);
    await expect(page).toHaveURL(new RegExp(`#/${view}`));
    await check(page, `nothing open, ${view}`);
  }
  await visit(page, "#/task/nothing?library=sample&decision=x");
  await expect(page.getByTestId("view-problem")).toBeVisible();
  await check(page, "bad link");
  await dropFiles(page, [upload("broken.jsonl", Buffer.from("{"))]);
  await expect(page.getByTestId("notice")).toBeVisible();
  await check(page, "bad file");
  const chat = {
    messages: [
      { role: "user", content: "Go." },
      { role: "assistant", content: "<action>go</action>" },
    ],
  };
  await dropFiles(page, [
    upload("chat.json", Buffer.from(JSON.stringify([chat]))),
    upload("notes.txt", Buffer.from("nothing")),
  ]);
  await expect(page.locator(".import-report")).toBeVisible();
  await check(page, "import report");
});

test("a library, a task, its decisions and what-ifs", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await expect(page.getByRole("button", { name: TASK })).toBeVisible();
  await check(page, "library");
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("v");
  await page.keyboard.press("j");
  await decisionShown(page, 1);
  await page.getByRole("gridcell", { name: /^teacher:0, visit 1/ }).click();
  await expect(page.getByRole("heading", { name: "teacher:0, visit 1" })).toBeVisible();
  await check(page, "task, a pinned visit");
  await page.getByRole("button", { name: "Compare with the chosen" }).first().click();
  await expect(page.getByTestId("same-state")).toBeVisible();
  await check(page, "two visits");
  await page.keyboard.press("Escape");
  await page.keyboard.press("m");
  const editor = page.getByTestId("evidence-editor");
  await editor.locator("summary").click();
  await check(page, "evidence editor");
  await editor.getByRole("textbox").fill("Activate the stove.");
  await page.keyboard.press("Control+Enter");
  await expect(page.getByTestId("evidence-diff")).toBeVisible();
  await check(page, "what if, changes");
  await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
  await page.keyboard.press("5");
  await expect(page.getByTestId("statistics-scope")).toBeVisible();
  await check(page, "statistics");
});

test("tokens, training and runs", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("3");
  await expect(page.getByTestId("response")).toBeVisible();
  await check(page, "tokens, before scoring");
  await page.getByTestId("model-teacher").getByRole("button", { name: "By name…" }).click();
  await expect(page.getByRole("dialog")).toBeVisible();
  await check(page, "model by name");
  await page.keyboard.press("Escape");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press("ArrowRight");
  await expect(page.getByTestId("token-card")).toBeVisible();
  await check(page, "tokens, one pinned");
  await checkDialog(page, "c", "Case study");
  await page.keyboard.press("4");
  await expect(page.getByTestId("plan")).toBeVisible();
  await check(page, "training, before");
  await page.getByLabel("Evaluate the student").check();
  await page.getByLabel("Seeds").fill("0");
  await page.getByLabel("Number to make").fill("1");
  await limitEpisodes(page, { decisions: 1, tokens: 4 });
  await check(page, "training, with an evaluation");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Vanilla passes").fill("1");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toBeVisible({ timeout: MODEL_TIME });
  await check(page, "training");
  await page.keyboard.press("6");
  await page.getByTestId("run-list").getByRole("checkbox").check();
  await expect(page.getByTestId("run-charts")).toBeVisible();
  await page.getByTestId("run-evaluations").locator("summary").click();
  await check(page, "runs, with a chart");
  await page.keyboard.press("4");
  await openTrainingForm(page);
  await page.getByLabel("Evaluate the student").uncheck();
  await page.getByLabel("Vanilla passes").fill("900");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await page.getByTestId("at-work").locator("summary").click();
  await check(page, "what is running");
  await page.getByTestId("at-work").getByRole("button", { name: "Stop after this step" }).click();
  await expect(page.getByTestId("at-work")).toHaveCount(0, { timeout: MODEL_TIME });
});

test("games: one that is played, a record that waits for its game, records to verify", async ({ page }) => {
  const game = madeGame(6);
  await visit(page);
  await dropFiles(page, [upload("sources.jsonl", jsonLines([walkthroughRecord(game, "planner:16")]))]);
  await page.getByRole("button", { name: game.task }).click();
  await page.getByRole("gridcell", { name: /^planner:16, visit 2/ }).click();
  await page.getByText("Verify by playing").click();
  await expect(page.getByTestId("missing-game")).toBeVisible();
  await check(page, "task without an episode, verify by playing");
  await page.getByRole("button", { name: "Play on from here" }).click();
  await expect(page.getByTestId("waiting")).toBeVisible();
  await check(page, "play, a game is needed");
  await page.getByRole("button", { name: "Make this game" }).click();
  await expect(page.getByTestId("action")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await check(page, "play, an episode");
  await page.getByTestId("action").press("Escape");
  for (const action of game.walkthrough.slice(2)) {
    await page.getByTestId("action").fill(action);
    await page.keyboard.press("Enter");
    await expect(page.locator(".transcript li").last()).toContainText(action);
  }
  await expect(page.getByTestId("ending")).toBeVisible();
  await check(page, "play, the end");
});

test("collections and evaluations, and a run that plays live", async ({ page }) => {
  await visit(page);
  await page.keyboard.press("7");
  await page.getByLabel("What to do with the games").selectOption("runs");
  await expect(page.getByText("no game of alfworld is open")).toBeVisible();
  await check(page, "collect and evaluate, no game");
  await page.getByRole("spinbutton", { name: "Games" }).fill("2");
  await page.getByRole("button", { name: "Make games" }).click();
  await limitEpisodes(page, { decisions: 1, tokens: 2 });
  await page.getByLabel("Seeds").fill("0");
  for (const done of [1, 2]) {
    await page.getByRole("button", { name: "Evaluate" }).click();
    await expect(page.getByTestId("evaluation")).toHaveCount(done, { timeout: MODEL_TIME });
  }
  await page.getByLabel("Compare with").first().selectOption({ index: 1 });
  await expect(page.getByTestId("comparison")).toBeVisible();
  await check(page, "evaluations, compared");
  await dropFiles(page, OWN_FILES);
  await expect(page.getByRole("button", { name: TASK })).toBeVisible();
  await page.keyboard.press("4");
  await page.getByLabel("Responses").selectOption("live");
  await expect(page.getByTestId("plan")).toContainText("over 2 tasks, on policy");
  await check(page, "training, live");
});

test("what a keyboard misses would be told", async ({ page }) => {
  await visit(page);
  await expect(page.getByTestId("device")).toBeVisible();
  expect(await keyboardFaults(page)).toEqual([]);
  await page.evaluate(() => {
    const add = (tag: string, text: string, style: Partial<CSSStyleDeclaration>): HTMLElement => {
      const element = document.createElement(tag);
      element.textContent = text;
      Object.assign(element.style, style);
      document.querySelector("main")!.append(element);
      return element;
    };
    add("div", "press me", { cursor: "pointer" });
    add("button", "never reached", {}).tabIndex = -1;
    add("button", "where am I", { outline: "none" });
  });
  expect(await keyboardFaults(page)).toEqual([
    "not reached: button. “never reached”",
    "focus is not seen: button. “where am I”",
    "for a pointer only: div. “press me”",
  ]);
});

test("the tour", async ({ page }) => {
  await visit(page);
  await page.getByRole("button", { name: "Take the tour" }).click();
  const tour = page.getByTestId("tour");
  await expect(tour).toHaveAttribute("data-step", "library");
  await expect(tour.locator("#tour-text")).toContainText("10 tasks");
  await check(page, "tour, library");
  await page.keyboard.press("ArrowRight");
  await expect(tour.locator("#tour-text")).toContainText("Each row is an execution");
  await check(page, "tour, task");
});
