/**
 * The page at the paper's scale in a real browser: a library from `gcopd synth` dropped with its index and without,
 * until its first task is painted, stepping through decisions, the memory of the tab, and the main thread's long tasks:
 * by the page's own observer, and in a traced session of two minutes.
 * `npm run bench -- page [--tasks N] [--folder F] [--seconds S] [--against CHECKOUT]`; a folder is kept, and used again
 * when it holds such a library. `--against` names another checkout of the workbench with its `dist/`: both builds open the
 * library with its indices in turn, twice each, and stand beside each other.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type Browser, chromium, type Page } from "playwright";
import { findChromium } from "../scripts/browser.mjs";
import { session } from "./support/page-session.ts";
import { type LongTask, PageTrace } from "./support/page-trace.ts";
import { type TabMemory, watchTab } from "./support/tab-memory.ts";

const { values } = parseArgs({
  options: {
    tasks: { type: "string", default: "3017" },
    folder: { type: "string" },
    steps: { type: "string", default: "240" },
    seconds: { type: "string", default: "120" },
    against: { type: "string" },
  },
});
const TASKS = Number(values.tasks);
const STEPS = Number(values.steps);
const SECONDS = Number(values.seconds);

if (!existsSync("dist/page/index.html") || !existsSync("dist/cli.js")) {
  throw new Error("dist/ is not there: run `npm run build` first");
}
const gcopd = (...args: string[]): string =>
  execFileSync(process.execPath, ["bin/gcopd.js", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });

declare global {
  interface Performance {
    /** Chromium's, in isolated pages. */
    measureUserAgentSpecificMemory?(): Promise<{ bytes: number }>;
  }
  interface Window {
    /** What the program inside the page notes: moments and lengths in milliseconds. */
    bench: {
      start: number;
      ready: number;
      first: number;
      long: number[];
      interactions: number[];
      painted: () => Promise<number>;
    };
  }
}

const folder = values.folder ?? mkdtempSync(join(tmpdir(), "gcopd-bench-page-"));
mkdirSync(folder, { recursive: true });
const library = join(folder, "library.jsonl");
const episodes = join(folder, "episodes.jsonl");
if (!existsSync(library) || !existsSync(episodes)) {
  gcopd(
    ...["synth", "--tasks", String(TASKS), "--sources", "16", "--episodes", String(TASKS), "--seed", "2024"],
    ...["--out", library, "--episodes-out", episodes],
  );
}
gcopd("index", library, episodes);
const bytes = statSync(library).size + statSync(episodes).size;

/** What one opening showed. Times in milliseconds. */
interface Opened {
  /** From the drop until the index is ready and the table can be drawn. */
  ready: number;
  /** From then until the first task, its retrieval and its evidence are painted. */
  firstTask: number;
  /** From the key to the painted decision. */
  steps: number[];
  /** The main thread's own time for one of them. */
  own: number;
  /** From the index being ready until the counted columns of all tasks are there. */
  counted: number;
  /** From the click to the sorted table. */
  sort: number;
  /** From the last key to the filtered table. */
  filter: number;
  /** Long tasks of the main thread from the drop to the first task, and while stepping and counting. */
  longOpening: number[];
  longAfter: number[];
  /** What the traced session did, and the main thread's tasks of more than 50 ms in it; null where there was none. */
  session: { rounds: number; steps: number; slowest: number; long: LongTask[] } | null;
  /** MB of scripts, page and workers together, as the browser counts them. */
  scripts: number;
  memory: TabMemory;
}

async function open(browser: Browser, url: string, files: string[], stay: boolean): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  const memory = await watchTab(browser);
  await page.getByTestId("pick-files").waitFor({ state: "attached" });
  await page.evaluate(() => {
    const bench = {
      start: 0,
      ready: 0,
      first: 0,
      counted: 0,
      long: [] as number[],
      painted: () =>
        new Promise<number>((resolve) =>
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now()))),
        ),
    };
    Object.assign(window, { bench });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) bench.long.push(entry.duration);
    }).observe({ type: "longtask" });
    // What was picked begins to be read with this event.
    document.querySelector("[data-testid=pick-files]")!.addEventListener(
      "change",
      () => {
        bench.start = performance.now();
      },
      { capture: true },
    );
    const look = async (): Promise<void> => {
      const name = document.querySelector<HTMLElement>("table.tasks tbody th button");
      if (bench.ready === 0 && name !== null) {
        bench.ready = performance.getEntriesByName("library-open").at(-1)?.startTime ?? Number.NaN;
        name.click();
      }
      if (bench.ready > 0 && bench.first === 0 && document.querySelector("[data-testid=evidence]") !== null) {
        bench.first = await bench.painted();
        return;
      }
      requestAnimationFrame(() => void look());
    };
    void look();
  });
  await page.getByTestId("pick-files").setInputFiles(files);
  await page.waitForFunction(() => window.bench.first > 0, null, {
    timeout: 300_000,
    polling: 200,
  });
  const opening = await page.evaluate(() => {
    const { bench } = window;
    return {
      ready: bench.ready - bench.start,
      firstTask: bench.first - bench.ready,
      long: bench.long.splice(0),
    };
  });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async (name: string): Promise<number> => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1000 * metrics.find((metric) => metric.name === name)!.value;
  };
  const names = ["TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
  const before = await Promise.all(names.map(spent));
  const steps = await step(page);
  const own = (await Promise.all(names.map(spent))).map((after, i) => (after - before[i]!) / STEPS);
  if (process.env.GCOPD_BENCH_DETAIL)
    console.log(names.map((n, i) => `${n} ${own[i]!.toFixed(1)}`).join(", "));
  await page.keyboard.press("1");
  const counted = await page.evaluate(async () => {
    const { bench } = window;
    while (document.querySelector("[data-testid=counting]") !== null)
      await new Promise((resolve) => setTimeout(resolve, 20));
    return performance.now() - bench.ready;
  });
  const table = await page.evaluate(async () => {
    const { bench } = window;
    const head = [...document.querySelectorAll<HTMLElement>("table.tasks thead button")].find((each) =>
      each.textContent?.startsWith("States"),
    )!;
    const before = performance.now();
    head.click();
    const sort = (await bench.painted()) - before;
    const input = document.querySelector<HTMLInputElement>("#task-filter")!;
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!.set!;
    const typed = performance.now();
    set.call(input, "12");
    input.dispatchEvent(new Event("input", { bubbles: true }));
    return { sort, filter: (await bench.painted()) - typed };
  });
  const longAfter = await page.evaluate(() => window.bench.long);
  const stayed = stay ? await twoMinutes(browser, page) : null;
  const scripts = await page.evaluate(async () => {
    return (await performance.measureUserAgentSpecificMemory?.())?.bytes ?? Number.NaN;
  });
  const opened = {
    ready: opening.ready,
    firstTask: opening.firstTask,
    steps,
    own: own[0]!,
    counted,
    ...table,
    longOpening: opening.long,
    longAfter,
    session: stayed,
    scripts: scripts / 1e6,
    memory: await memory(),
  };
  await page.close();
  return opened;
}

/** The traced session, from the table on. */
async function twoMinutes(browser: Browser, page: Page): Promise<NonNullable<Opened["session"]>> {
  await page.locator("#task-filter").fill("");
  await page.locator("table.tasks tbody th button").first().click();
  await page.getByTestId("evidence").waitFor({ state: "attached" });
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(window.bench, { interactions: times });
    // From a key or a click to the next frame on the screen, as the browser counts it, in steps of 8 ms.
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) times.push(entry.duration);
    }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  });
  const trace = await PageTrace.start(browser, page);
  const done = await session(page, SECONDS, (what) => trace.mark(what));
  const long = await trace.end();
  if (process.env.GCOPD_BENCH_DETAIL) {
    for (const { wall, own, during } of long)
      console.log(`${during}: a task of ${ms(wall)}, ${ms(own)} of the processor`);
  }
  const slowest = await page.evaluate(() => Math.max(0, ...window.bench.interactions));
  return { ...done, slowest, long };
}

/** Through the decisions of the first tasks, one key at a time: each until what it shows is painted. */
async function step(page: Page): Promise<number[]> {
  return page.evaluate(async (count) => {
    const { bench } = window;
    const shown = (): string => document.querySelector("[data-testid=decision]")?.textContent ?? "";
    const heading = (): string => document.querySelector("#decision-title")?.textContent ?? "";
    const last = (): number =>
      Number(document.querySelector<HTMLInputElement>("input[type=range][aria-label=Decision]")?.max ?? 0);
    const press = (key: string) => window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const times: number[] = [];
    while (times.length < count) {
      const next = Number(shown()) + 1;
      if (next > last()) {
        press("]");
        while (shown() !== "0" || !heading().endsWith(" 0")) await new Promise(requestAnimationFrame);
        // A new task's matrix and graph are drawn after its decision; that is not a step.
        await new Promise((resolve) => setTimeout(resolve, 500));
        continue;
      }
      const before = performance.now();
      press("j");
      while (!heading().endsWith(` ${next}`)) await new Promise((resolve) => setTimeout(resolve, 1));
      times.push((await bench.painted()) - before);
    }
    return times;
  }, STEPS);
}

async function startWorker(checkout: string): Promise<{ url: string; worker: ChildProcess }> {
  const worker = spawn(
    process.execPath,
    ["bin/gcopd.js", "worker", "--port", "0", "--data", mkdtempSync(join(tmpdir(), "gcopd-bench-data-"))],
    { cwd: checkout, stdio: ["ignore", "pipe", "ignore"] },
  );
  const [line] = (await once(createInterface({ input: worker.stdout! }), "line")) as [string];
  return { url: line, worker };
}

const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]!;
const ms = (value: number): string => `${Math.round(value).toLocaleString("en")} ms`;
const mb = (value: number): string => `${Math.round(value)} MB`;
const long = (values: number[]): string =>
  values.length === 0 ? "none" : `${values.length}, longest ${ms(Math.max(...values))}`;

const WITH = [library, `${library}.index.jsonl`, episodes, `${episodes}.index.jsonl`];
const OPENINGS: readonly { name: string; checkout: string; files: string[]; stay: boolean }[] =
  values.against === undefined
    ? [
        { name: "with the indices", checkout: ".", files: WITH, stay: true },
        { name: "without", checkout: ".", files: [library, episodes], stay: false },
      ]
    : [1, 2].flatMap((round) => [
        { name: `this build, ${round}`, checkout: ".", files: WITH, stay: round === 1 },
        { name: `the other, ${round}`, checkout: values.against!, files: WITH, stay: false },
      ]);
const executablePath = await findChromium();
const results: [string, Opened][] = [];
try {
  for (const { name, checkout, files, stay } of OPENINGS) {
    const { url, worker } = await startWorker(checkout);
    // A browser of its own: the peak of a process is that of one opening.
    const browser = await chromium.launch({
      executablePath,
      args: ["--no-sandbox", "--enable-blink-features=ForceEagerMeasureMemory"],
    });
    try {
      results.push([name, await open(browser, url, files, stay)]);
    } finally {
      await browser.close();
      worker.kill("SIGTERM");
    }
  }
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}

/** The rows of the traced session. */
const inSession =
  (show: (stayed: NonNullable<Opened["session"]>) => string) =>
  ({ session }: Opened): string =>
    session === null ? "–" : show(session);
const over = (least: number, tasks: readonly LongTask[]): string => {
  const found = tasks.filter(({ wall }) => wall > least).sort((a, b) => b.wall - a.wall);
  const longest = found[0];
  if (longest === undefined) return "none";
  return `${found.length}, longest ${ms(longest.wall)} (${ms(longest.own)} of the processor): ${longest.during}`;
};
const SESSION: [string, string, (opened: Opened) => string][] = [
  [
    `traced session of ${SECONDS} s`,
    "",
    inSession(({ rounds, steps }) => `${rounds} rounds, ${steps} steps`),
  ],
  ["tasks over 100 ms in it", "none", inSession(({ long }) => over(100, long))],
  ["tasks over 50 ms in it", "", inSession(({ long }) => over(50, long))],
  [
    "most processor time of one of them",
    "",
    inSession(({ long }) => (long.length === 0 ? "–" : ms(Math.max(...long.map(({ own }) => own))))),
  ],
  ["slowest key or click to the next frame", "", inSession(({ slowest }) => ms(slowest))],
];
const rows: [string, string, (opened: Opened) => string][] = [
  ["files picked → index ready", "", ({ ready }) => ms(ready)],
  ["index ready → first task painted", "2,000 ms", ({ firstTask }) => ms(firstTask)],
  [`decision to decision, median of ${STEPS}`, "50 ms", ({ steps }) => ms(percentile(steps, 0.5))],
  ["the same, 95th percentile", "50 ms", ({ steps }) => ms(percentile(steps, 0.95))],
  ["the main thread's own time of it", "", ({ own }) => ms(own)],
  ["index ready → columns of all tasks counted", "", ({ counted }) => ms(counted)],
  ["sort by a counted column", "200 ms", ({ sort }) => ms(sort)],
  ["filter", "200 ms", ({ filter }) => ms(filter)],
  ["long tasks until the first task", "", ({ longOpening }) => long(longOpening)],
  ["long tasks after it", "", ({ longAfter }) => long(longAfter)],
  ...SESSION,
  ["memory of page and workers", "500 MB", ({ scripts }) => mb(scripts)],
  ["the tab's process at its most, memory of its own", "500 MB", ({ memory }) => mb(memory.own)],
  ["with the browser's own files and what it shares", "", ({ memory }) => mb(memory.resident)],
];
console.log(`|  | goal | ${results.map(([name]) => name).join(" | ")} |`);
console.log(`| --- | ---: | ${results.map(() => "---:").join(" | ")} |`);
for (const [name, goal, show] of rows) {
  console.log(`| ${name} | ${goal} | ${results.map(([, opened]) => show(opened)).join(" | ")} |`);
}
const size = bytes / 1e6;
console.log(
  `\n${TASKS.toLocaleString("en")} tasks of 16 executions and as many episodes, ${Math.round(size)} MB. ` +
    `Chromium headless, ${cpus().length} threads of ${cpus()[0]!.model}, load average ${loadavg()[0]!.toFixed(1)}.`,
);
