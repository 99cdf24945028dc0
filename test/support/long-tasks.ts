/** Tasks that held the main thread of a page in a browser for more than 50 ms, for end-to-end tests and benches. */
import type { Page } from "playwright-core";

declare global {
  interface Window {
    /** Milliseconds each. */
    longTasks: number[];
  }
}

function observe(): void {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longTasks.push(duration);
  }).observe({ type: "longtask" });
}

/** Begins to note them: in the page as it stands, or in whatever is loaded next. */
export function noteLongTasks(page: Page, from: "now" | "next load"): Promise<unknown> {
  return from === "now" ? page.evaluate(observe) : page.addInitScript(observe);
}

/** Milliseconds of those since the last call. */
export function takeLongTasks(page: Page): Promise<number[]> {
  return page.evaluate(() => window.longTasks.splice(0));
}
