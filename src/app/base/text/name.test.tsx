import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Name } from "./name.tsx";

it("breaks a name after its separators only, and changes nothing else", () => {
  const shown = renderToStaticMarkup(<Name>made/mini/world-1000/pick_two-50</Name>);
  expect(shown).toBe("<bdi>made/<wbr/>mini/<wbr/>world-<wbr/>1000/<wbr/>pick_<wbr/>two-<wbr/>50</bdi>");
  expect(renderToStaticMarkup(<Name>melt|12|easy</Name>)).toBe("<bdi>melt|12|easy</bdi>");
});
