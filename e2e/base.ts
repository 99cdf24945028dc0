/**
 * Playwright's `test` for every spec in Chromium: each page of each context is slowed down as GCOPD_CPU_THROTTLE says, and
 * a test that fails says what its pages were at.
 */
import { expect, type Locator, type Page, test as playwright } from "@playwright/test";
import { keepUnanswered, pagesState } from "./pages-state.ts";
import { CPU_THROTTLE } from "./throttle.ts";

async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: CPU_THROTTLE });
}

export const test = playwright.extend<{ told: undefined }, { slowed: undefined }>({
  slowed: [
    async ({ browser }, use) => {
      if (CPU_THROTTLE > 1)
        browser.on("context", (context) => {
          // A page that is closed before it was reached needs no slowing down.
          context.on("page", (page) => void slowDown(page).catch(() => undefined));
        });
      await use(undefined);
    },
    { scope: "worker", auto: true },
  ],
  told: [
    async ({ browser, context }, use, info) => {
      await context.addInitScript(keepUnanswered);
      await use(undefined);
      if (info.status !== info.expectedStatus) console.log(await pagesState(browser));
    },
    { auto: true },
  ],
});

export { expect, type Locator, type Page };
