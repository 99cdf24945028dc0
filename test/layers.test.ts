import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** docs/design: each folder may import only from folders above it in this list. */
const LAYERS = ["core", "text", "tensor", "node", "engine", "simulator", "app", "worker", "cli"];
const root = resolve(import.meta.dirname, "../src");

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return files(path);
    return /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name) ? [path] : [];
  });
}

/** Module names that a file imports, types included. */
function imports(path: string): string[] {
  const text = readFileSync(path, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");
  return [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)["']([^"']+)["']/g)].map(
    (m) => m[1] as string,
  );
}

function layerOf(path: string): string {
  return relative(root, path).split("/")[0] as string;
}

describe("layers", () => {
  const all = files(root);

  it("finds the sources", () => {
    expect(all.length).toBeGreaterThan(30);
    for (const path of all) expect(LAYERS, path).toContain(layerOf(path));
  });

  it("import only downwards", () => {
    const upward = all.flatMap((path) =>
      imports(path)
        .filter((name) => name.startsWith("."))
        .map((name) => ({ path, target: resolve(dirname(path), name) }))
        .filter(({ target }) => target.startsWith(`${root}/`))
        .filter(({ target }) => LAYERS.indexOf(layerOf(target)) > LAYERS.indexOf(layerOf(path)))
        .map(({ target }) => `${relative(root, path)} imports ${relative(root, target)}`),
    );
    expect(upward).toEqual([]);
  });

  it("form no cycle, not even of types", () => {
    const targets = new Map(
      all.map((path) => [
        path,
        imports(path)
          .filter((name) => name.startsWith("."))
          .map((name) => resolve(dirname(path), name)),
      ]),
    );
    const done = new Set<string>();
    const found: string[] = [];
    const visit = (path: string, way: readonly string[]): void => {
      const at = way.indexOf(path);
      if (at >= 0) found.push([...way.slice(at), path].map((each) => relative(root, each)).join(" → "));
      if (at >= 0 || done.has(path)) return;
      for (const target of targets.get(path) ?? []) visit(target, [...way, path]);
      done.add(path);
    };
    for (const path of all) visit(path, []);
    expect(found).toEqual([]);
  });

  it("keep what may not be in a folder out of it", () => {
    const banned: [string, RegExp][] = [
      ["core", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["text", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["tensor", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["node", /^(react|webgpu$|hono|libsql|commander)/],
      ["simulator", /^(react|webgpu$|hono|libsql|commander)|\/(text|tensor|engine)\//],
      ["simulator/alfworld", /^node:|\/node\//],
      ["app", /^(node:|webgpu$|hono|libsql|commander)|\/(node|simulator\/scienceworld)\/[^/]+\.ts$/],
      ["worker", /^react/],
      ["cli", /^react/],
    ];
    const found = all.flatMap((path) =>
      imports(path)
        .filter((name) =>
          banned.some(([folder, what]) => path.startsWith(`${join(root, folder)}/`) && what.test(name)),
        )
        .map((name) => `${relative(root, path)} imports ${name}`),
    );
    expect(found).toEqual([]);
  });

  it("simulators need only the core; ScienceWorld's runs in Node", () => {
    const found = all
      .filter((path) => layerOf(path) === "simulator")
      .flatMap((path) => {
        const inNode = path.includes("/scienceworld/");
        return imports(path)
          .filter((name) => {
            if (!name.startsWith(".")) return !inNode && name.startsWith("node:");
            const layer = layerOf(resolve(dirname(path), name));
            return !["simulator", "core", ...(inNode ? ["node"] : [])].includes(layer);
          })
          .map((name) => `${relative(root, path)} imports ${name}`);
      });
    expect(found).toEqual([]);
  });

  it("tensor knows nothing of the method", () => {
    const found = all
      .filter((path) => layerOf(path) === "tensor")
      .flatMap((path) => imports(path).map((name) => `${relative(root, path)} imports ${name}`))
      .filter((line) =>
        /core\/(retrieval|evidence|graph|objective|method|loop|environment|record)/.test(line),
      );
    expect(found).toEqual([]);
  });
});
