import { readFile } from "node:fs/promises";
import { unzipSync } from "fflate";
import { holdAt, withCores } from "./compute-worker.ts";
import { dropFiles, EPISODES, jsonLines, OWN_FILES, TASK, upload } from "./own-files.ts";
import { expectSeen, noteTexts, textsSeen } from "./seen.ts";
import {
  decisionShown,
  expect,
  limitEpisodes,
  openTrainingForm,
  type Page,
  sampleHash,
  test,
  visit,
} from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

async function openOwn(page: Page, files = OWN_FILES): Promise<void> {
  await visit(page);
  await dropFiles(page, files);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("u");
  await expect(page.getByRole("heading", { name: "Update the student" })).toBeVisible();
}

/** The response's log p before and after, as the view prints them. */
async function watched(page: Page): Promise<{ before: number; after: number }> {
  const text = (await page.getByTestId("watched").locator("p").textContent())!.replaceAll("−", "-");
  const [, before, after] = /log p of the response (-[\d.]+) before, (-[\d.]+) after/.exec(text)!;
  return { before: Number(before), after: Number(after) };
}

async function update(page: Page): Promise<void> {
  await noteTexts(page, "running");
  await page.keyboard.press("u");
  await expectSeen(page, "running", /Step 1 of/);
  await expect(page.getByTestId("run-message")).toBeVisible({ timeout: MODEL_TIME });
}

test("updates the student, saves it, opens it again and goes back", async ({ page }) => {
  await openOwn(page);
  const plan = page.getByTestId("plan");
  await expect(plan).toHaveText(
    "1 vanilla step, then 1 graph-conditioned, over 1 episode, off-policy after step 1; method: gc-opd",
  );
  const [preset, augmentation] = [page.getByLabel("Preset"), page.getByLabel("Augmentation")];
  await expect(page.getByLabel("Sources per task (K)")).toHaveAttribute("placeholder", "16");
  await expect(augmentation).not.toBeChecked();
  await preset.selectOption("gc-opd+ga");
  await expect(augmentation).toBeChecked();
  await expect(plan).toContainText(/; method: gc-opd\+ga$/);
  await augmentation.uncheck();
  await expect(plan).toContainText("method: gc-opd+ga, changed: without planner and oracle records");
  await expect(preset.locator("option:checked")).toHaveText("custom");
  await preset.selectOption("gc-opd");
  await page.getByLabel("Learning rate").fill("1e-3");
  // In the field the key u is a letter.
  await page.getByLabel("Learning rate").blur();
  await update(page);
  await expect(page.getByTestId("run-message")).toContainText("Done: 2 steps.");
  await expect(page.getByTestId("run-detail")).not.toContainText("step 2 of 2");
  // The card says it in its note; what goes on in the run says nothing twice.
  await expect(page.getByTestId("run-detail")).toContainText("recorded responses: off-policy after step 1.");
  expect((await textsSeen(page, "running")).filter((text) => text.includes("policy"))).toEqual([]);
  const { before, after } = await watched(page);
  expect(after).not.toBe(before);
  for (const folded of await page.getByTestId("folded-chart").all()) await folded.locator("summary").click();
  for (const title of ["Loss", "Gradient norm", "Σ w A log p", "clipped", "KL to the rollout", "advantage"]) {
    await expect(
      page.getByRole("img", { name: new RegExp(`${title}.* at the last step: [−\\d]`) }),
    ).toBeVisible();
  }
  await expect(page.getByLabel("Measured on")).toContainText("WebGPU");
  const student = page.getByTestId("model-student");
  await expect(student).toContainText("updated here (2 steps)");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as .zip" }).click();
  const archive = await readFile(await (await download).path());
  const files = unzipSync(archive);
  expect(Object.keys(files).sort()).toEqual(
    ["config.json", "gcopd-runs.jsonl", "model.safetensors", "tokenizer.json", "tokenizer_config.json"].map(
      (name) => `student/${name}`,
    ),
  );

  // Another run would go on from the trained student, and its form says so.
  const said =
    "Starts from the student that was trained here (2 optimizer steps), not from the one that was opened.";
  await expect(page.getByText(said)).toBeVisible();
  await openTrainingForm(page);
  await expect(page.getByTestId("starts-from")).toContainText(said);
  await page.getByRole("button", { name: "Start from the opened one" }).click();
  await expect(student).toContainText("the sample’s");
  await expect(page.getByTestId("starts-from")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Update u" })).toBeFocused();
  await page.getByLabel("Learning rate").fill("0");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Graph-conditioned passes").blur();
  await update(page);
  const reverted = await watched(page);
  // Reverted is as it was, and learning rate 0 changes nothing.
  expect(reverted.before).toBeCloseTo(before, 2);
  expect(reverted.after).toBeCloseTo(reverted.before, 3);

  await page.getByTestId("pick-student-zip").setInputFiles([upload("student.zip", archive)]);
  await expect(student).toContainText("your own");
  await update(page);
  expect((await watched(page)).before, "the saved student is the updated one").toBeCloseTo(after, 2);
});

test("a probe tells the time before the start, and the student stays as it is", async ({ page }) => {
  await openOwn(page);
  await page.getByLabel("Learning rate").fill("1e-2");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Graph-conditioned passes").blur();
  const cost = page.getByTestId("cost");
  await expect(cost).toContainText("Time: not known until these models have taken a step or a probe here");
  await page.getByRole("button", { name: "Probe the time" }).click();
  await expect(cost).toContainText(
    /Time: .* by a probe: the teacher read \d.* tokens in .*; the student took a step on \d/,
    { timeout: MODEL_TIME },
  );
  await expect(page.getByTestId("model-student")).toContainText("the sample’s");
  // It is of this config and no other.
  await page.getByLabel("Vanilla passes").fill("3");
  await expect(cost).not.toContainText("by a probe");
  await page.getByLabel("Vanilla passes").fill("1");
  await page.getByLabel("Vanilla passes").blur();
  await expect(cost).toContainText("by a probe");
  await update(page);
  const probed = await watched(page);
  // A student that was never probed begins at the same log p.
  await openOwn(page);
  await page.getByRole("button", { name: "Revert to the loaded student" }).click();
  await expect(page.getByTestId("model-student")).toContainText("the sample’s");
  await page.getByLabel("Learning rate").fill("0");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Graph-conditioned passes").blur();
  await update(page);
  expect((await watched(page)).before).toBeCloseTo(probed.before, 2);
});

/** One vanilla pass over the episode, played again: the tiny student writes no action in four tokens. */
async function playAnew(page: Page): Promise<void> {
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Responses").selectOption("sample");
  await limitEpisodes(page, { decisions: 1, tokens: 4 });
  await page.keyboard.press("Tab");
}

test("a run whose episodes all break off says so, and its student stays as it was", async ({ page }) => {
  await openOwn(page);
  await playAnew(page);
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText(
    "no step was taken: every episode of the only batch ended for technical reasons",
    { timeout: MODEL_TIME },
  );
  await page.keyboard.press("6");
  await expect(page.getByTestId("run-detail")).toContainText(
    "1 episode ended for technical reasons and is not part of the updates. 1 batch had no other and took no step.",
  );
});

test("episodes that are played again have a success, drawn beside the other figures", async ({ page }) => {
  const [episode] = EPISODES;
  const decisions = episode!.decisions.map((each) => ({ ...each, action: null, status: "malformed" }));
  // A recording of malformed responses answers what the student writes.
  const malformed = upload("episodes.jsonl", jsonLines([{ ...episode, decisions }]));
  await openOwn(page, [OWN_FILES[0]!, malformed]);
  await playAnew(page);
  // Its responses are still to be drawn.
  await expect(page.getByTestId("cost")).toBeVisible();
  await expect(page.getByRole("button", { name: "Probe the time" })).toHaveCount(0);
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: MODEL_TIME });
  // Four tokens are never a whole response: nothing can have succeeded.
  await expect(
    page.getByRole("img", { name: "Success rate of rollouts at the last step: 0", exact: true }),
  ).toBeVisible();
});

test("a run comes first: the form becomes its card, with a line that leads back; watched actions are told before and after", async ({
  page,
}) => {
  await openOwn(page);
  await expect(page.getByTestId("form-fold")).toHaveCount(0);
  // The few fields that matter come first.
  const labels = page.locator(".training-form").getByRole("combobox");
  await expect(labels.first()).toHaveAccessibleName("Responses");
  await page.getByLabel("Learning rate").fill("1e-3");
  await page.getByLabel("Vanilla passes").fill("3");
  await page.getByRole("button", { name: "Watch the open decision" }).click();
  await expect(page.getByRole("button", { name: "Watch the open decision" })).toBeDisabled();
  const chosen = page.getByRole("list", { name: "Watched decisions" });
  await expect(chosen).toContainText("own#0, decision 0");
  await page.getByLabel("Steps between measurements").fill("0");
  await expect(page.getByText("expected at least 1, received 0").first()).toBeVisible();
  await page.getByLabel("Steps between measurements").fill("2");
  await page.getByRole("button", { name: "Update" }).press("Enter");

  const card = page.getByTestId("run-detail");
  await expect(card).toBeVisible();
  await expect(page.locator(".training-form")).toHaveCount(0);
  // Its buttons come next.
  await expect(card.getByRole("heading", { level: 2 })).toBeFocused();
  await expect(card.getByRole("heading", { level: 2 })).toBeInViewport();
  const facts = card.getByTestId("run-facts");
  await expect(facts).toContainText("own#0");
  await expect(facts).toContainText("vanilla, 3 passes; then graph-conditioned, 1 pass");
  await expect(facts).toContainText("0.001");
  await expect(card).toContainText("Done: 4 steps", { timeout: MODEL_TIME });
  await expect(card.getByRole("img", { name: /^Loss/ })).toBeVisible();

  // Before the first step, each second one, which the last one is too.
  const watched = card.getByTestId("held-out");
  await expect(
    watched.getByRole("img", { name: /^log p of the recorded action/ }).locator(".point"),
  ).toHaveCount(3);
  const row = watched.getByRole("row").last();
  await expect(row).toContainText("the run trains on its episode");
  const [before, after] = await row
    .getByRole("cell")
    .evaluateAll((cells) =>
      cells.slice(-3, -1).map((cell) => Number(cell.textContent!.replace("−", "-").replace(/[^-.\d]/g, ""))),
    );
  expect(before).toBeLessThan(0);
  expect(after).not.toBe(before);

  await page.getByTestId("form-fold").click();
  await expect(page.getByLabel("Vanilla passes")).toHaveValue("3");
  await page.getByRole("button", { name: /^Stop watching own#0/ }).click();
  await expect(chosen).toHaveCount(0);
  await page.getByRole("button", { name: "Fold the form" }).click();
  await expect(page.getByLabel("Vanilla passes")).toHaveCount(0);

  // It is kept with the run.
  await page.reload();
  await page.keyboard.press("6");
  await expect(page.getByTestId("held-out").getByRole("row")).toHaveCount(2);
});

// Its student is updated for the pictures.
test("the sample's preset fills the form", async ({ page }) => {
  await visit(page, sampleHash("training", "lifespan-shortest-lived|51|easy", { decision: 3 }));
  const batch = page.getByLabel("Episodes per step");
  // The sample has 66 episodes: more than the paper's batch.
  await expect(batch).toHaveAttribute("placeholder", "32");
  await page.getByLabel("Preset").selectOption("sample");
  await expect(batch).toHaveValue("4");
  await expect(page.getByLabel("Learning rate")).toHaveValue("1e-4");
  await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
});

test("saves into a folder, beside what is there", async ({ page }) => {
  await openOwn(page);
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: MODEL_TIME });
  // The picker itself cannot be driven; the browser's private file system gives a real folder.
  await page.evaluate(() => {
    window.showDirectoryPicker = () => navigator.storage.getDirectory();
  });
  await page.getByLabel("with optimizer state").check();
  for (const folder of ["student", "student-2"]) {
    await page.getByRole("button", { name: "Save to a folder…" }).click();
    await expect(page.getByTestId("notice")).toContainText(`/${folder}.`);
    const sizes = await page.evaluate(async (name) => {
      const saved = await (await navigator.storage.getDirectory()).getDirectoryHandle(name);
      const found: Record<string, number> = {};
      for await (const handle of saved.values()) {
        if (handle.kind === "file")
          found[handle.name] = (await (handle as FileSystemFileHandle).getFile()).size;
      }
      return found;
    }, folder);
    expect(sizes["optimizer.safetensors"]).toBeGreaterThan(1.9 * sizes["model.safetensors"]!);
    expect(sizes["config.json"]).toBeGreaterThan(100);
  }
});

test("a reload keeps the trained student, with a way back; a run's student can be opened again", async ({
  page,
}) => {
  const digests = await withCores(page, { page: 4, worker: 1 });
  await openOwn(page);
  await page.getByLabel("Learning rate").fill("1e-3");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: MODEL_TIME });
  const { before, after } = await watched(page);

  await openOwn(page);
  const student = page.getByTestId("model-student");
  await expect(student).toContainText("trained in this browser");
  await expect.poll(digests).toBe(2);
  await expect(page.getByRole("button", { name: "Save as .zip" })).toBeEnabled();
  // It is the trained one, and one step further still knows where it came from.
  await page.getByLabel("Learning rate").fill("0");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Graph-conditioned passes").blur();
  await update(page);
  expect((await watched(page)).before).toBeCloseTo(after, 2);
  await expect(student).toContainText("updated here");
  await page.getByRole("button", { name: "Revert to the loaded student" }).click();
  await expect(student).toContainText("the sample’s");
  await update(page);
  expect((await watched(page)).before).toBeCloseTo(before, 2);

  // The first run's student is there under its run.
  await page.keyboard.press("6");
  const runs = page.getByTestId("run-list").getByRole("row", { name: /this page/ });
  await runs.last().getByRole("link").click();
  await page.getByTestId("run-students").locator("summary").click();
  await page.getByRole("button", { name: "Open this student, after step 1" }).click();
  await page.keyboard.press("4");
  await expect(student).toContainText(/your own \(1 step\)/);
  await update(page);
  expect((await watched(page)).before).toBeCloseTo(after, 2);
});

test("a student that the browser cannot keep is said to be lost with the tab, until it is saved", async ({
  page,
}) => {
  await page.addInitScript(() => {
    // A disk that is full from the first student on.
    const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...given: Parameters<typeof put>) {
      if (this.name !== "runs") throw new DOMException("full", "QuotaExceededError");
      return put.apply(this, given);
    };
  });
  await openOwn(page);
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("run-message")).toContainText("Done: 1 step.", { timeout: MODEL_TIME });
  await expect(page.getByTestId("unkept")).toContainText("there is no room for it: remove runs");
  const asked = page.waitForEvent("dialog");
  const leaving = page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  await leaving;
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as .zip" }).click();
  await (await download).path();
  await expect(page.getByTestId("unkept")).toHaveCount(0);
});

test("stops after a step, and keeps what was learnt", async ({ page }) => {
  const goOn = await holdAt(page, { at: { step: 1 } });
  await openOwn(page);
  await page.getByLabel("Vanilla passes").fill("50");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  await expect(page.getByTestId("running")).toContainText("Step 2 of 51", { timeout: MODEL_TIME });
  await page.getByRole("button", { name: "Stop after this step" }).click();
  await expect(page.getByTestId("running")).toContainText("stopping after this step");
  await goOn();
  await expect(page.getByTestId("run-message")).toContainText("Stopped after 1 of 51 steps", {
    timeout: MODEL_TIME,
  });
  await expect(page.getByTestId("model-student")).toContainText("updated here");
});

test("a model that does not fit is refused in one line, and the one before stays", async ({ page }) => {
  await openOwn(page);
  const config = JSON.stringify({ model_type: "bert" });
  // Not asked for the tokenizer that it has not either.
  await dropFiles(page, [upload("config.json", Buffer.from(config))]);
  await page.getByRole("button", { name: "The student" }).click();
  await expect(page.getByTestId("notice")).toContainText("model folder/config.json, model_type");
  await expect(page.getByTestId("no-tokenizer")).toHaveCount(0);
  await expect(page.getByTestId("model-student")).toContainText("the sample’s");
});

test("trains under each control with K: it is said in the run and kept in what is saved", async ({
  page,
}) => {
  await openOwn(page);
  const url = page.url();
  for (const [n, [control, words]] of (
    [
      ["hindsight-only", "hindsight only"],
      ["minimum-prefix", "minimum prefix"],
      ["success-only", "success only"],
    ] as const
  ).entries()) {
    await test.step(words, async () => {
      await page.evaluate(
        (hash) => {
          window.location.hash = hash;
        },
        `${new URL(url).hash}&control=${control}&sources=1`,
      );
      const said = `${words} · K = 1 source per task`;
      const method = `gc-opd, changed: ${said}`;
      await expect(page.getByTestId("what-if")).toContainText(said);
      await openTrainingForm(page);
      await expect(page.getByTestId("plan")).toContainText(`method: ${method}`);
      await page.getByLabel("Vanilla passes").fill("0");
      await page.keyboard.press("Tab");
      await noteTexts(page, "running");
      await page.getByRole("button", { name: "Update" }).click();
      await expectSeen(page, "running", new RegExp(said));
      await expect(page.getByTestId("run-message")).toContainText(`Done: 1 step under ${method}.`, {
        timeout: MODEL_TIME,
      });

      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save as .zip" }).click();
      const files = unzipSync(await readFile(await (await download).path()));
      const lines = new TextDecoder().decode(files["student/gcopd-runs.jsonl"]).trim().split("\n");
      expect(lines).toHaveLength(n + 1);
      const run = JSON.parse(lines[n]!);
      expect(run.evidence).toBe(method);
      expect(run.method.stages).toEqual([
        expect.objectContaining({ epochs: 0, evidence: { kind: "none" } }),
        expect.objectContaining({
          epochs: 1,
          evidence: { kind: "graph-conditioned", control, sourcesPerTask: 1, augmentation: false },
        }),
      ]);
      expect(run.episodes).toEqual([{ environment: "scienceworld", task: TASK, episode: "own#0" }]);
      expect(run.steps).toEqual({ done: 1, planned: 1, of_the_student: n + 1 });
    });
  }
});
