/** Work that any page has, measured on the machine at hand: what a view costs is held to it, and not to a clock. */
import type { Page } from "@playwright/test";

/**
 * Milliseconds of sorting so many names, and of drawing a hundred plain rows and laying them out: the quickest of several
 * rounds, on the page's own thread.
 */
export const plainWork = (page: Page, names: number): Promise<{ sort: number; rows: number }> =>
  page.evaluate((count) => {
    const list = Array.from({ length: count }, (_, i) => `task-${((i * 7919) % count).toString(36)}|${i}`);
    const table = document.createElement("table");
    document.body.append(table);
    const quickest = (work: () => void): number => {
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < 5; round++) {
        const began = performance.now();
        work();
        least = Math.min(least, performance.now() - began);
      }
      return least;
    };
    const sort = quickest(() => void [...list].sort((a, b) => (a < b ? -1 : 1)));
    const rows = quickest(() => {
      table.replaceChildren();
      for (let row = 0; row < 100; row++) {
        const cells = table.insertRow();
        for (let cell = 0; cell < 8; cell++) cells.insertCell().textContent = "some words in a cell";
      }
      table.getBoundingClientRect();
    });
    table.remove();
    return { sort, rows };
  }, names);
