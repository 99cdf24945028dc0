/** The built page in a Chromium of its own, for benchmarks that use it as a person does. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright";
import { findChromium } from "../../../scripts/browser.mjs";
import { CARD_FLAGS, FLAGS, SOFTWARE_FLAGS } from "./page.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/**
 * Serves `dist/page` on a free port of the loopback.
 *
 * @param heads text that is put before the scripts whose paths match
 */
export async function servePage(
  heads: readonly { path: RegExp; text: string }[] = [],
): Promise<{ url: string; close(): void }> {
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
    const head = heads.find(({ path }) => path.test(pathname));
    if (head === undefined) createReadStream(file).pipe(response);
    else response.end(`${head.text}\n${readFileSync(file, "utf8")}`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export interface BrowserOptions {
  /** Path of a Chromium; absent: the one that is installed. */
  browser?: string | undefined;
  /** On the software adapter, not on this machine's card. */
  software: boolean;
}

/** Starts Chromium with an empty profile. `address` is that of its DevTools. */
async function startBrowser(
  { browser, software }: BrowserOptions,
  profile: string,
): Promise<{ child: ChildProcess; address: string }> {
  const child = spawn(
    (browser ?? (await findChromium()))!,
    [
      ...FLAGS,
      ...(software ? SOFTWARE_FLAGS : CARD_FLAGS),
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

/** Removes a browser's profile. Its other processes may end a little later, and write until then. */
async function removed(profile: string): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      rmSync(profile, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === 10) {
        console.error(`left behind: ${error instanceof Error ? error.message : error}`);
        return;
      }
      await delay(500);
    }
}

/** Uses a browser with an empty profile on the disk, which goes with it. */
export async function withBrowser<T>(
  options: BrowserOptions,
  use: (browser: Browser) => Promise<T>,
): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), "gcopd-bench-page-"));
  const { child, address } = await startBrowser(options, profile);
  try {
    // Files of any size are picked by their paths.
    const browser = await chromium.connectOverCDP(address, { isLocal: true });
    const result = await use(browser);
    const ended = once(child, "exit");
    await (await browser.newBrowserCDPSession()).send("Browser.close");
    await Promise.race([ended, delay(10_000, undefined, { ref: false })]);
    return result;
  } finally {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL"))
      await once(child, "exit");
    await removed(profile);
  }
}

/**
 * A page with the browser's profile, as a person has it. One of `browser.newPage` is a private window: Chromium keeps
 * what such a page stores in memory, and refuses blobs of more than 2 GB there.
 */
export async function profilePage(browser: Browser): Promise<Page> {
  const page = await browser.contexts()[0]!.newPage();
  await page.setViewportSize({ width: 1280, height: 800 });
  return page;
}

/** The page's adapter in words. Throws where Chromium fell back to its software adapter, which it does in silence. */
export async function adapterOf(page: Page, { software }: BrowserOptions): Promise<string> {
  const adapter = await page.evaluate(async () => {
    const found = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
    return found ? [found.info.vendor, found.info.architecture].join(" ").trim() : "none";
  });
  if (!software && /^(none|google)/.test(adapter))
    throw new Error(`no GPU: the page's adapter is ${adapter}; --software measures a software adapter`);
  return adapter;
}
