/** Texts that pass: a fast machine is through with a job before a test looks, so the page itself notes what it showed. */
import { expect, type Page } from "@playwright/test";
import { CPU_THROTTLE } from "./throttle.ts";

type Seen = Window & { textsSeen?: Record<string, string[]> };

/** From now on, notes each text that the element of that test id shows. Call it before the job starts. */
export async function noteTexts(page: Page, testId: string): Promise<void> {
  await page.evaluate((id) => {
    const texts: string[] = [];
    (window as Seen).textsSeen = { ...(window as Seen).textsSeen, [id]: texts };
    const look = (): void => {
      const text = document.querySelector(`[data-testid="${id}"]`)?.textContent;
      if (text && text !== texts.at(-1)) texts.push(text);
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    look();
  }, testId);
}

/** The texts noted since `noteTexts`. */
export const textsSeen = (page: Page, testId: string): Promise<string[]> =>
  page.evaluate((id) => (window as Seen).textsSeen?.[id] ?? [], testId);

/** Waits until one of the texts noted since `noteTexts` matches. */
export async function expectSeen(
  page: Page,
  testId: string,
  text: RegExp,
  timeout = 60_000 * CPU_THROTTLE,
): Promise<void> {
  await expect.poll(async () => (await textsSeen(page, testId)).join("\n"), { timeout }).toMatch(text);
}
