import { describe, expect, it } from "vitest";
import { htmlNodes } from "./html-nodes.mjs";

describe("htmlNodes", () => {
  it("makes a tree of elements, properties and text", () => {
    const html =
      '<p>a &lt;b&gt; &amp;amp; <a href="#" data-guide="x" class="y">c<br />d</a></p>\n<img alt="&quot;" src="e">';
    expect(htmlNodes(html)).toEqual([
      [
        "p",
        {},
        ["a <b> &amp; ", ["a", { href: "#", "data-guide": "x", className: "y" }, ["c", ["br", {}, []], "d"]]],
      ],
      "\n",
      ["img", { alt: '"', src: "e" }, []],
    ]);
  });

  it.each(["<p>", "</p>", "<p></b></p>", "&nbsp;", "a & b", "<!-- -->", "<p class=x></p>"])(
    "refuses %s",
    (html) => {
      expect(() => htmlNodes(html)).toThrow();
    },
  );
});
