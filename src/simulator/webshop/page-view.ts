/** Pages as lists of text nodes, their `text_rich` view, and what can be clicked on them. */
import type { PageActions } from "../../core/environment/webshop/prompt.ts";

/** One text node of a page. Blank nodes keep one space, or nothing where they hold a line end. */
export interface PageNode {
  kind: "text" | "button" | "product" | "option";
  text: string;
}

export interface PageView {
  nodes: readonly PageNode[];
  hasSearchBar: boolean;
}

export const text = (content: string): PageNode => ({ kind: "text", text: content });
export const button = (label: string): PageNode => ({ kind: "button", text: label });

/** What a reader of HTML makes of a text node; undefined where it shows nothing. */
function visible(content: string): string | undefined {
  if (/[^ \t\n\f\r]/.test(content)) return content;
  return content === "" || content.includes("\n") ? undefined : " ";
}

/**
 * The page as an agent reads it: one text node per line, buttons in brackets. A chosen option and a product that was
 * visited read `clicked button`, and each chosen option also puts a sentence before everything else.
 *
 * @param clicked chosen option values and visited products
 */
export function textView({ nodes }: PageView, clicked: ReadonlySet<string>): string {
  let lead = "";
  let lines = "";
  for (const node of nodes) {
    const shown = visible(node.text);
    if (shown === undefined) continue;
    const name = node.kind !== "button" && clicked.has(shown) ? "clicked button" : "button";
    const bracketed = `[${name}] ${shown} [${name}_]`;
    if (node.kind === "option" && clicked.has(shown)) lead = `You have clicked ${shown}.\n${lead}`;
    const line = { text: shown, button: bracketed, product: `\n${bracketed}`, option: `  ${bracketed}` };
    lines += `${line[node.kind]}\n`;
  }
  return lead + lines;
}

/** What the environment reports as available: buttons, then products, then options, each once. */
export function pageActions({ nodes, hasSearchBar }: PageView): PageActions {
  const labels = (kind: PageNode["kind"]) =>
    nodes.filter((node) => node.kind === kind).map((node) => node.text);
  const clickables = new Set([
    ...[...labels("button"), ...labels("product")].map((label) => label.toLowerCase()),
    ...labels("option"),
  ]);
  return { has_search_bar: hasSearchBar, clickables: [...clickables] };
}
