/** Which of WebShop's actions leads from one page to the next. */
import type { PageDescriptor } from "../../../core/environment/webshop/page.ts";

type Open = Exclude<PageDescriptor, { page_type: "done" }>;

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, n) => word === b[n]);
}

function sameResults(a: Open, b: Open): boolean {
  return sameList(a.keywords, b.keywords) && a.page === b.page;
}

/** Names of the options in which two pages differ, and of those only the second has. */
function changedOptions(before: Record<string, string>, after: Record<string, string>): string[] | undefined {
  if (Object.keys(before).some((name) => !Object.hasOwn(after, name))) return undefined;
  return Object.keys(after).filter((name) => !Object.hasOwn(before, name) || before[name] !== after[name]);
}

function click(label: string): string {
  return `click[${label.toLowerCase()}]`;
}

function toResults(from: PageDescriptor, to: Open, query: string): string | null {
  const search = to.page === 1 ? `search[${query}]` : null;
  if (from.page_type === "search_results" && sameList(from.keywords, to.keywords)) {
    if (to.page === (from.page ?? 0) + 1) return click("next >");
    if (to.page === (from.page ?? 0) - 1) return click("< prev");
  }
  if (from.page_type === "item_page" && sameResults(from, to)) return click("< prev");
  return search;
}

function toItem(from: PageDescriptor, to: Open): string | null {
  if (from.page_type === "done" || from.page_type === "start" || !sameResults(from, to)) return null;
  if (from.page_type === "search_results") {
    return Object.keys(to.options).length === 0 && to.asin !== null ? click(to.asin) : null;
  }
  if (from.asin !== to.asin) return null;
  const changed = changedOptions(from.options, to.options);
  if (from.page_type === "item_sub_page") return changed?.length === 0 ? click("< prev") : null;
  if (changed?.length === 1) return click(to.options[changed[0]!]!);
  // The page again: the option that is chosen was chosen once more, if there is only one.
  const values = Object.values(to.options);
  return changed?.length === 0 && values.length === 1 ? click(values[0]!) : null;
}

/**
 * The action, in the text environment's words, or null when no single action of the shop leads from one to the other.
 *
 * @param query the words searched for, as the page tells them
 */
export function actionBetween(from: PageDescriptor, to: PageDescriptor, query: string): string | null {
  switch (to.page_type) {
    case "start":
      return from.page_type === "start" ? null : click("back to search");
    case "search_results":
      return toResults(from, to, query);
    case "item_page":
      return toItem(from, to);
    case "item_sub_page":
      return from.page_type === "item_page" &&
        from.asin === to.asin &&
        sameResults(from, to) &&
        changedOptions(from.options, to.options)?.length === 0 &&
        to.sub_page !== null
        ? click(to.sub_page)
        : null;
    case "done":
      return from.page_type === "item_page" && from.asin === to.asin ? click("buy now") : null;
  }
}
