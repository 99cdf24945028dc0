import { readFile } from "node:fs/promises";
import { holdAt, withCores } from "./compute-worker.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import {
  decisionShown,
  expect,
  limitEpisodes,
  openTrainingForm,
  type Page,
  pressEnabled,
  testWithWorker as test,
  visit,
} from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

async function openForm(page: Page): Promise<void> {
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("u");
  await expect(page.getByRole("heading", { name: "Update the student" })).toBeVisible();
}

/** More passes than any machine is through with before a test is. */
const ENDLESS = 900;

const detail = (page: Page) => page.getByTestId("run-detail");

test("the same job here and on the worker: watched, compared, exported, and there after a reload", async ({
  page,
}) => {
  await visit(page);
  await openForm(page);
  await expect(page.getByTestId("cost")).toContainText("the teacher reads");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Vanilla passes").fill("2");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(detail(page)).toContainText("Done: 2 steps", { timeout: MODEL_TIME });
  await page.getByTestId("batch").locator("summary").click();
  await expect(page.getByTestId("batch").getByRole("columnheader", { name: "ratio ρ" })).toBeVisible();

  // The same student again, as it was before the run.
  await page.getByRole("button", { name: "Revert to the loaded student" }).click();
  await expect(page.getByTestId("model-student")).toContainText("the sample’s");
  await openTrainingForm(page);
  // Errors stand at their field, and nothing starts.
  await page.getByRole("radio", { name: /the worker/ }).check();
  await page.getByLabel("Teacher (folder").fill("hub:");
  await page.getByLabel("Episodes per step").fill("0");
  await expect(page.getByText(/^expected .*1/).first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Start on the worker" })).toBeDisabled();
  await page.getByLabel("Episodes per step").fill("4");
  await page.getByLabel("Teacher (folder").fill("");
  await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
  await page.getByTestId("config").locator("summary").click();
  const command = await page.getByTestId("config").locator("pre").last().textContent();
  expect(command).toMatch(/^gcopd train --config \S+\/config\.json --out \S+\/out --progress json$/);
  await page.getByRole("button", { name: "Estimate the cost" }).click();
  await expect(page.getByTestId("worker-cost")).toContainText("2 steps; memory about", {
    timeout: MODEL_TIME,
  });
  await page.getByRole("button", { name: "Start on the worker" }).click();
  // Not the page's run any more, which is done: only one of the worker has a command.
  await expect(detail(page).getByText("Command", { exact: true })).toBeVisible();
  await expect(detail(page)).toContainText("✓ done · step 2 of 2", { timeout: MODEL_TIME });
  await page.getByTestId("batch").locator("summary").click();
  await expect(page.getByTestId("batch").getByRole("columnheader", { name: "ratio ρ" })).toBeVisible();

  await page.keyboard.press("6");
  const list = page.getByTestId("run-list");
  await expect(list.getByRole("checkbox")).toHaveCount(2);
  for (const box of await list.getByRole("checkbox").all()) await box.check();
  const losses = page.getByRole("img", { name: /^Loss/ });
  // Both places compute the same steps; the last ones of the worker's may come in a little later than its end.
  await expect(async () => {
    const [, a, b] = /#1 (−?\d\S*), #2 (−?\d\S*)/.exec((await losses.getAttribute("aria-label"))!) ?? [];
    expect(Number(a?.replace("−", "-"))).toBeCloseTo(Number(b?.replace("−", "-")), 3);
  }).toPass();
  await page.getByRole("slider", { name: /Read at step/ }).fill("1");
  await expect(losses).toHaveAttribute("aria-label", /at step 1: #1/);
  // The pointer reads a step in all charts; where it leaves them, the last one is read.
  const crosshairs = page.locator(".run-crosshair");
  const { width } = (await losses.boundingBox())!;
  await losses.hover({ position: { x: width - 20, y: 60 } });
  await expect(losses).toHaveAttribute("aria-label", /at step 2: #1/);
  await expect(crosshairs).toHaveCount(await page.locator("svg[data-figure]").count());
  await page.getByRole("heading", { name: "Runs", exact: true }).hover();
  await expect(losses).toHaveAttribute("aria-label", /at the last step: #1/);
  await expect(crosshairs).toHaveCount(0);

  // Each has a name of the user's, kept where the run is.
  const rename = async (where: string, name: string) => {
    const row = list.getByRole("row", { name: where });
    await row.getByRole("link").click();
    await expect(row).toHaveAttribute("aria-current", "true");
    const button = detail(page).getByRole("button", { name: "Rename…" });
    await button.click();
    await page.keyboard.press("Escape");
    await expect(button).toBeFocused();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Name of the run" }).fill(name);
    await page.keyboard.press("Enter");
    await expect(list.getByRole("link", { name, exact: true })).toBeVisible();
  };
  await rename("this page", "here");
  await rename("worker", "there");
  await page.keyboard.press("z");
  await expect(list.getByRole("link", { name: "there", exact: true })).toHaveCount(0);
  await rename("worker", "there, again");

  await page.reload();
  await expect(list.getByRole("link", { name: "here", exact: true })).toBeVisible();
  await expect(list.getByRole("link", { name: "there, again" })).toBeVisible();
  await expect(losses).toHaveAttribute("aria-label", /#1 −?\d.*, #2 −?\d/);
  await expect(list.getByRole("row")).toHaveCount(3);
  const saved = async (name: string) => {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name }).first().click();
    return (await readFile(await (await download).path())).toString();
  };
  const csv = (await saved("CSV")).trim().split("\n");
  expect(csv).toHaveLength(5);
  expect(
    csv.filter((line) => line.includes(",here,page,") || line.includes(',"there, again",worker,')),
  ).toHaveLength(4);
  await page.getByLabel("Save “Curves”", { exact: true }).click();
  const picture = await saved("Save “Curves” as SVG");
  expect(picture).toMatch(/^<svg [\s\S]*>Training runs<[\s\S]*>Loss, Eq\. \(9\): #1 −?[\d.]+, #2 −?[\d.]+</);
  // Styles are in the file: it stands alone, on white, with a curve a run in each chart and in the legend.
  expect(picture).not.toContain("class=");
  expect(picture.match(/stroke-dasharray="6px, 3px"/g)?.length ?? 0).toBeGreaterThan(1);
  expect(await saved("Events (JSONL)")).toContain('"type":"updated"');
});

test("a run on the worker is stopped after its step, goes on, and is cancelled", async ({ page }) => {
  await visit(page);
  await openForm(page);
  await page.getByRole("radio", { name: /the worker/ }).check();
  await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
  await page.getByLabel("Vanilla passes").fill(String(ENDLESS));
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await expect(detail(page)).toContainText(new RegExp(`▶ running · step [1-9]\\d* of ${ENDLESS + 1}`), {
    timeout: MODEL_TIME,
  });
  await detail(page).getByRole("button", { name: "Stop after this step" }).click();
  await expect(detail(page)).toContainText("▢ stopped", { timeout: MODEL_TIME });
  await page.reload();
  await page.keyboard.press("6");
  const row = page
    .getByTestId("run-list")
    .getByRole("row", { name: /stopped/ })
    .first();
  await row.getByRole("link").click();
  await detail(page).getByLabel("Memory limit, GiB").fill("4");
  await detail(page).getByLabel("Hours in all attempts").fill("1000");
  await detail(page).getByRole("button", { name: "Resume with these limits" }).click();
  await expect(detail(page)).toContainText(/went on after step \d+/, { timeout: MODEL_TIME });
  await detail(page).getByText("Command", { exact: true }).click();
  await expect(detail(page)).toContainText("--memory-limit 4 --hours 1000");
  await detail(page).getByText("Log", { exact: true }).click();
  await detail(page).getByRole("button", { name: "Cancel at once" }).click();
  // It may be through with its step by then.
  await expect(detail(page)).toContainText(/▢ (cancelled|stopped)/, { timeout: MODEL_TIME });

  // Its checkpoints are models: one becomes the page's student, tokenizer and all.
  await page.getByTestId("run-students").locator("summary").click();
  const checkpoint = page.getByRole("button", { name: /^Open this student, after step \d+$/ }).first();
  const step = /\d+$/.exec((await checkpoint.getAttribute("aria-label"))!)![0];
  await checkpoint.click();
  await expect(page.getByTestId("notice")).toContainText(`after step ${step}`);
  await page.keyboard.press("4");
  await expect(page.getByTestId("model-student")).toContainText(`your own (${step} step`);
});

test("a run that measures its student: the curve, each evaluation, and the best student to open", async ({
  page,
}) => {
  await visit(page);
  await openForm(page);
  await page.getByLabel("Vanilla passes").fill("2");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Evaluate the student").check();
  await page.getByLabel("Steps between evaluations").fill("1");
  await page.getByLabel("Seeds").fill("0, 1");
  await page.getByLabel("Number to make").fill("2");
  await limitEpisodes(page, { decisions: 2, tokens: 8 });
  await page.getByRole("button", { name: "Update" }).click();
  await expect(detail(page)).toContainText("Done: 2 steps", { timeout: MODEL_TIME });

  const chart = page.getByRole("img", { name: /^Success rate on the evaluation’s tasks/ });
  await expect(chart).toHaveAccessibleName(/ at the last step: 0\.0 ± 0\.0$/);
  await expect(chart.locator(".point")).toHaveCount(3);
  // Neither task was won: there is nothing that an interval could come from.
  await expect(chart.locator(".bar")).toHaveCount(0);
  await detail(page).getByText("Evaluations", { exact: true }).click();
  const evaluations = page.getByTestId("run-evaluations");
  await expect(evaluations).toContainText("2 tasks × 2 seeds");
  await expect(evaluations.getByRole("rowheader")).toHaveText(["0 best", "1", "2"]);
  await page.getByTestId("run-students").locator("summary").click();
  await expect(page.getByTestId("run-students").getByRole("listitem")).toContainText([
    "after step 2 success rate 0.0 ± 0.0 %",
    "after step 1 success rate 0.0 ± 0.0 %",
  ]);
});

test("a press of Start answers at once and counts once; the same config again is asked about", async ({
  page,
}) => {
  await visit(page);
  await openForm(page);
  await page.getByRole("radio", { name: /the worker/ }).check();
  await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
  await page.getByLabel("Vanilla passes").fill("1");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.keyboard.press("Tab");
  // The worker takes as long as the test wants it to.
  const submitted: (() => void)[] = [];
  await page.route("**/api/jobs", async (route) => {
    if (route.request().method() === "POST")
      await new Promise<void>((letGo) => {
        submitted.push(letGo);
      });
    await route.continue();
  });
  /** Lets that one go on, once it has come. */
  const letGo = async (n: number): Promise<void> => {
    await expect.poll(() => submitted.length).toBe(n);
    submitted[n - 1]!();
  };
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await expect(page.getByRole("button", { name: /^Starting…/ })).toBeDisabled();
  await expect(page.getByTestId("sending")).toContainText("Submitting");
  await noteTexts(page, "hint");
  await page.keyboard.press("u");
  await expectSeen(page, "hint", /a run is being sent/);
  await letGo(1);
  await expect(detail(page)).toContainText("✓ done · step 1 of 1", { timeout: MODEL_TIME });
  expect(submitted).toHaveLength(1);

  await openTrainingForm(page);
  const asked = page.waitForEvent("dialog");
  const press = page.getByRole("button", { name: "Start on the worker" }).click();
  const dialog = await asked;
  expect(dialog.message()).toMatch(
    /a run of exactly this config: .*, train-[0-9a-f]{12}, done\. Start it once more\?/,
  );
  await dialog.dismiss();
  await press;
  await expect(page.getByTestId("sending")).toHaveCount(0);
  expect(submitted).toHaveLength(1);

  // Another config is not asked about.
  await page.getByLabel("Vanilla passes").fill("2");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await expect(page.getByTestId("sending")).toContainText("Submitting");
  await letGo(2);
  await expect(detail(page)).toContainText("✓ done · step 2 of 2", { timeout: MODEL_TIME });
  expect(submitted).toHaveLength(2);
});

/** Replaces the weights of the newest checkpoint that the browser keeps by as many other bytes. */
const damageNewest = (page: Page) =>
  page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open("gcopd-runs"));
    const store = database.transaction("checkpoints").objectStore("checkpoints");
    const kept: { id: string; files: Map<string, { origin: string }> }[] = await done(store.getAll());
    const { origin } = kept.at(-1)!.files.get("model.safetensors")!;
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("kept-files");
    const file = await folder.getFileHandle(origin);
    const { size } = await file.getFile();
    const writable = await file.createWritable();
    await writable.write(new Uint8Array(size));
    await writable.close();
    database.close();
    return kept.map(({ id }) => id.split("/")[1]);
  });

/** Large files that the browser keeps for the page. */
const keptFiles = (page: Page) =>
  page.evaluate(async () => {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("kept-files");
    const names: string[] = [];
    for await (const { name } of folder.values()) names.push(name);
    return names.length;
  });

test("a run of the page goes on after a reload, from the last checkpoint that is whole", async ({ page }) => {
  const digests = await withCores(page, { page: 1, worker: 4 });
  await holdAt(page, { at: { step: 3 } });
  await visit(page);
  await openForm(page);
  await page.getByLabel("Vanilla passes").fill("4");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(detail(page)).toContainText("step 3 of 5", { timeout: MODEL_TIME });
  await visit(page);
  await openForm(page);
  await page.keyboard.press("6");
  const row = page.getByTestId("run-list").getByRole("row", { name: /lost/ });
  await expect(row).toContainText("it can go on from its last checkpoint");
  expect(await damageNewest(page)).toEqual(["00000001", "00000002"]);
  await row.getByRole("link").click();
  await row.getByRole("button", { name: "Resume" }).click();
  await expect(detail(page)).toContainText("✓ done · step 5 of 5", { timeout: MODEL_TIME });
  await expect(detail(page)).toContainText("went on after step 1");
  await expect(detail(page)).toContainText(
    "step 2 is damaged (model.safetensors does not have the SHA-256 that it was written with): went on from the one before",
  );
  // Of the damaged weights, and of the weights and moments of step 1 and of the four steps since.
  await expect.poll(digests).toBe(11);
  // Weights and moments of the last checkpoint and the one before. The student of a removed run is here until the page goes.
  expect(await keptFiles(page)).toBe(4);
  page.once("dialog", (asked) => asked.accept());
  await detail(page)
    .getByRole("button", { name: /^Remove/ })
    .click();
  await expect.poll(() => keptFiles(page)).toBe(2);
  // The pages that follow go before their workers' scripts have come.
  await page.unrouteAll();
  // A page that starts removes what is left, once the one before has let go of it.
  await expect
    .poll(async () => {
      await visit(page);
      return keptFiles(page);
    })
    .toBe(0);
});

test("the header of every view shows what is running, and can end it", async ({ page }) => {
  await visit(page);
  await openForm(page);
  await page.getByLabel("Vanilla passes").fill("900");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  // The form makes room when the run begins, a little after the press.
  await expect(detail(page)).toBeVisible({ timeout: MODEL_TIME });
  await openTrainingForm(page);
  await page.getByRole("radio", { name: /the worker/ }).check();
  await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await page.keyboard.press("1");
  const atWork = page.getByTestId("at-work");
  await expect(atWork.locator("summary")).toContainText("2 running");
  await atWork.locator("summary").focus();
  await page.keyboard.press("Enter");
  const here = atWork.getByRole("listitem").filter({ hasText: "Training: step" });
  const there = atWork.getByRole("listitem").filter({ hasText: /, on the worker/ });
  await expect(there).toContainText(/running, step [1-9]\d* of 901/, { timeout: MODEL_TIME });
  await there.getByRole("button", { name: "Stop after its step" }).click();
  await expect(there).toHaveCount(0);
  await expect(here.getByRole("progressbar")).toHaveAttribute("max", "901");
  await here.getByRole("button", { name: "Stop after this step" }).click();
  await expect(atWork).toHaveCount(0, { timeout: MODEL_TIME });
  await page.keyboard.press("6");
  await expect(page.getByTestId("run-list").getByRole("row", { name: /this page/ })).toContainText(
    "▢ stopped",
  );
});

test("a run has one tab: the others follow it, end it, and go on with it only when that tab is gone", async ({
  page,
  context,
}) => {
  await visit(page);
  await openForm(page);
  await page.getByLabel("Vanilla passes").fill("900");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(detail(page)).toContainText(/step [1-9]\d* of 901/, { timeout: MODEL_TIME });

  const other = await context.newPage();
  await visit(other);
  await openForm(other);
  await other.keyboard.press("6");
  const run = other.getByTestId("run-list").getByRole("row", { name: /this page/ });
  await expect(run).toContainText("▶ running · in another tab");
  await expect(run.getByRole("button", { name: "Resume" })).toHaveCount(0);
  await expect(run.getByRole("button", { name: "Remove" })).toHaveCount(0);
  // Its steps come as they are taken.
  const step = async () => Number(/(\d+) of 901/.exec((await run.textContent())!)?.[1]);
  const then = await step();
  await expect.poll(step, { timeout: MODEL_TIME }).toBeGreaterThan(then);

  await run.getByRole("button", { name: "Stop after this step" }).click();
  await expect(page.getByTestId("run-message")).toContainText(/Stopped after \d+ of 901 steps/, {
    timeout: MODEL_TIME,
  });
  await expect(run).toContainText("▢ stopped");
  // It is free, and goes on here; now the first tab follows.
  await run.getByRole("button", { name: "Resume" }).click();
  await expect(detail(page)).toContainText("▶ running · in another tab", { timeout: MODEL_TIME });
  await expect(detail(page)).toContainText(/went on after step \d+/, { timeout: MODEL_TIME });
  await expect(detail(page).getByRole("button", { name: "Resume" })).toHaveCount(0);
  const taken = async () => Number(/step (\d+) of 901/.exec((await detail(page).textContent())!)?.[1]);
  const before = await taken();
  await expect.poll(taken, { timeout: MODEL_TIME }).toBeGreaterThan(before);

  await other.close();
  await expect(detail(page)).toContainText("? lost");
  await expect(detail(page)).toContainText("it can go on from its last checkpoint");
  await pressEnabled(detail(page).getByRole("button", { name: "Resume" }));
  await expect(page.getByTestId("running")).toContainText(/Step \d+ of 901/, { timeout: MODEL_TIME });
  // A second press of the key does nothing: neither does it stop the run, nor cancel one that is being stopped.
  const buttons = detail(page).getByRole("group", { name: /^Run / });
  await expect(buttons).toBeFocused();
  // The other tab has it for a moment yet.
  const stop = buttons.getByRole("button", { name: "Stop after this step" });
  await expect(stop).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(stop).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await expect(detail(page)).toContainText(/Stopped after \d+ of 901 steps/, { timeout: MODEL_TIME });
  await expect(buttons).toBeFocused();
  await detail(page).getByRole("button", { name: "Resume" }).click();
  await expect(page.getByTestId("running")).toContainText(/Step \d+ of 901/, { timeout: MODEL_TIME });
  await detail(page).getByRole("button", { name: "Cancel at once" }).click();
  await expect(detail(page)).toContainText(/Cancelled\.|Stopped after \d+ of 901 steps/, {
    timeout: MODEL_TIME,
  });
});

test("an address of a run that is not there says so once all runs are read, and nothing in red before", async ({
  page,
}) => {
  // The worker takes as long as the test wants it to.
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/api/jobs?*", async (route) => {
    await answered;
    await route.continue();
  });
  // By then all else is known of it.
  const asked = page.waitForRequest("**/api/jobs?*");
  await visit(page, "#/runs?run=train-000000000000&runs=x");
  await asked;
  await expect(page.getByText("Reading the runs…")).toBeVisible();
  await expect(page.getByText("Asking the worker…")).toBeVisible();
  await expect(page.getByTestId("run-missing")).toHaveCount(0);
  await expect(page.locator(".error, .fault, main [role=alert]")).toHaveCount(0);
  answer();
  await expect(page.getByTestId("run-missing")).toContainText("There is no run train-000000000000 here");
  await expect(page.getByText("“runs=x” in the link")).toBeVisible();
});
