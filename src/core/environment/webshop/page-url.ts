/**
 * Page addresses of WebShop in both dialects. `flask`: the web site, where keywords and options are percent-encoded
 * Python reprs. `text_env`: the text environment, where nothing is escaped, keywords are joined by `+`, and options are
 * JSON on item pages and a Python repr on sub-pages and the final page.
 */

import type { PageDescriptor } from "./page.ts";
import { percentDecode } from "./percent-decode.ts";
import { pythonStringDict, pythonStringList } from "./python-literal.ts";

export type UrlDialect = "flask" | "text_env";

/** How one dialect spells the parts of a path. Each throws `SyntaxError` for a text that it cannot read. */
interface Spelling {
  text(raw: string): string;
  keywords(raw: string): string[];
  options(raw: string, route: string): Record<string, string>;
}

const FLASK: Spelling = {
  text: percentDecode,
  // The site takes whatever does not open a list as one single keyword.
  keywords(raw) {
    const text = percentDecode(raw);
    return text.startsWith("[") ? pythonStringList(text) : [text];
  },
  options: (raw) => pythonStringDict(percentDecode(raw)),
};

const TEXT_ENV: Spelling = {
  text: (raw) => raw,
  keywords: (raw) => raw.split("+"),
  options: (raw, route) => (route === "item_page" ? jsonStringRecord(raw) : pythonStringDict(raw)),
};

function jsonStringRecord(text: string): Record<string, string> {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SyntaxError("options that are not an object");
  }
  for (const [name, option] of Object.entries(value)) {
    if (typeof option !== "string") throw new SyntaxError(`option ${JSON.stringify(name)} is not a string`);
  }
  return value as Record<string, string>;
}

/**
 * The descriptor that an address stands for. Some addresses of the text environment stand for several pages (a `+`
 * inside a keyword looks like the one between two): then it is what the address alone says.
 * Throws `SyntaxError` for an address that is not WebShop's.
 */
export function pageOfUrl(url: string, dialect: UrlDialect): PageDescriptor {
  const { route, rest } = splitAddress(url, dialect);
  const spelling = dialect === "flask" ? FLASK : TEXT_ENV;
  switch (route) {
    case "start":
      return { page_type: route, keywords: [], page: null, asin: null, options: {}, sub_page: null };
    case "search_results": {
      const match = /^(.*)\/(\d+)$/s.exec(rest);
      if (match === null) throw new SyntaxError("search_results without keywords and a page number");
      return {
        page_type: route,
        keywords: spelling.keywords(match[1]!),
        page: pageNumber(match[2]!),
        asin: null,
        options: {},
        sub_page: null,
      };
    }
    case "item_page":
    case "item_sub_page":
      return itemPage(route, rest, spelling);
    case "done": {
      const { asin, rest: options } = takeAsin(route, rest, spelling);
      return { page_type: route, asin, options: spelling.options(options, route) };
    }
  }
}

const ROUTES = ["search_results", "item_page", "item_sub_page", "done"] as const;

/** The route of an address, and what stands behind its session. */
function splitAddress(
  url: string,
  dialect: UrlDialect,
): { route: "start" | (typeof ROUTES)[number]; rest: string } {
  let path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, "");
  // In the site's addresses a question mark or hash of a keyword is escaped; in the text environment's it is not.
  if (dialect === "flask") path = path.replace(/[?#].*$/s, "");
  const match = /^\/([^/]+)(?:\/(.*))?$/s.exec(path);
  if (match === null) throw new SyntaxError("an address without a session");
  const [, first = "", behind] = match;
  if (behind === undefined) return { route: "start", rest: "" };
  const route = ROUTES.find((name) => name === first);
  if (route === undefined) throw new SyntaxError(`unknown page ${JSON.stringify(first)}`);
  const slash = behind.indexOf("/");
  if (slash <= 0) throw new SyntaxError(`${route} without a session or without what follows it`);
  return { route, rest: behind.slice(slash + 1) };
}

function takeAsin(route: string, rest: string, spelling: Spelling): { asin: string; rest: string } {
  const slash = rest.indexOf("/");
  if (slash <= 0) throw new SyntaxError(`${route} without a product and its options`);
  return { asin: spelling.text(rest.slice(0, slash)), rest: rest.slice(slash + 1) };
}

/**
 * `<asin>/<keywords>/<page>[/<sub page>]/<options>`. Keywords and options may hold slashes, so the first page number is
 * taken behind which the options can be read to the end.
 */
function itemPage(route: "item_page" | "item_sub_page", path: string, spelling: Spelling): PageDescriptor {
  const { asin, rest } = takeAsin(route, path, spelling);
  const middle = route === "item_page" ? /\/(\d+)\//g : /\/(\d+)\/([^/]+)\//g;
  let problem: SyntaxError | undefined;
  for (let match = middle.exec(rest); match !== null; match = middle.exec(rest)) {
    // The next try may start at the slash that ended this one.
    middle.lastIndex = match.index + 1;
    try {
      const options = spelling.options(rest.slice(match.index + match[0].length), route);
      const sub = match[2];
      return {
        page_type: route,
        keywords: spelling.keywords(rest.slice(0, match.index)),
        page: pageNumber(match[1]!),
        asin,
        options,
        sub_page: sub === undefined ? null : spelling.text(sub),
      };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problem ??= error;
    }
  }
  throw problem ?? new SyntaxError(`${route} without a page number between keywords and options`);
}

function pageNumber(digits: string): number {
  const page = Number(digits);
  if (!Number.isSafeInteger(page)) throw new SyntaxError(`page number ${digits} is too large`);
  return page;
}
