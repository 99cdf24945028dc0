/** Text, or an element: its tag, the properties that React gives it, and its children. */
export type HtmlNode = string | readonly [string, Readonly<Record<string, string>>, readonly HtmlNode[]];

/** @throws Error for HTML that `marked` does not write: elements that are not closed, unknown entities */
export function htmlNodes(html: string): HtmlNode[];
