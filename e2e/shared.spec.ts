/** The folder that the worker shares: listed, opened by ranges with the token, and opened again by its link. */
import { cp, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axeFaults } from "./axe.ts";
import { test as plain } from "./base.ts";
import { dropFiles, EPISODES, jsonLines, SOURCES, TASK, upload } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { decisionShown, expect, pressEnabled, startWorker, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

plain(
  "files of the worker's disk are chosen from its folders, read by ranges, and kept in the link",
  async ({ page }) => {
    const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
    const shared = join(folder, "shared");
    await mkdir(join(shared, "runs"), { recursive: true });
    await writeFile(join(shared, "sources.jsonl"), jsonLines(SOURCES));
    await writeFile(join(shared, "runs", "episodes.jsonl"), jsonLines(EPISODES));
    await writeFile(join(shared, "notes.txt"), "not a record");
    const worker = await startWorker(join(folder, "data"), "--files", shared);
    try {
      const ranges: string[] = [];
      page.on("request", (request) => {
        const { range, authorization } = request.headers();
        if (!request.url().includes("/api/shared/content/")) return;
        expect(authorization).toMatch(/^Bearer ./);
        if (range !== undefined) ranges.push(range);
      });
      await page.goto(worker.url);
      await page.getByRole("button", { name: "Open from the worker…" }).click();
      const list = page.getByTestId("shared-list");
      await expect(list.getByRole("listitem")).toHaveText([/^runs\/$/, /^notes\.txt/, /sources\.jsonl/]);
      await expect(list.getByRole("checkbox")).toHaveCount(1);
      await page.getByRole("checkbox", { name: "sources.jsonl" }).check();
      await page.getByRole("button", { name: "runs/" }).click();
      await page.getByRole("checkbox", { name: "episodes.jsonl" }).check();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Open 2 files" }).click();
      await page.getByRole("button", { name: TASK }).click();
      await decisionShown(page, 0);
      expect(ranges.length).toBeGreaterThan(3);
      await expect(page).toHaveURL(/disk=sources\.jsonl&disk=runs%2Fepisodes\.jsonl/);

      // The link is enough in a fresh tab.
      const url = page.url();
      await page.goto("about:blank");
      await page.goto(url);
      await decisionShown(page, 0);
      await expect(page.getByTestId("retained")).toHaveText("★ teacher:0, visit 0");
      await page.goto("about:blank");
      await page.goto(url.replace("sources.jsonl", "gone.jsonl"));
      await expect(page.getByTestId("notice")).toContainText("gone.jsonl: the server answered 404");
    } finally {
      await worker.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

plain(
  "folders of the worker's disk are imported, and models taken from it, read in parts",
  async ({ page }) => {
    const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
    const shared = join(folder, "shared");
    await cp("test/fixtures/imports/scienceworld-catalog/catalog", join(shared, "collection", "catalog"), {
      recursive: true,
    });
    await cp(await modelFolder("models/qwen3-a"), join(shared, "models", "qwen3-a"), { recursive: true });
    const worker = await startWorker(join(folder, "data"), "--files", shared);
    try {
      const weights: (string | undefined)[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith("model.safetensors")) weights.push(request.headers().range);
      });
      await page.goto(`${worker.url}#/library?library=sample`);
      await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
      await page.getByText("Open…", { exact: true }).click();
      await page.getByRole("button", { name: "Open from the worker…" }).click();
      await page.getByRole("button", { name: "collection/" }).click();
      await expect(page.getByTestId("shared-list").getByRole("listitem")).toHaveText([/^catalog\/$/]);
      await page.getByRole("button", { name: "Open this folder" }).click();
      const report = page.locator(".import-report summary");
      await expect(report).toContainText("Imported from scienceworld-catalog");
      await expect(page.getByTestId("libraries").locator("tbody tr")).toHaveCount(2);
      await expect(page).toHaveURL(/disk=collection%2F/);
      // The link imports it again in a fresh tab.
      const url = page.url();
      await page.goto("about:blank");
      await page.goto(url);
      await expect(report).toContainText("Imported from scienceworld-catalog");

      const melt = new URLSearchParams({ library: "sample" });
      await page.goto("about:blank");
      await page.goto(`${worker.url}#/tokens/${encodeURIComponent("melt|12|easy")}?${melt}`);
      const teacher = page.getByTestId("model-teacher");
      await teacher.getByRole("button", { name: "Worker…" }).click();
      await page.getByRole("button", { name: "models/" }).click();
      await page.getByRole("button", { name: "qwen3-a/" }).click();
      await expect(page.getByRole("button", { name: "Take it as the student" })).toBeVisible();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Take it as the teacher" }).click();
      await expect(teacher).toContainText("qwen3-a, your own", { timeout: MODEL_TIME });
      // The sample's own models are fetched whole; of this one, only parts with an end.
      const parts = weights.filter((range) => range !== undefined);
      expect(parts.length).toBeGreaterThan(1);
      for (const range of parts) expect(range).toMatch(/^bytes=\d+-\d+$/);
    } finally {
      await worker.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

plain(
  "another model is taken from the worker's disk: its plan first, then its two sides",
  async ({ page }) => {
    const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
    const shared = join(folder, "shared");
    await cp(await modelFolder("models/qwen3-b"), join(shared, "models", "qwen3-b"), { recursive: true });
    const weights = await stat(join(shared, "models", "qwen3-b", "model.safetensors"));
    const worker = await startWorker(join(folder, "data"), "--files", shared);
    try {
      const ranges: (string | undefined)[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith("/models/qwen3-b/model.safetensors")) ranges.push(request.headers().range);
      });
      /** Bytes of the weights that were asked for; of each request, a part with an end. */
      const asked = (): number =>
        ranges.reduce((sum, range) => {
          const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
          expect(range).toBe(`bytes=${start}-${end}`);
          return sum + Number(end) - Number(start) + 1;
        }, 0);
      await page.goto(worker.url);
      await dropFiles(page, [
        upload("sources.jsonl", jsonLines(SOURCES)),
        upload("episodes.jsonl", jsonLines(EPISODES)),
      ]);
      await page.getByRole("button", { name: TASK }).click();
      await decisionShown(page, 0);
      await page.keyboard.press("t");
      await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
      await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own", {
        timeout: MODEL_TIME,
      });
      await page.keyboard.press("s");
      await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({
        timeout: MODEL_TIME,
      });

      const compare = page.getByTestId("compare");
      const dialog = page.getByRole("dialog", { name: "Choose the further model on the worker’s disk" });
      await pressEnabled(compare.getByText("Add a side"));
      const open = compare.getByRole("button", { name: "Worker…" });
      await pressEnabled(open);
      const choose = dialog.getByRole("button", { name: "Choose this folder" });
      await dialog.getByRole("button", { name: "models/" }).click();
      await expect(dialog.getByTestId("path-list").getByRole("listitem")).toHaveText([/^qwen3-b\/$/]);
      await expect(choose).toBeDisabled();
      await dialog.getByRole("button", { name: "qwen3-b/" }).click();
      await expect(dialog).toContainText("This folder holds a model.");
      expect(await axeFaults(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await expect(dialog).toBeHidden();
      await expect(open).toBeFocused();
      // By its name in the palette, too.
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: /^Find an action/ }).fill("another model of the worker");
      const first = page.locator("#palette-list").getByRole("option").first();
      await expect(first).toContainText("Compare with another model of the worker’s disk");
      await page.keyboard.press("Enter");
      await dialog.getByRole("button", { name: "models/" }).click();
      await dialog.getByRole("button", { name: "qwen3-b/" }).click();
      await pressEnabled(choose);
      const picked = page.getByTestId("picked-model");
      await expect(picked).toContainText(
        /^models\/qwen3-b: two passes over at most \d+ tokens\. .* about [\d.]+ [MG]iB \(weights /,
      );
      // So far only what describes the weights.
      expect(asked()).toBeGreaterThan(0);
      expect(asked()).toBeLessThan(weights.size);
      await pressEnabled(picked.getByRole("button", { name: "Score with it" }));
      const chip = compare.getByRole("button", { name: "Take away models/qwen3-b, with evidence" });
      await expect(chip).toBeVisible({ timeout: MODEL_TIME });
      expect(asked()).toBeGreaterThan(weights.size);
      const base = compare.getByRole("combobox", { name: "Base side" });
      await base.selectOption("model:models_qwen3-b:vanilla");
      await expect(base).toHaveValue("model:models_qwen3-b:vanilla");
      await expect(page.getByTestId("no-delta")).toBeHidden();
    } finally {
      await worker.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test.describe("a worker that shares nothing", () => {
  test.use({ expectedErrors: ["404"] });

  test("says how to share a folder", async ({ page }) => {
    await visit(page);
    await page.getByRole("button", { name: "Open from the worker…" }).click();
    await expect(page.getByTestId("shared-problem")).toContainText(
      "this worker shares no folder: start it with --files FOLDER",
    );
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
  });
});
