/**
 * The Runs view with long runs in a real browser: from the address to the drawn curves, and a crosshair that is moved over
 * them, each move until it is painted.
 * `npm run bench -- runs [--steps N] [--runs N]`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { chromium } from "playwright";
import { findChromium } from "../scripts/browser.mjs";
import { JobStore } from "../src/worker/job/store.ts";
import { PageTrace } from "./support/page-trace.ts";

const { values } = parseArgs({
  options: { steps: { type: "string", default: "5000" }, runs: { type: "string", default: "2" } },
});
const STEPS = Number(values.steps);
const RUNS = Number(values.runs);
if (!existsSync("dist/page/index.html") || !existsSync("dist/cli.js"))
  throw new Error("dist/ is not there: run `npm run build` first");

/** The events that a training run of so many steps prints, with made-up figures: only their number matters here. */
function* events(steps: number, seed: number): Generator<Record<string, unknown>> {
  const info = { model: "m", device: "cpu", adapter: "none", dtype: "f32", parameters: 1, vocabulary: 1 };
  yield {
    type: "start",
    method: "opd",
    units: steps,
    unit: "episode",
    teacher: info,
    student: info,
    batchSize: 1,
    steps,
    resumedFrom: null,
  };
  yield { type: "stage", stage: 0, name: "vanilla", epochs: 1, evidence: { kind: "none" } };
  yield { type: "epoch", stage: 0, epoch: 0, batches: steps };
  for (let step = 1; step <= steps; step++) {
    const at = { step, stage: 0, epoch: 0, batch: step - 1 };
    const noise = Math.sin(step * (seed + 1.3)) * Math.cos(step / 57);
    yield { type: "step", ...at, units: [`e${step}`], batches: steps };
    yield { type: "scored", ...at, decisions: 8, tokens: 300, contextTokens: 9000, seconds: 0.4 };
    const metrics = {
      ...{ loss: Math.exp(-step / 900) + 0.1 * noise, gradNorm: 1 + noise, clipFraction: 0.1 + 0.05 * noise },
      ...{ meanAdvantage: -0.3 + 0.1 * noise, rolloutKl: 0.02, alignment: noise, tokens: 300 },
      sequenceTokens: 4000,
    };
    yield { type: "updated", ...at, metrics, seconds: 1.1, updateSeconds: 0.5, tokensPerSecond: 270 };
    yield { type: "checkpoint", ...at };
  }
  yield { type: "done", step: steps, seconds: steps };
}

const folder = mkdtempSync(join(tmpdir(), "gcopd-bench-runs-"));
const store = new JobStore(join(folder, "jobs.sqlite"));
mkdirSync(join(folder, "jobs"));
const ids = Array.from({ length: RUNS }, (_, n) => `train-${String(n).padStart(12, "0")}`);
for (const [n, id] of ids.entries()) {
  store.create(id, { kind: "train", config: { method: "opd" }, title: `run ${n}`, resume: "manual" });
  const all = [...events(STEPS, n)].map((event) => ({
    type: "progress" as const,
    text: JSON.stringify(event),
  }));
  store.appendOutput(id, all, 0);
  store.transition(id, ["queued"], "done", { ended_at: new Date().toISOString() });
}
store.close();

const worker: ChildProcess = spawn(
  process.execPath,
  ["bin/gcopd.js", "worker", "--port", "0", "--data", folder],
  { stdio: ["ignore", "pipe", "ignore"] },
);
const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
try {
  const [url] = (await once(createInterface(worker.stdout!), "line")) as [string];
  const executablePath = await findChromium();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  // Something of the same origin, so that the trace begins in the process that the page will be in.
  await page.goto(`${url}sample/manifest.json`);
  const trace = await PageTrace.start(browser, page);
  const began = performance.now();
  await page.goto(`${url}#/runs?runs=${ids.join(",")}`);
  const loss = page.locator('svg[data-figure="loss"]');
  const end = new RegExp(`step ${STEPS} of ${STEPS}|${STEPS} of ${STEPS}`);
  await page
    .getByTestId("run-list")
    .getByText(end)
    .nth(RUNS - 1)
    .waitFor({ timeout: 600_000 });
  const opened = performance.now() - began;
  await loss.waitFor();
  const tasks = await trace.end();
  const longest = (of: "wall" | "own"): string =>
    tasks.length === 0 ? "below 50" : Math.max(...tasks.map((task) => task[of])).toFixed(0);
  const points = await loss
    .locator("path.curve")
    .evaluateAll((paths) => paths.map((path) => (path.getAttribute("d") ?? "").split("L").length));
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async (): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
  const before = await spent();
  const moves = await loss.evaluate(async (svg) => {
    const { left, top, width, height } = svg.getBoundingClientRect();
    const times: number[] = [];
    for (let n = 0; n < 200; n++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const start = performance.now();
      const clientX = left + 60 + ((width - 80) * ((n * 37) % 200)) / 200;
      svg.dispatchEvent(
        new PointerEvent("pointermove", { bubbles: true, clientX, clientY: top + height / 2 }),
      );
      // After the frame that shows it: the next task.
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      times.push(performance.now() - start);
    }
    return times;
  });
  const own = ((await spent()) - before) / moves.length;
  moves.sort((a, b) => a - b);
  console.log(
    `${cpus()[0]?.model}, ${cpus().length} cores; ${RUNS} runs of ${STEPS} steps on seven charts\n`,
  );
  console.log("| what | |\n|---|---|");
  console.log(`| from the address to the drawn curves | ${(opened / 1000).toFixed(1)} s |`);
  console.log(`| longest task meanwhile | ${longest("wall")} ms |`);
  console.log(`| most processor time of one of them | ${longest("own")} ms |`);
  console.log(`| points drawn a curve | ${points.join(", ")} |`);
  console.log(`| crosshair, move to paint, median | ${quantile(moves, 0.5).toFixed(1)} ms |`);
  console.log(`| crosshair, move to paint, p95 | ${quantile(moves, 0.95).toFixed(1)} ms |`);
  console.log(`| the main thread's own time of it | ${own.toFixed(1)} ms |`);
  await browser.close();
} finally {
  worker.kill("SIGTERM");
  if (worker.exitCode === null) await once(worker, "exit");
  rmSync(folder, { recursive: true, force: true });
}
