import { readFile } from "node:fs/promises";
import { holdAt } from "./compute-worker.ts";
import { madeGame, walkthroughRecord } from "./made-game.ts";
import { dropFiles, jsonLines, upload } from "./own-files.ts";
import { expect, openSample, type Page, pressEnabled, test, visit } from "./site.ts";

const SEED = 6;
const game = madeGame(SEED);
const { task, walkthrough } = game;
const LENGTH = walkthrough.length;
const good = walkthroughRecord(game, "planner:16");
const altered = {
  ...good,
  source: "planner:17",
  repetition: 17,
  decisions: good.decisions.map((each, t) => (t === 1 ? { ...each, feedback: "You hear a bell." } : each)),
};
const LIBRARY = [upload("sources.jsonl", jsonLines([good, altered]))];

const action = (page: Page) => page.getByTestId("action");
const decisions = (page: Page) => page.getByTestId("decisions");

/** Types an action and plays it, once the one before it was answered. */
async function play(page: Page, text: string): Promise<void> {
  // While it waits for an answer the field takes nothing.
  await expect(action(page)).toBeEditable();
  await expect(action(page)).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

/** States of the drawn graph. */
async function states(page: Page): Promise<number> {
  const text = await page.getByRole("application", { name: /^State graph of/ }).getAttribute("aria-label");
  return Number(/of (\d+) states?/.exec(text ?? "")?.[1]);
}

test("games are made, and one is played to its end by keyboard: the graph grows, and records are saved", async ({
  page,
}) => {
  await visit(page);
  await page.keyboard.press("7");
  await page.getByRole("spinbutton", { name: "Games" }).fill("3");
  await page.getByLabel("First seed").fill(String(SEED));
  await page.keyboard.press("Enter");
  const list = page.getByRole("list", { name: "Tasks of the open games" });
  await expect(list.getByRole("button")).toHaveCount(3);
  await page.getByLabel("Filter").fill(`-${SEED}`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("task-description")).toHaveText(good.task_description!);
  await expect.poll(() => states(page)).toBe(1);
  // Nothing lies in the lane of states that no execution visited.
  await expect(page.locator(".lane-name")).toHaveCount(0);

  // Words narrow the list below the field, which stays where it is; they choose the one action that they leave, and Enter plays.
  await expect(action(page)).toBeFocused();
  const place = await action(page).boundingBox();
  await page.keyboard.type(walkthrough[0]!.split(" ").reverse().join(" "));
  const options = page.getByRole("listbox", { name: "On offer" }).getByRole("option");
  await expect(options).toHaveText([walkthrough[0]!]);
  expect(await action(page).boundingBox()).toEqual(place);
  await expect(options.first()).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(decisions(page)).toHaveText("1 of 30 decisions");
  await expect.poll(() => states(page)).toBe(2);

  await play(page, "sing a song");
  await expect(page.locator("[data-decision='1']")).toContainText("Nothing happens.");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(decisions(page)).toHaveText("1 of 30 decisions");

  for (const [t, text] of walkthrough.entries()) {
    if (t === 0) continue;
    await play(page, text);
    await expect(page.locator(`[data-decision='${t}']`)).toContainText(game.turns[t + 1]!.feedback);
  }
  await expect(page.getByTestId("ending")).toHaveText(`● Won after ${LENGTH} decisions.`);
  await expect.poll(() => states(page)).toBe(new Set(game.turns.map(({ key }) => key)).size);

  // Another episode of the task joins where it visits the same states.
  await page.getByRole("button", { name: "Reset" }).click();
  await play(page, walkthrough[0]!);
  await expect(decisions(page)).toHaveText("1 of 30 decisions");
  await expect.poll(() => states(page)).toBe(new Set(game.turns.map(({ key }) => key)).size);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as records" }).click();
  const saved = (await readFile(await (await download).path(), "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(saved).toHaveLength(2);
  expect(saved[0]).toMatchObject({
    ...{ task, source: "played:1", origin: { kind: "human" } },
    outcome: { complete: true, success: true, verified: true },
  });
  expect(
    saved[0].decisions.map(({ action, feedback }: (typeof good.decisions)[0]) => [action, feedback]),
  ).toEqual(good.decisions.map(({ action, feedback }) => [action, feedback]));
  expect(saved[1].outcome).toMatchObject({ complete: false, verified: false });
  await page.getByRole("button", { name: "Open as a library" }).click();
  await expect(page).toHaveURL(/#\/library/);
  await expect(page.getByRole("button", { name: task })).toBeVisible();
});

test("a recorded visit is played on by hand, and records are verified by playing", async ({ page }) => {
  await visit(page);
  await dropFiles(page, LIBRARY);
  await page.getByRole("button", { name: task }).click();
  await page.getByRole("gridcell", { name: /^planner:16, visit 2/ }).click();
  await page.getByRole("button", { name: "Play on from here" }).click();
  await expect(page.getByTestId("waiting")).toContainText(task);
  await page.getByTestId("pick-games").last().setInputFiles([game.file]);
  await expect(page.getByTestId("played-from")).toContainText("Played on from decision 2 of planner:16");
  await expect(page.locator("[data-decision]")).toHaveCount(2);
  await expect(action(page)).toHaveValue(walkthrough[2]!);
  // Something else first, and then what the record did.
  await play(page, "inventory");
  for (const text of walkthrough.slice(2)) await play(page, text);
  await expect(page.getByTestId("ending")).toHaveText(
    `● Won after ${LENGTH + 1} decisions. planner:16, which it left at decision 2, succeeded after ${LENGTH} decisions.`,
  );

  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  // The altered record does not lead to its decision 3.
  await page.getByRole("gridcell", { name: /^planner:17, visit 3/ }).click();
  await page.keyboard.press("r");
  await expect(page.getByTestId("play-problem")).toHaveText(
    "planner:17 cannot be played on from here: the replay differs in decision 1: feedback.",
  );
  await expect(page.locator("[data-decision]")).toHaveCount(0);
  await expect(action(page)).toHaveValue("");
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Task" }).click();
  await page.getByText("Verify by playing").click();
  await page.getByRole("button", { name: "Verify all 2 records" }).click();
  await expect(page.getByTestId("verified")).toHaveText("1 verified, 1 differs, 0 not played");
  await expect(page.locator("[data-record='planner:16']")).toContainText(
    `Verified: ${LENGTH} decisions repeat`,
  );
  await expect(page.locator("[data-record='planner:17']")).toContainText("Differs: decision 1: feedback");
});

test("models play: the student a step, the teacher under the evidence of an open library", async ({
  page,
}) => {
  // Its fourth response: one for each of two steps, and then it plays on.
  await holdAt(page, { at: { call: "respond" }, occurrence: 4 });
  await visit(page);
  await dropFiles(page, LIBRARY);
  await page.getByRole("button", { name: task }).click();
  await page.keyboard.press("7");
  // A game that is dropped anywhere opens in the view that plays it.
  await page.keyboard.press("2");
  await dropFiles(page, [game.file]);
  await page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button").click();
  // A number may be empty while it is typed.
  await page.getByLabel("Longest response").focus();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("16");
  await page.keyboard.press("Home");
  await page.keyboard.press("Delete");
  await expect(page.getByLabel("Longest response")).toHaveValue("6");
  await page.getByRole("button", { name: "One step" }).click();
  // Whoever types meanwhile keeps the focus.
  await page.getByLabel("Filter").fill("made");
  await expect(page.locator("[data-decision='0']")).toContainText(/Decision 0, student, seed \d+/);
  await expect(action(page)).toBeEditable();
  await expect(page.getByLabel("Filter")).toBeFocused();
  // The model that decides is named, and another one can be opened in its place.
  await expect(page.getByTestId("model-student")).toContainText("the sample’s");
  await page.getByTestId("policy").selectOption("evidence");
  await expect(page.getByTestId("model-teacher")).toContainText("the sample’s");
  await page.getByRole("button", { name: "One step" }).click();
  await expect(page.locator("[data-decision='1']")).toContainText(/teacher under evidence, seed \d+/);
  await page.getByText("What the library gave the teacher for decision 1").click();
  await expect(page.locator(".evidence-shown")).toContainText("COMPLETE SOURCE ACTION/OBSERVATION EXECUTION");
  await expect(page.locator(".evidence-shown")).not.toContainText("STUDENT'S COMPLETE");
  // A model that plays on can be stopped; what it has decided stays.
  await page.getByTestId("policy").selectOption("student");
  await page.getByRole("button", { name: "Play on" }).click();
  await expect(page.locator("[data-decision='2']")).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByTestId("playing")).toHaveText("Temperature 0.4, the same as in an evaluation");
  await expect(page.locator("[data-decision]")).toHaveCount(3);
});

test("a shop: a search that is typed, a click that is chosen, the purchase that ends it", async ({
  page,
}) => {
  await visit(page, "#/play");
  await page.getByLabel("World").selectOption("webshop");
  await page.getByLabel("Products").fill("12");
  await page.getByRole("button", { name: "Make games" }).click();
  await page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button").first().click();
  await expect(action(page)).toBeFocused();
  await page.getByRole("button", { name: "Search…" }).click();
  await page.keyboard.type("lamp chair mug shoes bottle case boots]");
  await page.keyboard.press("Enter");
  await expect(decisions(page)).toHaveText("1 of 15 decisions");
  await expect(action(page)).toBeEditable();
  await expect(action(page)).toBeFocused();
  const options = page.getByRole("listbox", { name: "On offer" }).getByRole("option");
  await page.keyboard.type("click[made");
  await page.keyboard.press("ArrowDown");
  await expect(options.first()).toHaveText(/^click\[made\d{6}\]$/);
  await page.keyboard.press("Enter");
  await expect(decisions(page)).toHaveText("2 of 15 decisions");
  await play(page, "click[buy now]");
  await expect(page.getByTestId("ending")).toHaveText(
    /Won after 3 decisions\.|Lost after 3 decisions, with a score of [\d.]+\./,
  );
});

test("mini games have a field for their world", async ({ page }) => {
  await visit(page, "#/play");
  const form = page.getByRole("form", { name: "Make games" });
  const world = form.getByRole("spinbutton", { name: "Seed of the world" });
  const size = form.getByRole("combobox", { name: "Size" });
  await expect(size).toHaveValue("small");
  await expect(world).toHaveCount(0);
  await size.selectOption("mini");
  await world.fill("7");
  await form.getByRole("spinbutton", { name: "Games" }).fill("2");
  await page.getByRole("button", { name: "Make games" }).click();
  const games = page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button");
  await expect(games).toHaveText([/made\/mini\/world-7\//, /made\/mini\/world-7\//]);
  // The focus is on the first of what was made.
  await expect(games.first()).toBeFocused();
  await form.getByRole("spinbutton", { name: "First seed" }).fill("2");
  await page.getByRole("button", { name: "Make games" }).click();
  await expect(games).toHaveCount(4);
  await expect(games.nth(2)).toBeFocused();
  // A long name takes several lines, and no part of it is on two of them.
  const heights = await games
    .first()
    .locator("bdi")
    .evaluate((name) =>
      [...name.childNodes].map((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        return [...range.getClientRects()].map(({ y }) => y);
      }),
    );
  for (const each of heights) expect(new Set(each).size).toBeLessThan(2);
  expect(new Set(heights.flat()).size).toBeGreaterThan(1);
});

test("a worker without ScienceWorld: one line says what to do, wherever it could be played", async ({
  page,
}) => {
  const line = "start the worker with --simulator PATH";
  await openSample(page);
  await page.getByRole("button", { name: "melt|12|easy" }).click();
  await page.getByText("Verify by playing").click();
  await expect(page.getByText(line)).toBeVisible();
  await expect(page.getByRole("button", { name: "Play on from here" })).toHaveCount(0);
  await page.keyboard.press("7");
  await page.getByLabel("World").selectOption("scienceworld");
  await expect(page.getByTestId("no-simulator")).toContainText(line);
  await page.getByLabel("What to do with the games").selectOption("runs");
  await page.getByRole("combobox", { name: "Environment" }).selectOption("scienceworld");
  await expect(page.getByRole("form", { name: "A collection or an evaluation" })).toContainText(line);
});

test("whoever closes all games goes on from the head of their panel", async ({ page }) => {
  await visit(page, "#/play");
  await page.getByRole("button", { name: "Make games" }).press("Enter");
  await pressEnabled(page.getByRole("button", { name: "Close all games" }));
  await expect(page.getByRole("list", { name: "Tasks of the open games" })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Games", exact: true })).toBeFocused();
});
