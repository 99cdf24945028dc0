/** Playwright's `test` for every spec in Chromium: each page of each context is slowed down as GCOPD_CPU_THROTTLE says. */
import { expect, type Locator, type Page, test as playwright } from "@playwright/test";
import { CPU_THROTTLE } from "./throttle.ts";

async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: CPU_THROTTLE });
}

export const test = playwright.extend<object, { slowed: undefined }>({
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
});

export { expect, type Locator, type Page };
