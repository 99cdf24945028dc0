/** ScienceWorld on the worker, played from the page: the simulator is a stub that speaks py4j, so that no Java is needed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sourceSchema } from "../src/core/record/schema.ts";
import { fakeJavaVariables, makeFakeJava } from "../src/simulator/scienceworld/testing/fake-java.ts";
import { stubGateway } from "../src/simulator/scienceworld/testing/stub-gateway.ts";
import {
  test as base,
  expect,
  limitEpisodes,
  openSample,
  type Page,
  siteFixture,
  startWorker,
  visit,
} from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const test = base.extend<object, { site: { url: string } }>({
  site: siteFixture(async (folder) => {
    const gateway = await stubGateway();
    const variables = fakeJavaVariables(folder, gateway);
    Object.assign(process.env, variables);
    const starting = startWorker(join(folder, "data"), "--simulator", makeFakeJava(folder));
    // Only the worker has them.
    for (const name of Object.keys(variables)) delete process.env[name];
    const worker = await starting;
    return {
      url: worker.url,
      async stop() {
        await worker.stop();
        await gateway.close();
      },
    };
  }),
});

const action = (page: Page) => page.getByTestId("action");
const tasks = (page: Page) => page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button");

async function openTasks(page: Page, count: number): Promise<void> {
  await page.keyboard.press("7");
  await page.getByLabel("World").selectOption("scienceworld");
  await page.getByLabel("Variations per task").fill(String(count));
  await page.getByRole("button", { name: "Open tasks" }).click();
  await expect(tasks(page)).toHaveCount(count);
}

/** Types an action and plays it, once the one before it was answered. */
async function play(page: Page, text: string): Promise<void> {
  await expect(action(page)).toBeEditable();
  await expect(action(page)).toBeFocused();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

test("a task is played by hand; its record is verified, and played on from", async ({ page }) => {
  await visit(page);
  await openTasks(page, 2);
  await page.getByLabel("First variation").fill("6");
  await page.getByRole("combobox", { name: "Task", exact: true }).selectOption("tiny");
  await page.getByRole("button", { name: "Open tasks" }).click();
  await expect(tasks(page)).toHaveText(["tiny|0|easy", "tiny|1|easy", "tiny|6|easy"]);
  await tasks(page).nth(2).click();
  await expect(page.getByTestId("task-description")).toHaveText("Your task is to win.");

  // A template is chosen, then what stands in it.
  const options = page.getByRole("listbox", { name: "On offer" }).getByRole("option");
  await expect(options).toHaveText(["look at OBJ", "wait"]);
  await options.first().click();
  await expect(action(page)).toHaveValue("look at ");
  await expect(options).toHaveText(["look at door"]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.locator("[data-decision='0']")).toContainText("rejected");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByTestId("decisions")).toHaveText("0 of 30 decisions");

  await play(page, "menu");
  await expect(page.locator("[data-decision='0']")).toContainText("Ambiguous request");
  await expect(options).toHaveText(["0: look at a", "1: look at b"]);
  await options.first().click();
  await expect(page.locator("[data-decision='1']")).toContainText("binding");
  await play(page, "win");
  await expect(page.getByTestId("ending")).toHaveText("● Won after 3 decisions.");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as records" }).click();
  const saved: unknown = JSON.parse(await readFile(await (await download).path(), "utf8"));
  expect(saved).toMatchObject({
    ...{ environment: "scienceworld", task: "tiny|6|easy", origin: { kind: "human" } },
    decisions: [
      { action: "menu", score: 0 },
      { action: "0", binding: "look at a", status: "binding" },
      { action: "win", score: 100 },
    ],
    outcome: { complete: true, success: true, verified: true },
  });

  // A record's task needs not be opened.
  await page.getByRole("button", { name: "Close all games" }).click();
  await page.getByRole("button", { name: "Open as a library" }).click();
  await page.getByRole("button", { name: "tiny|6|easy" }).click();
  await page.getByText("Verify by playing").click();
  await page.getByRole("button", { name: "Verify all 1 record" }).click();
  await expect(page.getByTestId("verified")).toHaveText("1 verified, 0 differ, 0 not played");
  await page.getByRole("gridcell", { name: /^played:1, visit 2/ }).click();
  await page.getByRole("button", { name: "Play on from here" }).click();
  await expect(page.getByTestId("played-from")).toContainText("Played on from decision 2 of played:1");
  await expect(action(page)).toHaveValue("win");
  await expect(action(page)).toBeEditable();
  await action(page).press("Enter");
  await expect(page.getByTestId("ending")).toContainText("● Won after 3 decisions. played:1, which it left");
});

test("what is typed while an action is being answered stays in its field", async ({ page }) => {
  await visit(page);
  await openTasks(page, 1);
  await tasks(page).first().click();
  await expect(action(page)).toBeEditable();
  const options = page.getByRole("listbox", { name: "On offer" }).getByRole("option");
  for (const [decision, begin] of [
    async () => {
      await page.keyboard.type("menu");
      await page.keyboard.press("Enter");
    },
    () => options.first().click(),
  ].entries()) {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/api/simulator/sessions/*/step", async (route) => {
      await held;
      await route.continue();
    });
    await begin();
    await expect(action(page)).not.toBeEditable();
    // A control that is disabled loses the focus with the next frame.
    await page.evaluate(() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go))));
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await expect(page.getByTestId("decisions")).toHaveText(`${decision} of 30 decisions`);
    answer();
    await expect(page.getByTestId("decisions")).toHaveText(`${decision + 1} of 30 decisions`);
    await page.unrouteAll({ behavior: "wait" });
    await expect(action(page)).toBeEditable();
    await expect(action(page)).toHaveValue("");
  }
});

test("tasks that the simulator does not have are refused by name", async ({ page }) => {
  await visit(page);
  await openTasks(page, 1);
  for (const [task, line] of [
    ["boil|0|easy", 'boil|0|easy: ScienceWorld has no task "boil"'],
    ["tiny|7|easy", "tiny|7|easy: the variations of tiny are 0 to 6"],
  ] as const) {
    const buffer = Buffer.from(`tiny|3|easy\n${task}\n`);
    await page.getByTestId("task-list").setInputFiles([{ name: "dev.txt", mimeType: "text/plain", buffer }]);
    await expect(page.getByTestId("games-problem")).toContainText(line);
    await expect(tasks(page)).toHaveCount(1);
  }
});

test("a student collects there, with the simulator's own solution beside it", async ({ page }) => {
  await openSample(page);
  await openTasks(page, 3);
  await page.getByLabel("What to do with the games").selectOption("runs");
  await page.getByLabel("Task to run").selectOption("collect");
  await page.getByRole("combobox", { name: "Environment" }).selectOption("scienceworld");
  await page.getByLabel("Executions per task (K)").fill("1");
  await limitEpisodes(page, { decisions: 1, tokens: 2 });
  await expect(page.getByTestId("live-run-plan")).toHaveText("3 of 3 open tasks: 6 episodes");
  await page.getByRole("button", { name: "Collect", exact: true }).click();
  const run = page.getByTestId("live-run");
  await expect(run.getByRole("button", { name: "Save sources.jsonl" })).toBeVisible({ timeout: MODEL_TIME });
  const download = page.waitForEvent("download");
  await run.getByRole("button", { name: "Save sources.jsonl" }).click();
  const lines = (await readFile(await (await download).path(), "utf8")).trimEnd().split("\n");
  const records = lines.map((line) => sourceSchema.parse(JSON.parse(line)));
  expect(records.filter(({ source }) => source === "teacher:0")).toHaveLength(3);
  const plans = records.filter(({ source }) => source === "planner:1000000");
  expect(plans.map(({ task }) => task)).toEqual(["tiny|0|easy", "tiny|1|easy", "tiny|2|easy"]);
  expect(plans[0]).toMatchObject({ outcome: { success: true, verified: true } });
});

test("a run on policy plays there before its step", async ({ page }) => {
  await openSample(page);
  await openTasks(page, 3);
  await page.keyboard.press("4");
  await page.getByLabel("Responses").selectOption("live");
  await page.getByRole("combobox", { name: "Environment" }).selectOption("scienceworld");
  await limitEpisodes(page, { decisions: 1, tokens: 4 });
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await expect(page.getByTestId("plan")).toContainText("over 3 tasks, on policy");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: MODEL_TIME });
  await expect(page.getByTestId("run-detail")).toContainText("before the step: on policy");
});
