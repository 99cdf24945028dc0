/** What a browser's processes and the card take. Linux only. */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as passed } from "node:timers/promises";
import type { Browser, CDPSession, Page } from "playwright";

/** Megabytes. */
export interface TabMemory {
  /** Memory of its own, as the browser's task manager counts it: what it shares with other processes left out. */
  own: number;
  /** The same of the GPU's process. */
  gpu: number;
  /** All that was ever resident, the browser's own files included. */
  resident: number;
}

/** Between two looks, in milliseconds. */
const PERIOD = 100;

const numbers = (id: number, name: string): number => {
  try {
    const found = new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${id}/status`, "utf8"));
    // A process that is ending has no memory any more.
    return Number(found?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
};

const ids = async (session: CDPSession, kind: "renderer" | "GPU"): Promise<number[]> => {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.filter(({ type }) => type === kind).map(({ id }) => id);
};

const largest = (sizes: Iterable<number>): number => Math.max(0, ...sizes);

/** Memory of the largest tab's own and of the GPU's process, now. Megabytes. */
export async function memoryNow(browser: Browser): Promise<{ tab: number; gpu: number }> {
  const session = await browser.newBrowserCDPSession();
  const own = async (kind: "renderer" | "GPU"): Promise<number> =>
    largest((await ids(session, kind)).map((id) => numbers(id, "RssAnon")));
  const found = { tab: await own("renderer"), gpu: await own("GPU") };
  await session.detach();
  return found;
}

/** Watches the largest tab of a browser from now on; the function returned says what it took at the most. */
export async function watchTab(browser: Browser): Promise<() => Promise<TabMemory>> {
  const session = await browser.newBrowserCDPSession();
  const own = { renderer: new Map<number, number>(), GPU: new Map<number, number>() };
  const look = async (): Promise<void> => {
    for (const kind of ["renderer", "GPU"] as const)
      for (const id of await ids(session, kind))
        own[kind].set(id, Math.max(own[kind].get(id) ?? 0, numbers(id, "RssAnon")));
  };
  await look();
  const ended = new AbortController();
  const looking = (async () => {
    while (!ended.signal.aborted) {
      // A browser that has gone shows nothing any more.
      await look().catch(() => undefined);
      await passed(PERIOD, null, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  return async () => {
    ended.abort();
    await looking;
    await look();
    const resident = largest((await ids(session, "renderer")).map((id) => numbers(id, "VmHWM")));
    await session.detach();
    return { own: largest(own.renderer.values()), gpu: largest(own.GPU.values()), resident };
  };
}

/** Has a page drop what it does not use any more. */
export async function collectGarbage(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.detach();
}

const CARD_QUERY = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];

/** What is used of the first card's memory now, in megabytes; absent where there is none that `nvidia-smi` knows. */
export function cardNow(): { card?: number } {
  const { stdout } = spawnSync("nvidia-smi", CARD_QUERY, { encoding: "utf8" });
  const card = Number.parseInt(stdout ?? "", 10);
  return Number.isNaN(card) ? {} : { card };
}

/** Watches the first card from now on; the function returned says what was used of its memory at the most. */
export function watchCard(): () => { card?: number } {
  const told = spawn("nvidia-smi", ["--id=0", ...CARD_QUERY, `--loop-ms=${PERIOD}`], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Where there is no card there is no such program.
  told.on("error", () => undefined);
  const seen: number[] = [];
  createInterface({ input: told.stdout }).on("line", (line) => seen.push(Number.parseInt(line, 10)));
  return () => {
    told.kill();
    const { card } = cardNow();
    return card === undefined ? {} : { card: largest([...seen, card]) };
  };
}
