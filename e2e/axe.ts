/** What axe finds in the page, or in parts of it. */
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

/** Violations, a line for each place: impact, rule, place and what is wrong. `within`: selectors; the whole page without. */
export async function axeFaults(page: Page, ...within: string[]): Promise<string[]> {
  // Only what is wrong is gathered, and in the page itself: it has no frames, and a page beside it takes its time.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ["violations"] }).setLegacyMode();
  for (const selector of within) axe.include(selector);
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${impact} ${id}: ${node.target.join(" ")}: ${node.any[0]?.message ?? ""}`),
  );
}
