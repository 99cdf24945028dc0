/** Students trained live in the evidence test: one press, a curve from the parent on, its files, and recorded bands. */
import { readFile } from "node:fs/promises";
import { dropFiles, upload } from "./own-files.ts";
import { expect, type Page, test, visit } from "./site.ts";
import { experimentInTerminal, type RunStep } from "./terminal.ts";
import { MODEL_TIME } from "./throttle.ts";

const students = (page: Page) => page.getByTestId("students");
const rail = (page: Page) => page.getByTestId("evidence-rail");
const chart = (page: Page) => page.getByRole("img", { name: /^Success on unseen tasks/ });

async function choose(page: Page, of: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(of))
    await rail(page).getByRole("combobox", { name: label, exact: true }).selectOption(value);
}

/** Relative, of losses and gradient norms: kernels on the software adapter here, plain TypeScript there. */
const TOLERANCE = 1e-5;

async function saved(page: Page, name: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    students(page).getByRole("button", { name, exact: true }).click(),
  ]);
  return readFile(await download.path(), "utf8");
}

test("before any training: what the registered experiment found, with its curves", async ({ page }) => {
  await visit(page, "#/evidence-test?library=miniature");
  const registered = page.getByTestId("registered");
  await expect(registered).toContainText(
    "GC-OPD beats Vanilla OPD; GC-OPD and GC: success only are not told apart.",
  );
  await expect(registered.getByRole("listitem").first()).toContainText(
    /^GC-OPD minus GC: success only, .* n = 48; not told apart/,
  );
  await expect(registered).toContainText("All 576 trainings have ended.");
  await expect(chart(page)).toHaveAccessibleName(/GC-OPD, recorded: after step 240 .*, n = 48/);
  await expect(page.getByTestId("recorded-band")).toHaveCount(12);
  // The names of the curves fit beside them.
  const cut = await chart(page).evaluate((svg) => {
    const edge = svg.getBoundingClientRect().right;
    return [...svg.querySelectorAll("text")]
      .filter((text) => text.getBoundingClientRect().right > edge)
      .map((text) => text.textContent);
  });
  expect(cut).toEqual([]);
  // Every method is in the table, with how many of its trainings have ended.
  const methods = page.getByTestId("registered-methods").getByRole("row");
  await expect(methods).toHaveCount(1 + 12);
  await expect(methods.filter({ hasText: "Vanilla OPD" })).toContainText(/48 of 48.*52\.5.*51\.6 to 53\.5/);
  await expect(methods.filter({ hasText: "Self-distillation" })).toContainText(/48 of 48.*0\.0/);
  await expect(page.getByTestId("registered-methods")).toContainText(
    "Those that fell below 2 % are in the mean and in every comparison. GC-OPD + GA, TCOD-B2F and FTB read planner records, too.",
  );
  for (const name of ["GC-OPD + GA", "TCOD-B2F", "FTB"])
    await expect(methods.getByRole("rowheader", { name, exact: true })).toHaveCount(1);
});

test("one press: students after one step, one of them behind a plan's actions, with the figures of gcopd experiment, its files, and the same results as a band", async ({
  page,
}, info) => {
  await visit(page, "#/evidence-test?library=miniature");
  await rail(page).getByText("3 of 14 methods").click();
  for (const name of ["GC-OPD", "Hindsight only"])
    await rail(page).getByRole("checkbox", { name, exact: true }).uncheck();
  await rail(page).getByRole("checkbox", { name: "TCOD-B2F", exact: true }).check();
  await choose(page, {
    "Training seeds": "1",
    Steps: "1",
    "Episodes per step": "2",
    "Measured every": "1",
    "Unseen tasks": "4",
  });
  await students(page).getByRole("button", { name: "Train students" }).click();
  // The rest of the page goes on, and says what is running.
  await expect(page.getByTestId("at-work")).toContainText("1 running");
  await expect(chart(page)).toHaveAccessibleName(
    /parent \d+\.\d %; Vanilla OPD: nothing yet; TCOD-B2F: nothing yet/,
    {
      timeout: MODEL_TIME,
    },
  );
  await expect(chart(page)).toHaveAccessibleName(/Vanilla OPD: after step 1 \d+\.\d %, n = 1;/, {
    timeout: MODEL_TIME,
  });
  await expect(students(page).getByRole("button", { name: "All trained" })).toBeVisible({
    timeout: MODEL_TIME,
  });

  const text = await saved(page, "Students as JSON");
  const results = JSON.parse(text);
  expect(results).toMatchObject({
    format: "gcopd.experiment.v1",
    episodes_per_cell: 2,
    cells: ["opd", "tcod-b2f"].map((method) => ({
      ...{ method, seed: 1, steps: 1, episodes: { sampled: 2, left_out: 0 } },
    })),
    oracle: { tasks: 4 },
  });
  expect(results.tables.map(({ checkpoint }: { checkpoint: string }) => checkpoint)).toEqual([
    "final",
    "step-1",
  ]);
  const [{ methods, untrained }] = results.tables;
  await expect(chart(page)).toHaveAccessibleName(
    new RegExp(`after step 1 ${methods[0].sr.mean.toFixed(1)} %`),
  );
  await expect(chart(page)).toHaveAccessibleName(new RegExp(`parent ${untrained.sr.mean.toFixed(1)} %`));
  expect(await saved(page, "Table as LaTeX")).toContain(`Vanilla OPD & ${methods[0].sr.mean.toFixed(2)} & `);
  expect((await saved(page, "Students as CSV")).trim().split("\n")).toHaveLength(7);
  const config = await saved(page, "Save as config");
  expect(JSON.parse(config)).toEqual(results.config);

  // The command with that config trains the same cell: what is played is equal, what is computed nearly.
  const terminal = await experimentInTerminal("public/miniature", config, info.outputPath("terminal"));
  for (const key of ["tables", "cells", "deviations"] as const)
    expect(results[key], key).toEqual(terminal.results[key]);
  expect(results.updates).toHaveLength(2);
  for (const { run, updates } of results.updates as { run: string; updates: RunStep[] }[]) {
    const steps = terminal.steps[run]!;
    expect(updates).toHaveLength(steps.length);
    for (const [n, { loss, gradNorm }] of updates.entries()) {
      expect(Math.abs(loss / steps[n]!.loss - 1)).toBeLessThan(TOLERANCE);
      expect(Math.abs(gradNorm / steps[n]!.gradNorm - 1)).toBeLessThan(TOLERANCE);
    }
  }

  await dropFiles(page, [upload("results.json", Buffer.from(text))]);
  await expect(page.getByTestId("notice")).toContainText("The students of results.json are drawn");
  await expect(page.getByTestId("recorded-band")).toHaveCount(2);
  // Other choices are a comparison of their own.
  await choose(page, { "Training seeds": "2" });
  await expect(chart(page)).toHaveAccessibleName(
    /^Success on unseen tasks by optimizer steps\. Vanilla OPD, recorded: after step 1 /,
  );
  await expect(students(page).getByRole("button", { name: "Train students" })).toBeEnabled();
});
