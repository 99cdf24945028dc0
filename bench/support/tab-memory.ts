import { readFileSync } from "node:fs";
import type { Browser } from "playwright";

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

/** Watches the largest tab of a browser from now on; the function returned says what it took at the most. Linux only. */
export async function watchTab(browser: Browser): Promise<() => Promise<TabMemory>> {
  const session = await browser.newBrowserCDPSession();
  const tabs = async (): Promise<number[]> => {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
  };
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
