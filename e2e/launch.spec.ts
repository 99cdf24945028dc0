/** Runs on targets from the page: a target is added and checked, a run launched on it, followed, fetched and opened. */
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Locator, test } from "./base.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, type Page, pressEnabled, sampleHash, startWorker } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const detail = (page: Page) => page.getByTestId("run-detail");
const targets = (page: Page) => page.getByTestId("targets");

/** Adds a target with the keyboard alone. */
async function add(page: Page, name: string, fields: Readonly<Record<string, string>>): Promise<void> {
  await pressEnabled(targets(page).getByRole("button", { name: "Add a target…" }));
  const form = page.getByRole("form", { name: "Add a target" });
  const field = form.getByLabel("Name", { exact: true });
  await expect(field).toBeFocused();
  const paddingOf = (of: Locator): Promise<string> => of.evaluate((one) => getComputedStyle(one).padding);
  expect(await paddingOf(field)).toBe(await paddingOf(form.getByRole("combobox")));
  await page.keyboard.type(name);
  for (const [label, text] of Object.entries(fields))
    await form.getByLabel(label, { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

test("a run is set up, read as a script, launched, followed, fetched, and its student opened", async ({
  page,
}) => {
  const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
  const scratch = join(folder, "scratch");
  await mkdir(scratch);
  const { url, stop } = await startWorker(join(folder, "data"));
  try {
    await page.goto(url);
    await dropFiles(page, OWN_FILES);
    await page.getByRole("button", { name: TASK }).click();
    await decisionShown(page, 0);
    await page.keyboard.press("6");
    await add(page, "here", { "Scratch folder": "relative" });
    await expect(targets(page).getByRole("alert")).toHaveText(/^scratch: expected an absolute path/);
    await page.getByRole("form", { name: "Add a target" }).getByLabel("Scratch folder").fill(scratch);
    await page.keyboard.press("Enter");
    await expect(targets(page).getByRole("button", { name: "Check: here" })).toBeVisible();
    // The form is gone, and the focus goes back to where it was opened.
    await expect(targets(page).getByRole("button", { name: "Add a target…" })).toBeFocused();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/targets", async (route) => {
      await held;
      await route.continue();
    });
    await add(page, "there", { "Scratch folder": join(folder, "elsewhere") });
    const check = targets(page).getByRole("button", { name: "Check: here" });
    await check.focus();
    release();
    await expect(targets(page).getByRole("button", { name: "Check: there" })).toBeVisible();
    // Whoever goes on while a target is being saved keeps the focus there.
    await expect(targets(page).getByRole("button", { name: "Add a target…" })).toBeVisible();
    await expect(check).toBeFocused();
    await pressEnabled(check);
    await expect(page.getByTestId("check-steps")).toContainText("A run can be launched.");

    await targets(page).getByRole("button", { name: "Set up a run on here" }).click();
    await expect(page.getByRole("radio", { name: /target here: this machine/ })).toBeChecked();
    await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
    await page.getByLabel("Vanilla passes").fill("1");
    await page.getByLabel("Graph-conditioned passes").fill("0");
    await page.getByRole("button", { name: "Estimate the cost" }).click();
    const plan = page.getByTestId("launch-plan");
    await expect(plan).toContainText(/The teacher reads[\d,]+ tokens/, { timeout: MODEL_TIME });
    await expect(plan).toContainText("Timenot known until these models have taken a step there");
    await expect(plan).toContainText("GPU-hoursnot known: the target does not say how many GPUs it has");
    await page.getByRole("button", { name: "Measure on the target" }).click();
    await expect(plan).toContainText(/Time.*by a probe on the target/, { timeout: MODEL_TIME });
    await expect(plan).toContainText(/Measured on the target, .* UTC, on/);
    expect(await readdir(scratch)).toEqual([]);
    await page.getByTestId("launch-script").locator("summary").click();
    await expect(page.getByTestId("launch-script").locator("pre")).toContainText(
      /train --config config\.json --out out --progress json/,
    );

    await page.getByLabel("Name of the run").fill("one vanilla step");
    // A third of a millisecond: its budget ends it before the first step. It goes on at another target, with more.
    await page.getByText("All settings", { exact: true }).click();
    await page.getByLabel("budget", { exact: true }).check();
    await page.getByLabel("budget.hours", { exact: true }).fill("1e-7");
    await page.getByRole("button", { name: "Launch on here" }).click();
    await expect(page.getByTestId("launched")).toContainText("attempt 1: ended by its budget", {
      timeout: MODEL_TIME,
    });
    await expect(detail(page)).toContainText("▢ stopped · step 0 of 1");
    await expect(detail(page)).toContainText(
      /after step 0: ended by its budget: \S+ of 1e-7 hours are spent/,
    );
    await detail(page).getByLabel("Target").selectOption("there");
    await detail(page).getByLabel("Hours in all attempts").fill("1000");
    await detail(page).getByRole("button", { name: "Resume on there" }).click();
    await expect(detail(page)).toContainText("✓ done · step 1 of 1", { timeout: MODEL_TIME });
    await expect(detail(page).getByRole("heading", { name: "one vanilla step" })).toBeVisible();
    await detail(page).getByRole("button", { name: "Rename…" }).click();
    await detail(page).getByLabel("Name of the run").fill("first step");
    await page.keyboard.press("Enter");
    await expect(detail(page).getByRole("heading", { name: "first step" })).toBeVisible();
    await expect(page.getByTestId("launched")).toContainText("Target there, attempt 2: done, begun");
    await page.getByRole("button", { name: "Fetch results" }).click();
    await expect(page.getByTestId("launched")).toContainText("students and files are below", {
      timeout: MODEL_TIME,
    });
    await page.getByTestId("run-students").locator("summary").click();
    await page.getByRole("button", { name: "Open this student, at its end" }).click();
    await expect(page.getByTestId("model-student")).toContainText(/\d{8}-\d{6}-[0-9a-f]{6} at its end/);

    // It is the command line's run, too, and is there after a reload.
    const [id] = /\d{8}-\d{6}-[0-9a-f]{6}/.exec((await page.getByTestId("launched").textContent())!)!;
    const kept: unknown = JSON.parse(
      await readFile(join(folder, "data", "launched", id, "run.json"), "utf8"),
    );
    expect(kept).toMatchObject({
      run: { folder: join(folder, "elsewhere", "gcopd-runs", `${id}-2`) },
      last: { state: "ended" },
    });
    await page.goto(`${url}#/runs?run=${id}`);
    await page.reload();
    await expect(detail(page)).toContainText("✓ done · step 1 of 1");
    await expect(page.getByTestId("run-list").getByRole("row", { name: id })).toContainText("first step");
    await expect(page.getByTestId("run-list").getByRole("row", { name: id })).toContainText("target there");
  } finally {
    await stop();
    await rm(folder, { recursive: true, force: true });
  }
});

test("a check says what a target lacks and what to do; a launch that fails keeps its run", async ({
  page,
}) => {
  const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
  const { url, stop } = await startWorker(join(folder, "data"));
  try {
    await page.goto(`${url}#/runs`);
    await add(page, "bare", {
      "Scratch folder": join(folder, "scratch"),
      "gcopd command": "no-such-gcopd",
      "Models (NAME=/PATH)": "big=/none/big",
    });
    await targets(page).getByRole("button", { name: "Check: bare" }).click();
    const steps = page.getByTestId("check-steps");
    await expect(steps).toContainText(/2 of \d+ steps cannot be passed yet/);
    await expect(steps.getByRole("row", { name: /^gcopd ✕ missing/ })).toContainText(
      "install gcopd there and name its command",
    );
    await expect(steps.getByRole("row", { name: /^model big ✕ missing/ })).toContainText(
      "there is no config.json in /none/big",
    );
    await expect(steps.getByRole("row", { name: /^scratch ✓ passed/ })).toBeVisible();

    await page.goto(`${url}${sampleHash("training", "lifespan-shortest-lived|51|easy", { decision: 0 })}`);
    await page.getByRole("radio", { name: /target bare/ }).check();
    await page.getByLabel("Train on").selectOption("library");
    await page.getByLabel("Teacher (folder").fill("http://127.0.0.1:9");
    await page.getByLabel("Teacher’s folder, to calibrate").fill("target:big");
    await expect(page.getByLabel("Address of that server")).toHaveCount(0);
    await page.getByLabel("A server trains the student").check();
    await page.getByLabel("Address of that server").fill("http://127.0.0.1:8");
    await page.getByLabel("LoRA rank (0: all weights)").fill("8");
    await page.getByTestId("config").locator("summary").click();
    for (const line of [
      '"teacher": "http://127.0.0.1:9"',
      '"calibrate_with": "target:big"',
      /"tinker": \{\s*"url": "http:\/\/127\.0\.0\.1:8",\s*"lora_rank": 8\s*\}/,
    ])
      await expect(page.getByTestId("config")).toContainText(line);
    await page.getByLabel("A server trains the student").uncheck();
    await page.getByLabel("Teacher’s folder, to calibrate").fill("");
    await page.getByLabel("Teacher (folder").fill("target:big");
    await expect(page.getByTestId("worker-cost")).toContainText("Files on the target cannot be read here");
    await page.getByRole("button", { name: "Launch on bare" }).click();
    await expect(page.getByTestId("launched").getByRole("alert")).toContainText(
      "teacher: /none/big is neither here nor on target bare",
    );
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: /^Remove/ }).click();
    await expect(page.getByTestId("launched")).toHaveCount(0);
  } finally {
    await stop();
    await rm(folder, { recursive: true, force: true });
  }
});
