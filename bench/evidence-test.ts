/**
 * What a newcomer waits for in the page, in Chromium on this machine's GPU: from the press on "Does evidence help?" to the
 * first bars of all contexts, then from "Train students" to the first curve that has left its parent. Each repeat
 * starts a browser with an empty profile. __GL_SHADER_DISK_CACHE=0 turns the NVIDIA driver's own cache off.
 *
 *     npm run build && npm run bench -- evidence-test [--repeats 3] [--browser PATH] [--software]
 *
 * Bundled by `bundle` of scripts/run.mjs as `standalone`, it runs beside `dist/page` and `node_modules/playwright`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { chromium, type Page } from "playwright";
import { findChromium } from "../scripts/browser.mjs";
import { CARD_FLAGS, FLAGS, SOFTWARE_FLAGS } from "./support/browser/page.ts";
import { median } from "./support/median.ts";
import { numberOr } from "./support/options.ts";

const { values } = parseArgs({
  options: {
    repeats: { type: "string" },
    browser: { type: "string" },
    software: { type: "boolean", default: false },
  },
});
const REPEATS = numberOr(values.repeats, 3);
const PATIENCE = values.software ? 3_600_000 : 300_000;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** The built page. */
async function serve(): Promise<Server> {
  const root = resolve("dist/page");
  if (!existsSync(join(root, "index.html")))
    throw new Error("dist/page is not there: run `npm run build` first");
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://page");
    const file = join(root, decodeURIComponent(pathname === "/" ? "/index.html" : pathname));
    if (!file.startsWith(root + sep) || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Seconds from a press to what it led to, and the chart's words then. */
interface Waited {
  adapter: string;
  bars: number;
  allDecisions: number;
  curve: number;
  students: string;
}

const seconds = (from: number): number => (performance.now() - from) / 1000;

async function wait(page: Page, url: string): Promise<Waited> {
  await page.goto(url);
  const adapter = await page.evaluate(async () => {
    const found = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
    return found ? [found.info.vendor, found.info.architecture].join(" ").trim() : "none";
  });
  // Chromium falls back to its software adapter in silence.
  if (!values.software && /^(none|google)/.test(adapter))
    throw new Error(`no GPU: the page's adapter is ${adapter}; --software measures a software adapter`);
  const start = page.getByRole("button", { name: "Does evidence help?" });
  await start.waitFor();
  const pressed = performance.now();
  await start.click();
  await page.getByRole("img", { name: /^Probability of an optimal action.*full graph: \d/ }).waitFor();
  const bars = seconds(pressed);
  await page.getByRole("button", { name: "All scored" }).waitFor();
  const allDecisions = seconds(pressed);
  const trained = performance.now();
  await page.getByTestId("students").getByRole("button", { name: "Train students" }).click();
  const chart = page.getByRole("img", { name: /^Success on unseen tasks.*after step [1-9]/ });
  await chart.waitFor();
  for (;;) {
    const told = (await chart.getAttribute("aria-label"))!;
    const parent = /parent ([\d.]+) %/.exec(told)?.[1];
    const left =
      parent !== undefined &&
      [...told.matchAll(/(?<!recorded): after step [1-9]\d* ([\d.]+) %/g)].some(
        ([, success]) => success !== parent,
      );
    if (left) return { adapter, bars, allDecisions, curve: seconds(trained), students: told };
    await page.waitForTimeout(100);
  }
}

/** Starts Chromium with an empty profile. `address` is that of its DevTools. */
async function startBrowser(profile: string): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn(
    (values.browser ?? (await findChromium()))!,
    [
      ...FLAGS,
      ...(values.software ? SOFTWARE_FLAGS : CARD_FLAGS),
      ...[`--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"],
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  for await (const line of createInterface(child.stderr!)) {
    const address = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    // Whatever it says later must not fill the pipe.
    child.stderr!.resume();
    return { child, address };
  }
  throw new Error("the browser exited before it told the address of its DevTools");
}

const server = await serve();
const waited: Waited[] = [];
for (let n = 0; n < REPEATS; n += 1) {
  const profile = mkdtempSync(join(tmpdir(), "gcopd-bench-evidence-"));
  const { child, address } = await startBrowser(profile);
  try {
    const browser = await chromium.connectOverCDP(address);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(PATIENCE);
    const each = await wait(page, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    console.error(`${n + 1} of ${REPEATS}: ${JSON.stringify(each)}`);
    waited.push(each);
    await browser.close();
  } finally {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL"))
      await once(child, "exit");
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
server.closeAllConnections();
server.close();

const row = (what: string, of: (each: Waited) => number): string => {
  const all = waited.map(of);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return `| ${what} | ${median(all).toFixed(1)} | ${least.toFixed(1)} to ${most.toFixed(1)} |`;
};
console.log(`Adapter: ${waited[0]!.adapter}\n`);
console.log(`| seconds, ${REPEATS} cold browsers | median | range |`);
console.log("| --- | ---: | ---: |");
console.log(row("from “Does evidence help?” to the bars of all contexts", ({ bars }) => bars));
console.log(row("to all decisions scored", ({ allDecisions }) => allDecisions));
console.log(row("from “Train students” to a curve that has left its parent", ({ curve }) => curve));
