import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");

function filesOf(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile() && ending.test(each.name) && !/\.test\.tsx?$/.test(each.name))
    .map((each) => join(each.parentPath, each.name));
}

/** A style sheet without what holds only for those who have not asked for less motion. */
function still(css: string): string {
  const asked = "@media (prefers-reduced-motion: no-preference) {";
  const at = css.indexOf(asked);
  if (at < 0) return css;
  let depth = 1;
  let end = at + asked.length;
  while (depth > 0 && end < css.length) {
    depth += css[end] === "{" ? 1 : css[end] === "}" ? -1 : 0;
    end += 1;
  }
  return css.slice(0, at) + still(css.slice(end));
}

describe("motion", () => {
  it("is only for those who have not asked for less of it", () => {
    const moving = /\b(transition|animation)(-[a-z]+)?\s*:|@keyframes|scroll-behavior\s*:\s*smooth/;
    const sheets = filesOf(root, /\.css$/);
    expect(sheets.length).toBeGreaterThan(5);
    expect(sheets.filter((file) => moving.test(still(readFileSync(file, "utf8"))))).toEqual([]);
  });

  it("is not made by scripts", () => {
    const moving = /behavior:\s*["']smooth["']|\.animate\(|style=\{\{[^}]*\b(transition|animation)\b/;
    const scripts = filesOf(root, /\.tsx?$/);
    expect(scripts.filter((file) => moving.test(readFileSync(file, "utf8")))).toEqual([]);
  });
});
