// `import nodes from "…/inspecting.md?guide"` in the page: a page of docs/ as a tree of elements, so that the guide
// inside the workbench and the one in the repository are one text, and the page need not parse HTML. Pictures become
// files of the build.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Marked } from "marked";
import { htmlNodes } from "./html-nodes.mjs";

const SUFFIX = ".md?guide";

/** The page has its own choice of theme, so both pictures are there and its style sheet shows one. */
const PICTURE =
  /<picture><source media="[^"]*dark[^"]*" srcset="([^"]+)"><img src="([^"]+)" alt="([^"]*)"><\/picture>/g;
const BOTH =
  '<img class="on-light" loading="lazy" src="$2" alt="$3"><img class="on-dark" loading="lazy" src="$1" alt="$3">';

/** A link to another page of the guide is followed inside; one to any other file is its name alone. */
function link(pages) {
  return function render({ href, tokens }) {
    const text = this.parser.parseInline(tokens);
    if (/^https?:/.test(href)) return `<a href="${href}" rel="noreferrer" target="_blank">${text}</a>`;
    const page = /^([a-z-]+)\.md$/.exec(href)?.[1];
    if (page !== undefined && pages.includes(page)) return `<a href="#" data-guide="${page}">${text}</a>`;
    return `<span class="file" title="docs/${href}">${text}</span>`;
  };
}

/** @param {readonly string[]} pages names of the pages that link to each other, without `.md` */
export function guidePlugin(pages) {
  return {
    name: "gcopd-guide",
    enforce: "pre",
    resolveId(source, importer) {
      return source.endsWith(SUFFIX) && importer ? resolve(dirname(importer), source) : undefined;
    },
    async load(id) {
      if (!id.endsWith(SUFFIX)) return undefined;
      const file = id.slice(0, -"?guide".length);
      this.addWatchFile(file);
      const marked = new Marked({ gfm: true, renderer: { link: link(pages) } });
      const html = (await marked.parse(await readFile(file, "utf8"))).replaceAll(PICTURE, BOTH);
      const imports = [];
      const nodes = JSON.stringify(htmlNodes(html)).replace(/"src":"(images\/[^"]+)"/g, (_, picture) => {
        const name = `picture${imports.length}`;
        imports.push(`import ${name} from ${JSON.stringify(resolve(dirname(file), picture))};`);
        return `"src":${name}`;
      });
      return `${imports.join("\n")}\nexport default ${nodes};\n`;
    },
  };
}
