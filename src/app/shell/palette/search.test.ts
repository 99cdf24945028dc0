import { describe, expect, it } from "vitest";
import fc from "../../../../test/support/property.ts";
import { search, searchText } from "./search.ts";

const found = (query: string, titles: string[], words = ""): string[] =>
  search(
    query,
    titles.map((title) => searchText({ title, words })),
  ).map((index) => titles[index]!);

describe("search", () => {
  it("puts the start of the title before the start of a word before the inside of one", () => {
    expect(found("sc", ["Rescue", "Open the score", "Score this decision", "Other"])).toEqual([
      "Score this decision",
      "Open the score",
      "Rescue",
    ]);
  });
  it("wants every word, in any order", () => {
    expect(found("dark th", ["Theme: dark", "Theme: light", "Dark"])).toEqual(["Theme: dark"]);
  });
  it("finds by other words, after the titles", () => {
    const texts = [
      { title: "Training", words: "student" },
      { title: "Student panel", words: "" },
    ].map(searchText);
    expect(search("student", texts)).toEqual([1, 0]);
  });
  it("finds names of tasks by their parts", () => {
    expect(found("non 36", ["find-non-living-thing|36|easy", "melt|36|easy"])).toEqual([
      "find-non-living-thing|36|easy",
    ]);
  });
  it("keeps the order of what is equally good, and shows all without a query", () => {
    expect(found("a", ["a1", "a2", "a3"])).toEqual(["a1", "a2", "a3"]);
    expect(found("  ", ["b", "a"])).toEqual(["b", "a"]);
  });
  it("finds exactly what has every word, whatever the text", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (titles, query) => {
        const words = query.toLowerCase().split(/\s+/).filter(Boolean);
        const expected = titles.filter((title) => words.every((word) => title.toLowerCase().includes(word)));
        expect(found(query, titles).sort()).toEqual(expected.sort());
      }),
    );
  });
});
