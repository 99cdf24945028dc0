import { expect, it } from "vitest";
import { statisticsMarkdown } from "./statistics-markdown.ts";

it("aligns figures to the right, and keeps a bar inside its cell", () => {
  const text = statisticsMarkdown("a|b", [{ title: "T", head: ["x", "y"], rows: [["p|q", "1"]] }]);
  expect(text).toBe("## a|b\n\n### T\n\n| x | y |\n| --- | ---: |\n| p\\|q | 1 |\n");
});
