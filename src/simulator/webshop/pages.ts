/** The shop's pages. Texts and their order are those of WebShop's pages, since models have read those. */
import { asciiString, compareCodePoints } from "../../core/environment/canonical-text.ts";
import type { Product } from "./catalogue.ts";
import { button, type PageNode, type PageView, text } from "./page-view.ts";

/** Products on one page of results. */
const PAGE_SIZE = 10;

export const BACK = "Back to Search";
export const NEXT = "Next >";
export const PREVIOUS = "< Prev";
export const BUY = "Buy Now";
export const SUB_PAGES = ["Description", "Features", "Reviews"] as const;
export type SubPage = (typeof SUB_PAGES)[number];

const view = (...nodes: PageNode[]): PageView => ({ nodes, hasSearchBar: false });

const header = (instruction: string): PageNode[] => [text("Instruction:"), text(instruction), button(BACK)];

export function startPage(instruction: string): PageView {
  const nodes = [text("WebShop"), text("Instruction: "), text(instruction), button("Search")];
  return { nodes, hasSearchBar: true };
}

/** @param page from 1; one beyond the last is empty, and `Next >` is always there */
export function resultsPage(instruction: string, found: readonly Product[], page: number): PageView {
  return view(
    ...header(instruction),
    text(`Page ${page} (Total results: ${found.length})`),
    ...(page > 1 ? [button(PREVIOUS)] : []),
    button(NEXT),
    ...found
      .slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
      .flatMap(({ asin, Title, Price }): PageNode[] => [
        { kind: "product", text: asin },
        text(Title),
        text(Price),
      ]),
  );
}

export function itemPage(instruction: string, product: Product): PageView {
  return view(
    ...header(instruction),
    button(PREVIOUS),
    ...Object.entries(product.options).flatMap(([name, values]): PageNode[] => [
      text(name),
      ...values.map((value): PageNode => ({ kind: "option", text: value })),
    ]),
    text(product.Title),
    text(`Price: ${product.Price}`),
    text(`Rating: ${product.Rating}`),
    ...SUB_PAGES.map(button),
    button(BUY),
  );
}

const SUB_PAGE_TEXTS: Record<SubPage, (product: Product) => string[]> = {
  Description: ({ Description }) => [Description],
  Features: ({ BulletPoints }) => BulletPoints.map((feature) => ` ${feature}`),
  Reviews: ({ Reviews }) => Reviews.flatMap(({ title, score, body }) => [`"${title}"`, String(score), body]),
};

export function subPage(instruction: string, product: Product, name: SubPage): PageView {
  return view(...header(instruction), button(PREVIOUS), ...SUB_PAGE_TEXTS[name](product).map(text));
}

/** Chosen options as the final page writes them: JSON in ASCII, names sorted, without what HTML would read as a tag. */
function optionsJson(options: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(options)
    .sort(([a], [b]) => compareCodePoints(a, b))
    .map(([name, value]) => `${asciiString(name)}: ${asciiString(value)}`);
  return `{${pairs.join(", ")}}`.replace(
    /[<>&']/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** What WebShop leaves open on its final page. */
const NONE = "None";

/** @param reward 0 to 1 */
export function donePage(asin: string, options: Readonly<Record<string, string>>, reward: number): PageView {
  const nodes = [
    "Thank you for shopping with us!",
    ...["Your code: ", NONE, " (Paste it in your MTurk interface.)"],
    ...["Purchased", "asin", asin, "options", optionsJson(options)],
    ...["attrs", "category", "query", "product category"].flatMap((label) => [label, NONE]),
    ...["Target", "asin", "options", "attrs", "price upper"],
    // Misspelled in WebShop, too.
    ...["instuction text", "category", "product category", "query", "Goal ", NONE],
    ...["Reward", "Your score (min 0.0, max 1.0)", Number.isInteger(reward) ? `${reward}.0` : `${reward}`],
    ...["Reward Details ", NONE],
  ];
  return view(...nodes.map(text));
}
