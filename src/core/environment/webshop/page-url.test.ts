import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environmentFixture, fixtureFolder } from "../../../../test/support/environment-fixture.ts";
import fc from "../../../../test/support/property.ts";
import { locatePage } from "./locate-page.ts";
import { type PageDescriptor, pageKey } from "./page.ts";
import { pageOfUrl, type UrlDialect } from "./page-url.ts";

interface Case {
  id: string;
  dialect: UrlDialect;
  url: string;
  descriptor: PageDescriptor;
  descriptor_from_url?: PageDescriptor;
  key: string;
}

const CASES = readFileSync(join(fixtureFolder("webshop"), "url-cases.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

describe("recorded addresses", () => {
  test("there are all of them", () => expect(CASES).toHaveLength(24));

  test.each(CASES.map((entry) => [entry.id, entry] as const))("%s", (_id, entry) => {
    expect(pageOfUrl(entry.url, entry.dialect)).toEqual(entry.descriptor_from_url ?? entry.descriptor);
    expect(locatePage(entry)).toEqual({
      id: { key: "id", value: entry.id },
      key: entry.key,
      state: { key: entry.key, mode: "normal", options: {} },
    });
    expect(locatePage({ id: entry.id, descriptor: entry.descriptor }).key).toBe(entry.key);
  });
});

test("every recorded state has the key of its descriptor", () => {
  const { sources, episodes } = environmentFixture("webshop");
  let states = 0;
  for (const { decisions, final_state } of [...sources, ...episodes]) {
    for (const state of [...decisions.map((decision) => decision.state), final_state]) {
      if (state === null) continue;
      expect(pageKey(state.descriptor as PageDescriptor)).toBe(state.key);
      states++;
    }
  }
  expect(states).toBeGreaterThan(800);
});

/** Python's repr of a string, as the two dialects carry it. */
function repr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = [...text]
    .map((letter) => {
      const code = letter.codePointAt(0)!;
      if (letter === "\\" || letter === quote) return `\\${letter}`;
      if (letter === "\n") return "\\n";
      if (letter === "\r") return "\\r";
      if (letter === "\t") return "\\t";
      if (code < 0x20 || (code > 0x7e && code < 0xa1)) return `\\x${code.toString(16).padStart(2, "0")}`;
      if (code === 0x2028) return "\\u2028";
      if (code === 0xe0001) return "\\U000e0001";
      return letter;
    })
    .join("");
  return `${quote}${inner}${quote}`;
}
const reprList = (list: readonly string[]) => `[${list.map(repr).join(", ")}]`;
const reprDict = (options: Record<string, string>) =>
  `{${Object.entries(options)
    .map(([name, value]) => `${repr(name)}: ${repr(value)}`)
    .join(", ")}}`;
/** JSON as Python writes it. */
const json = (options: Record<string, string>) =>
  `{${Object.entries(options)
    .map((pair) => pair.map((text) => JSON.stringify(text)).join(": "))
    .join(", ")}}`;

const text = fc.string({
  unit: fc.constantFrom(..."ab'\"\\/+%#?{}[]:,1 \n\t\u00a0\u2028é😀", "\u{e0001}"),
  maxLength: 8,
});
const asin = fc.constantFrom("B0SYN00017", "B015000001");
const options = fc.dictionary(text, text, { maxKeys: 3, noNullPrototype: true });
const page = fc.integer({ min: 1, max: 12 });
const subPage = fc.constantFrom("Description", "Features", "Reviews", "Attributes");
const keywords = fc.array(text, { minLength: 1, maxLength: 4 });

describe("pages as the sites would spell them", () => {
  test("in the web site's dialect, whichever characters its encoder leaves", () => {
    const encoders = [
      encodeURIComponent,
      (raw: string) => encodeURIComponent(raw).replace(/%27/g, "'").replace(/%3A/g, ":").replace(/%2C/g, ","),
      (raw: string) => encodeURIComponent(raw).replace(/['!()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...encoders),
        asin,
        keywords,
        page,
        subPage,
        options,
        (e, id, k, p, sub, o) => {
          const base = "http://shop.example:3000";
          const words = e(reprList(k));
          const open = { keywords: k, page: p, asin: id, options: o };
          expect(pageOfUrl(`${base}/search_results/s1/${words}/${p}`, "flask")).toEqual({
            page_type: "search_results",
            ...open,
            asin: null,
            options: {},
            sub_page: null,
          });
          expect(pageOfUrl(`${base}/item_page/s1/${id}/${words}/${p}/${e(reprDict(o))}`, "flask")).toEqual({
            page_type: "item_page",
            ...open,
            sub_page: null,
          });
          expect(
            pageOfUrl(`${base}/item_sub_page/s1/${id}/${words}/${p}/${sub}/${e(reprDict(o))}`, "flask"),
          ).toEqual({ page_type: "item_sub_page", ...open, sub_page: sub });
          expect(pageOfUrl(`${base}/done/s1/${id}/${e(reprDict(o))}`, "flask")).toEqual({
            page_type: "done",
            asin: id,
            options: o,
          });
        },
      ),
    );
  });

  test("in the text environment's dialect, with nothing escaped", () => {
    // A keyword with a plus sign cannot be told from two; one that looks like the rest of an address ends too early.
    const plain = keywords.filter((k) => !k.some((word) => /\+|\/\d+\/.*\{/s.test(`${word}/`)));
    fc.assert(
      fc.property(asin, plain, page, subPage, options, (id, k, p, sub, o) => {
        const base = "http://127.0.0.1:3000";
        const words = k.join("+");
        const open = { keywords: k, page: p, asin: id, options: o };
        expect(pageOfUrl(`${base}/search_results/e7/${words}/${p}`, "text_env")).toMatchObject({
          keywords: k,
          page: p,
        });
        expect(pageOfUrl(`${base}/item_page/e7/${id}/${words}/${p}/${json(o)}`, "text_env")).toEqual({
          page_type: "item_page",
          ...open,
          sub_page: null,
        });
        expect(
          pageOfUrl(`${base}/item_sub_page/e7/${id}/${words}/${p}/${sub}/${reprDict(o)}`, "text_env"),
        ).toEqual({ page_type: "item_sub_page", ...open, sub_page: sub });
        expect(pageOfUrl(`${base}/done/e7/${id}/${reprDict(o)}`, "text_env")).toEqual({
          page_type: "done",
          asin: id,
          options: o,
        });
      }),
    );
  });

  test("and what an address cannot say is what it says alone", () => {
    expect(pageOfUrl("/search_results/e/c+++book/1", "text_env")).toMatchObject({
      keywords: ["c", "", "", "book"],
    });
    expect(pageOfUrl("/search_results/e//1", "text_env")).toMatchObject({ keywords: [""] });
    // Half a list is not a list: the web site could not open it either.
    expect(() => pageOfUrl("/search_results/m/%5B%27a/1", "flask")).toThrow("expected a closing quote");
  });

  test("options in any order have one key", () => {
    const done = (some: Record<string, string>): PageDescriptor => ({
      page_type: "done",
      asin: "B0",
      options: some,
    });
    expect(pageKey(done({ size: "9", color: "red" }))).toBe(pageKey(done({ color: "red", size: "9" })));
    expect(pageKey(done({ size: "9" }))).not.toBe(pageKey(done({ size: "8" })));
  });
});

describe("bad captures", () => {
  const where = { file: "raw.jsonl", line: 4 };
  const url = (path: string, dialect: UrlDialect = "flask") => ({
    id: "x",
    dialect,
    url: `http://h:1${path}`,
  });

  test.each([
    [{ dialect: "flask", url: "/s" }, "raw.jsonl, line 4, case: missing; expected string (or an `id`)"],
    [{ id: "x" }, "raw.jsonl, line 4, url: missing; expected string (or a `descriptor`)"],
    [{ id: "x", url: "/s" }, 'raw.jsonl, line 4, dialect: missing; expected "flask" or "text_env"'],
    [{ id: "x", url: "/s", dialect: "web" }, 'dialect: expected "flask" or "text_env", received "web"'],
    [url("/"), "url: not a WebShop address: an address without a session"],
    [url("/shop/s/1"), 'url: not a WebShop address: unknown page "shop"'],
    [url("/done/s"), "done without a session or without what follows it"],
    [url("/done/s/B0"), "done without a product and its options"],
    [url("/done/s/B0/%7B%27a%27%7D"), 'expected ":" at character 5, found "}"'],
    [url("/done/s/B0/%7B%27a%27:%201%7D"), 'expected a quoted string at character 7, found "1"'],
    [url("/done/s/B0/%7B%7D%7D"), 'expected the end at character 3, found "}"'],
    [url("/done/s/B0/%7B%27%5Cq%27%3A%27%27%7D"), 'an escape that repr writes at character 4, found "q"'],
    [url("/done/s/B0/%7B%27%5Cxg0%27%3A%27%27%7D"), "an escape with 2 hexadecimal digits"],
    [url("/done/s/B0/%ff"), "%ff is not UTF-8"],
    [url("/search_results/s/%5B%5D"), "search_results without keywords and a page number"],
    [url("/search_results/s/%5B1%5D/1"), 'expected a quoted string at character 2, found "1"'],
    [url(`/search_results/s/%5B%5D/${"9".repeat(30)}`), "is too large"],
    [url("/item_page/s/B0/%5B%5D/x/%7B%7D"), "item_page without a page number between keywords and options"],
    [url("/item_page/s/B0/a/1/{'a': 1}", "text_env"), "not a WebShop address: "],
    [url('/item_page/s/B0/a/1/{"a": 1}', "text_env"), 'option "a" is not a string'],
    [url("/item_page/s/B0/a/1/[]", "text_env"), "options that are not an object"],
    [{ id: "x", descriptor: 3 }, "raw.jsonl, line 4, descriptor: expected object, received number"],
    [{ id: "x", descriptor: { page_type: "basket" } }, "descriptor.page_type: expected "],
    [{ id: "x", descriptor: { page_type: "done", asin: "B0" } }, "descriptor.options: missing"],
  ])("%#", (raw, message) => {
    expect(() => locatePage(raw, where)).toThrow(message);
    expect(() => locatePage(raw, where)).toThrow(/^raw\.jsonl, line 4[^\n]*$/);
  });
});

describe("any text", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ..."/ /1/ /1/{ {} } [ ] ' \" \\ : , + % %5B %7B %27 %ff done item_page item_sub_page search_results s".split(
        " ",
      ),
      "http://h:1/",
    ),
    fc.string({ unit: "binary", maxLength: 3 }),
  );

  test("is a page or a SyntaxError", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("", "/done/s/B0/", "/item_page/s/B0/", "/item_sub_page/s/B0/", "/search_results/s/"),
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom<UrlDialect[]>("flask", "text_env"),
        (start, pieces, dialect) => {
          try {
            expect(pageKey(pageOfUrl(start + pieces.join(""), dialect))).toMatch(/^[0-9a-f]{64}$/);
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("is read in bounded time, however often it looks like the end of the keywords", () => {
    // With backtracking, one of them would take longer than a test may.
    for (const tail of ["/1/{", "/1/{'a': '", '/1/{"a": "']) {
      for (const dialect of ["flask", "text_env"] as const) {
        expect(() => pageOfUrl(`/item_page/s/B0/a${tail.repeat(5_000)}`, dialect)).toThrow(SyntaxError);
      }
    }
  });
});
