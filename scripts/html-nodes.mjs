// HTML as `marked` writes it, as a tree that React makes elements of: `[tag, properties, children]`, or text.

const PIECE = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+="[^"]*")*)\s*\/?>|[^<]+|</g;
const ATTRIBUTE = /([a-z-]+)="([^"]*)"/g;
const VOID = ["br", "hr", "img"];
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** The name that React has for an attribute. */
const property = (name) => (name === "class" ? "className" : name);

function text(html) {
  return html.replace(/&(?:([a-z]+|#39);)?/g, (entity, name) => {
    if (!Object.hasOwn(ENTITIES, name)) throw new Error(`unknown entity: ${entity} in ${html}`);
    return ENTITIES[name];
  });
}

/**
 * @param {string} html
 * @returns {import("./html-nodes.mjs").HtmlNode[]}
 */
export function htmlNodes(html) {
  const root = ["", {}, []];
  const open = [root];
  for (const [piece, end, tag, attributes] of html.matchAll(PIECE)) {
    const [name, , children] = open.at(-1);
    if (tag === undefined) {
      if (piece === "<")
        throw new Error(`no element that is known here: ${html.slice(html.indexOf(piece), 80)}`);
      children.push(text(piece));
    } else if (end === "/") {
      if (name !== tag) throw new Error(`</${tag}> ends <${name}>`);
      open.pop();
    } else {
      const pairs = [...attributes.matchAll(ATTRIBUTE)].map(([, key, value]) => [property(key), text(value)]);
      const element = [tag, Object.fromEntries(pairs), []];
      children.push(element);
      if (!VOID.includes(tag)) open.push(element);
    }
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)[0]}> is not closed`);
  return root[2];
}
