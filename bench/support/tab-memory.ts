/** What a browser's processes take. Linux only. */
import { readFileSync } from "node:fs";
import type { Browser, CDPSession } from "playwright";

/** Megabytes. */
export interface TabMemory {
  /** Memory of its own, as the browser's task manager counts it: what it shares with other processes left out. */
  own: number;
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

/** Memory of the largest tab's own and of the GPU's process, now. Megabytes. */
export async function memoryNow(browser: Browser): Promise<{ tab: number; gpu: number }> {
  const session = await browser.newBrowserCDPSession();
  const largest = async (kind: "renderer" | "GPU"): Promise<number> =>
    Math.max(0, ...(await ids(session, kind)).map((id) => numbers(id, "RssAnon")));
  const found = { tab: await largest("renderer"), gpu: await largest("GPU") };
  await session.detach();
  return found;
}

/** Watches the largest tab of a browser from now on; the function returned says what it took at the most. */
export async function watchTab(browser: Browser): Promise<() => Promise<TabMemory>> {
  const session = await browser.newBrowserCDPSession();
  const tabs = (): Promise<number[]> => ids(session, "renderer");
  const own = new Map<number, number>();
  const look = async (): Promise<void> => {
    for (const id of await tabs()) own.set(id, Math.max(own.get(id) ?? 0, numbers(id, "RssAnon")));
  };
  let looking = look();
  const timer = setInterval(() => {
    looking = looking.then(look, () => {});
  }, PERIOD);
  return async () => {
    clearInterval(timer);
    await looking;
    await look();
    const resident = Math.max(...(await tabs()).map((id) => numbers(id, "VmHWM")));
    await session.detach();
    return { own: Math.max(...own.values()), resident };
  };
}
