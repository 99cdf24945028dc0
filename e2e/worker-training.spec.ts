/** Training on the worker from the page's form: its disk, models by name, several cards, restarts, and the same in a shell. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { OUTPUT_FILE } from "../src/worker/job/launcher.ts";
import { test as plain } from "./base.ts";
import { LocalHub } from "./hub.ts";
import { dropFiles, EPISODES, jsonLines, OWN_FILES, SOURCES, TASK } from "./own-files.ts";
import {
  decisionShown,
  expect,
  limitEpisodes,
  type Page,
  sampleHash,
  startWorker,
  testWithWorker as test,
  visit,
} from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const detail = (page: Page) => page.getByTestId("run-detail");

interface Step {
  step: number;
  loss: number;
}

/** Whole lines of a run's metrics; none before its first step. */
function steps(file: string): Step[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Step);
}

const losses = (file: string): number[] => steps(file).map(({ loss }) => loss);

async function chooseWorker(page: Page): Promise<void> {
  await page.getByRole("radio", { name: /the worker/ }).check();
  await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
}

/** Picks a path of the worker's disk, a folder at a time. */
async function choose(page: Page, of: string, path: string): Promise<void> {
  await page.getByRole("button", { name: `Choose: ${of}` }).click();
  const parts = path.split("/");
  const dialog = page.getByRole("dialog", { name: new RegExp(`^Choose the ${of}`) });
  for (const part of parts.slice(0, -1)) await dialog.getByRole("button", { name: `${part}/` }).click();
  const last = parts.at(-1)!;
  if (last !== "") await dialog.getByRole("button", { name: last, exact: true }).click();
  else await dialog.getByRole("button", { name: "Choose this folder" }).click();
  await expect(dialog).toHaveCount(0);
}

/** What one of the copying buttons of a part of the page copies. */
async function copied(page: Page, part: string, label: string): Promise<string> {
  const button = page.getByRole("button", { name: `Copy ${label}`, exact: true });
  const text = page.getByTestId(part).locator(".copy-text").filter({ has: button });
  await text.getByRole("button", { name: `Copy ${label}`, exact: true }).click();
  await expect(text.getByRole("status")).toHaveText(new RegExp(`^Copied(: ${label})?\\.$`));
  return page.evaluate(() => navigator.clipboard.readText());
}

plain(
  "files of the worker's disk, a teacher by its name, two cards; the copied commands take the same run",
  async ({ page, context }) => {
    const folder = await mkdtemp(join(tmpdir(), "gcopd e2e-"));
    const shared = join(folder, "shared");
    await mkdir(join(shared, "runs"), { recursive: true });
    await writeFile(join(shared, "sources.jsonl"), jsonLines(SOURCES));
    await writeFile(join(shared, "runs", "episodes.jsonl"), jsonLines(EPISODES));
    for (const name of ["student", "tokenizer"])
      cpSync(join("public", "sample", name), join(shared, "models", name), { recursive: true });
    const hub = new LocalHub();
    await hub.start();
    const before = { ...process.env };
    Object.assign(process.env, { HF_ENDPOINT: hub.url, GCOPD_CACHE: join(folder, "cache") });
    const starting = startWorker(join(folder, "data"), "--files", shared);
    // Only the worker has it.
    for (const name of ["HF_ENDPOINT", "GCOPD_CACHE"])
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    const worker = await starting;
    try {
      await context.grantPermissions(["clipboard-read", "clipboard-write"], {
        origin: new URL(worker.url).origin,
      });
      await page.goto(`${worker.url}#/training`);
      await chooseWorker(page);
      await page.getByLabel("Train on").selectOption("files");
      await choose(page, "library", "sources.jsonl");
      await choose(page, "episodes", "runs/episodes.jsonl");
      await choose(page, "student", "models/student/");
      await choose(page, "tokenizer", "models/tokenizer/");
      await page.getByLabel("Teacher (folder").fill("owner/model");
      await page.getByRole("textbox", { name: "Cards" }).fill("2");
      await page.getByLabel("Vanilla passes").fill("1");
      await page.getByRole("button", { name: "Estimate the cost" }).click();
      const cost = page.getByTestId("worker-cost");
      await expect(cost).toContainText(
        'expected an absolute path, or a model of the hub by its name, as "hub:owner/model"',
      );
      await page.getByLabel("Teacher (folder").fill("hub:owner/model");
      await page.getByRole("button", { name: "Probe the time too" }).click();
      await expect(cost).toContainText(/Time: .* by a probe: the teacher read \d/, { timeout: MODEL_TIME });
      await expect(cost).toContainText("2 steps; memory about");

      await page.getByTestId("config").locator("summary").click();
      const config = JSON.parse(await copied(page, "config", "the config")) as Record<string, unknown>;
      expect(config).toMatchObject({
        library: join(shared, "sources.jsonl"),
        episodes: join(shared, "runs", "episodes.jsonl"),
        teacher: "hub:owner/model",
        student: join(shared, "models", "student"),
        tokenizer: join(shared, "models", "tokenizer"),
        cards: 2,
      });
      const script = await copied(page, "config", "a script for a shell");
      expect(script).toMatch(/^# set HF_TOKEN if [^\n]*\ncat > /);
      await expect(page.getByTestId("config")).toContainText("needs HF_TOKEN set in that shell");
      const shownCommand = await copied(page, "config", "the command");
      await page.getByRole("button", { name: "Start on the worker" }).click();
      await expect(detail(page)).toContainText("✓ done · step 2 of 2", { timeout: MODEL_TIME });
      await detail(page).getByText("Command", { exact: true }).click();
      // What was shown before is what ran.
      expect(await copied(page, "run-detail", "the command")).toBe(shownCommand);
      await expect(detail(page)).toContainText("needs HF_TOKEN set in that shell");
      const again = await copied(page, "run-detail", "it for a shell");
      const id = /train-[0-9a-f]{12}/.exec(shownCommand)![0];
      const ran = losses(join(folder, "data", "jobs", id, "out", "metrics.jsonl"));
      expect(ran).toHaveLength(2);

      const shell = join(folder, "a shell's folder");
      await mkdir(shell);
      for (const [line, out] of [
        [script, id],
        [again, `${id}-again`],
      ] as const) {
        // Not waited for in one go: the hub that it asks is in this process.
        await promisify(execFile)("sh", ["-c", line], { cwd: shell });
        // Two cards sum in one order each time: the same bits.
        expect(losses(join(shell, out, "metrics.jsonl"))).toEqual(ran);
      }
    } finally {
      await worker.stop();
      hub.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

plain(
  "a library of several files of the worker's disk is trained on where they lie",
  async ({ page, context }) => {
    const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
    const shared = join(folder, "shared");
    await mkdir(join(shared, "more"), { recursive: true });
    const [first, ...rest] = SOURCES;
    await writeFile(join(shared, "sources.jsonl"), jsonLines([first]));
    await writeFile(join(shared, "more", "sources.jsonl"), jsonLines(rest));
    await writeFile(join(shared, "episodes.jsonl"), jsonLines(EPISODES));
    const worker = await startWorker(join(folder, "data"), "--files", shared);
    try {
      await context.grantPermissions(["clipboard-read", "clipboard-write"], {
        origin: new URL(worker.url).origin,
      });
      const files = ["sources.jsonl", "more/sources.jsonl", "episodes.jsonl"];
      const query = new URLSearchParams([["library", "own"], ...files.map((file) => ["disk", file])]);
      await page.goto(`${worker.url}#/training/${encodeURIComponent(TASK)}?${query}`);
      await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
      await chooseWorker(page);
      await page.getByLabel("Vanilla passes").fill("0");
      await page.getByTestId("config").locator("summary").click();
      // Known when the worker has told where its folder is.
      await expect(page.getByTestId("config")).toContainText(join(shared, "more"));
      await expect(page.getByTestId("config")).not.toContainText("Sent to the worker");
      expect(JSON.parse(await copied(page, "config", "the config"))).toMatchObject({
        library: [join(shared, "sources.jsonl"), join(shared, "more", "sources.jsonl")],
        episodes: join(shared, "episodes.jsonl"),
      });
      await page.getByRole("button", { name: "Start on the worker" }).click();
      await expect(detail(page)).toContainText("✓ done · step 1 of 1", { timeout: MODEL_TIME });
    } finally {
      await worker.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
);

test("the sample on the worker: its own copies are read, and nothing is sent", async ({ page }) => {
  await visit(page, sampleHash("training", "lifespan-shortest-lived|51|easy", { decision: 0 }));
  await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
  await chooseWorker(page);
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByRole("button", { name: "Watch the open decision" }).click();
  await page.getByTestId("config").locator("summary").click();
  await expect(page.getByTestId("config")).toContainText("sample/episodes.jsonl.gz");
  await expect(page.getByTestId("config")).not.toContainText("Sent to the worker");
  await expect(page.getByTestId("config")).not.toContainText("HF_TOKEN");
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await expect(detail(page)).toContainText("✓ done · step 1 of 1", { timeout: MODEL_TIME });

  // Before the only step, and after it.
  const watched = detail(page).getByTestId("held-out");
  await expect(watched.locator(".point")).toHaveCount(2);
  await expect(watched.getByRole("row").last()).toContainText("the run trains on its episode");
  await expect(watched.getByRole("row").last().locator("td.number").first()).toContainText("−");
});

test("with more runs than a browser has connections, the page keeps some for all else", async ({
  page,
  baseURL,
}) => {
  await visit(page, sampleHash("training", "lifespan-shortest-lived|51|easy", { decision: 0 }));
  await chooseWorker(page);
  await page.getByLabel("Vanilla passes").fill("900");
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await expect(detail(page)).toContainText(/▶ running · step [1-9]/, { timeout: MODEL_TIME });
  const token = await page.locator("meta[name=gcopd-token]").getAttribute("content");
  const api = (method: string, path: string, data?: object) =>
    page.request.fetch(`${baseURL}api/jobs${path}`, {
      ...{ method, headers: { Authorization: `Bearer ${token}` } },
      ...(data !== undefined && { data }),
    });
  const { jobs } = await (await api("GET", "")).json();
  const { kind, config } = jobs[0].request;
  for (let n = 1; n <= 7; n++) await api("POST", "", { kind, config, title: `waiting ${n}` });
  // Each of them is followed at once.
  await page.reload();
  await page.keyboard.press("6");
  const rows = page.getByTestId("run-list").getByRole("row");
  await expect(rows.filter({ hasText: /waiting \d.*queued/ })).toHaveCount(7);
  await rows.filter({ hasText: "running" }).getByRole("link").click();
  await expect(detail(page)).toContainText(/▶ running · step \d+/);
  const [, seen] = /step (\d+)/.exec((await detail(page).textContent())!)!;
  await expect(detail(page)).not.toContainText(`step ${seen} of`);
  await detail(page).getByText("Log", { exact: true }).click();
  await expect(detail(page).locator("pre").first()).not.toBeEmpty();
  // The next in the line takes its turn.
  await detail(page).getByRole("button", { name: "Stop after this step" }).click();
  await expect(detail(page)).toContainText("▢ stopped", { timeout: MODEL_TIME });
  await rows.filter({ hasText: "waiting 1" }).getByRole("link").click();
  await expect(detail(page)).toContainText(/▶ running · step [1-9]/, { timeout: MODEL_TIME });
  for (const { id } of (await (await api("GET", "")).json()).jobs) await api("POST", `/${id}/cancel`);
});

test("a run on policy on the worker plays made games and measures its student there", async ({ page }) => {
  await visit(page, sampleHash("training", "lifespan-shortest-lived|51|easy", { decision: 0 }));
  await chooseWorker(page);
  await page.getByLabel("Responses").selectOption("live");
  await page.getByLabel("Games").selectOption("made");
  await page.getByLabel("Number to make").fill("2");
  await page.getByLabel("First seed").fill("0");
  await limitEpisodes(page, { decisions: 2, tokens: 4 });
  await page.getByLabel("Vanilla passes").fill("1");
  await page.getByLabel("Graph-conditioned passes").fill("0");
  await page.getByLabel("Evaluate the student").check();
  await page.getByLabel("Seeds").fill("0");
  await page.keyboard.press("Tab");
  await expect(page.getByTestId("plan")).toContainText("over 2 tasks, on policy");
  await page.getByRole("button", { name: "Start on the worker" }).click();
  await expect(detail(page)).toContainText("✓ done · step 1 of 1", { timeout: MODEL_TIME });
  await expect(detail(page)).toContainText("before the step: on policy");
  await page.getByTestId("run-evaluations").locator("summary").click();
  await expect(page.getByTestId("run-evaluations").getByRole("row")).not.toHaveCount(0);
});

/** How many steps a run has told its worker of: its file of figures has each a moment before. */
const told = (attempt: string): number =>
  readFileSync(join(attempt, OUTPUT_FILE), "utf8").match(/"type":"updated".*\n/g)?.length ?? 0;

/** Stops a process, and waits until it stands still: it hears a signal when it is its turn. */
async function standStill(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  if (process.platform === "linux")
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) T [^)]*$/);
}

/** The process of a job's first attempt. */
async function pidOf(jobs: string, id: string): Promise<number> {
  return Number(await readFile(join(jobs, id, "attempt-1", "pid"), "utf8"));
}

plain(
  "a worker that is killed and started again: the page goes on, marks the gap, and has every step once",
  async ({ page }) => {
    const data = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
    let worker = await startWorker(data);
    const { port } = new URL(worker.url);
    const jobs = join(data, "jobs");
    let run = 0;
    try {
      await page.goto(worker.url);
      await dropFiles(page, OWN_FILES);
      await page.getByRole("button", { name: TASK }).click();
      await decisionShown(page, 0);
      await page.keyboard.press("u");
      await chooseWorker(page);
      // More than any machine is through with meanwhile.
      await page.getByLabel("Vanilla passes").fill("900");
      await page.getByRole("button", { name: "Start on the worker" }).click();
      await expect(detail(page)).toContainText(/▶ running · step [1-9]\d* of 901/, { timeout: MODEL_TIME });
      const [id] = /train-[0-9a-f]{12}/.exec(
        (await page.getByTestId("run-detail").locator("pre").allTextContents()).join(" "),
      )!;
      const metrics = join(jobs, id, "out", "metrics.jsonl");
      run = await pidOf(jobs, id);
      worker.process.kill("SIGKILL");
      await once(worker.process, "exit");
      await expect(detail(page)).toContainText("not connected, trying again");
      // Nobody follows the run, and it goes on.
      const then = steps(metrics).length;
      await expect.poll(() => steps(metrics).length, { timeout: MODEL_TIME }).toBeGreaterThan(then + 2);
      await standStill(run);
      const done = told(join(jobs, id, "attempt-1"));
      worker = await startWorker(data, "--port", port);
      // All that happened meanwhile, and no more: the run stands still.
      await expect(detail(page)).toContainText(`▶ running · step ${done} of 901`);
      await expect(detail(page)).toContainText("its events were read afterwards");
      process.kill(run, "SIGCONT");

      // Closed, the worker ends the run after its step, and lets it go on when it is there again.
      await worker.stop();
      worker = await startWorker(data, "--port", port);
      await expect(detail(page)).toContainText(/went on after step \d+/, { timeout: MODEL_TIME });
      await detail(page).getByRole("button", { name: "Stop after this step" }).click();
      await expect(detail(page)).toContainText("▢ stopped", { timeout: MODEL_TIME });

      const all = steps(metrics);
      await expect(detail(page)).toContainText(`stopped · step ${all.length} of 901`);
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "CSV" }).click();
      const [head, ...lines] = (await readFile(await (await download).path(), "utf8")).trim().split("\n");
      const columns = head!.split(",");
      // The name of the run holds a comma: it stands in quotes.
      const rows = lines.map((line) => line.replace(/"[^"]*"/, "").split(","));
      const column = (name: string) => rows.map((row) => Number(row[columns.indexOf(name)]));
      expect(column("step")).toEqual(all.map((_, n) => n + 1));
      expect(column("loss")).toEqual(all.map(({ loss }) => loss));
    } finally {
      worker.process.kill("SIGKILL");
      // Its process outlives the worker.
      if (run > 0)
        try {
          process.kill(-run, "SIGKILL");
        } catch {
          // Over already.
        }
      await rm(data, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
