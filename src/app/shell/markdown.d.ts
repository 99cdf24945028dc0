/** A page of docs/ as HTML: scripts/guide-plugin.mjs. */
declare module "*.md?guide" {
  const html: string;
  export default html;
}
