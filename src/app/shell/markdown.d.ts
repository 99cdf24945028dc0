/** A page of docs/ as elements: scripts/guide-plugin.mjs. */
declare module "*.md?guide" {
  const nodes: readonly import("../../../scripts/html-nodes.mjs").HtmlNode[];
  export default nodes;
}
