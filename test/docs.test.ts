/** What the documents for contributors name is there. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
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

/** Folders of a folder that have a file of each name. */
const folders = (inside: string, ...parts: RegExp[]): string[][] =>
  readdirSync(join(root, inside), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => code.filter((path) => path.startsWith(join(root, inside, name, "/"))))
    .filter((files) => parts.every((part) => files.some((path) => part.test(path))));
/** Files of a folder, each with that of the same name and another ending where one is given. */
const files = (inside: string, holds: RegExp, ending?: string): string[][] =>
  code
    .filter((path) => path.startsWith(join(root, inside, "/")) && path.endsWith(".ts"))
    .filter((path) => holds.test(readFileSync(path, "utf8")))
    .map((path) => (ending === undefined ? [path] : [path.replace(/\.ts$/, ending), path]))
    .filter((all) => all.every((path) => existsSync(path)));

it.each([
  [
    "environment: rules",
    [
      ...folders("src/core/environment", /\/rules\.ts$/, /\/protocol\.ts$/, /\/prompt\.json$/),
      ...folders("test/skeleton", /\/rules\.ts$/, /\/prompt\.json$/),
    ],
  ],
  [
    "environment: simulator",
    [
      ...files("src/simulator", /class \w+ implements Environment\b/),
      ...files("test/support", /export function \w+\([^{]*\): Environment \{/),
    ],
  ],
  [
    "engine",
    [
      ...folders("src/engine", /\/scorer\.ts$/, /\.test\.ts$/),
      ...files("test/skeleton", /class \w+ implements Scorer\b/),
    ],
  ],
  [
    "launcher",
    [
      ...files("src/worker/launch", /\bask: \{[\s\S]*: SchedulerKind = /),
      ...files("test/skeleton", /\bask: \{[\s\S]*: SchedulerKind = /),
    ],
  ],
  ["kernel", files("src/tensor/webgpu", /export function \w+Operations\(/, ".wgsl")],
  ["view", folders("src/app/features", /-view\.tsx$/, /\/actions\.ts$/, /\.css$/, /\.test\.ts$/)],
])("what adding.md says to copy for a new %s is the smallest whole one", (kind, candidates) => {
  const row = readFileSync(join(root, "docs/adding.md"), "utf8")
    .split("\n")
    .find((line) => line.startsWith(`| ${kind} | `));
  const named = /`([^`]+)`/.exec(row ?? "")?.[1];
  const size = (all: readonly string[]) => all.reduce((sum, path) => sum + statSync(path).size, 0);
  const [smallest] = [...candidates].sort((a, b) => size(a) - size(b));
  expect(
    smallest!.map((path) => relative(root, path)).some((path) => path.startsWith(named!)),
    named,
  ).toBe(true);
});
