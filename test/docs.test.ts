/** What the documents for contributors name is there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const code = ["src", "test", "e2e"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => !path.startsWith("fixtures"))
    .map((path) => join(root, folder, path)),
);
const fileNames = new Set(code.map((path) => basename(path)));
const sources = code.filter((path) => /\.tsx?$/.test(path)).map((path) => readFileSync(path, "utf8"));

it.each(["adding.md", "architecture.md"])("the files and lists that %s names are there", (name) => {
  const text = readFileSync(join(root, "docs", name), "utf8").replaceAll(/```[\s\S]*?```/g, "");
  const named = [...new Set([...text.matchAll(/`([^`\s<]+)`/g)].map((match) => match[1]!))];
  const isThere = (each: string): boolean => {
    const [first] = each.split("/");
    if (first !== each && existsSync(join(root, first!))) return existsSync(join(root, each));
    if (first !== each && existsSync(join(root, "src", first!))) return existsSync(join(root, "src", each));
    if (/^[\w.-]+\.(ts|tsx|wgsl|sh)$/.test(each)) return fileNames.has(each);
    if (/^[A-Z]+(_[A-Z]+)*$/.test(each))
      return sources.some((source) => new RegExp(`\\b(const|enum) ${each}\\b`).test(source));
    return true;
  };
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((each) => !isThere(each))).toEqual([]);
});
