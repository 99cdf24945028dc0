import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** Each folder of src/ may import only from folders above it in this list. */
const LAYERS = [
  "core",
  "formats",
  "protocol",
  "text",
  "tensor",
  "node",
  "engine",
  "simulator",
  "app",
  "worker",
  "cli",
];
/**
 * The same inside some of them, from the bottom up: rooms of one row know nothing of each other. The longest name that
 * begins a path decides; `.` stands for the other files of the folder itself.
 */
const ROOMS: Record<string, readonly (readonly string[])[]> = {
  core: [
    ["."],
    ["record"],
    ["ports.ts", "graph"],
    ["environment", "folder-text.ts", "manifest.ts"],
    ["retrieval", "objective", "evaluation"],
    ["method", "evidence"],
    ["statistics", "loop"],
    ["gate"],
  ],
  tensor: [["."], ["reference", "webgpu"]],
  app: [
    ["base"],
    ["url"],
    ["data"],
    ["compute"],
    [
      "features/library",
      "features/task",
      "features/tokens",
      "features/play",
      "features/training",
      "features/evaluation",
      "features/runs",
      "features/targets",
      "features/statistics",
      "features/evidence-test",
    ],
    ["shell"],
    ["."],
  ],
};
/**
 * Rooms with a public face. Their folders of the names in `CLOSED` are their own: internals, and what runs in a Web
 * Worker. Everything else in them is for others, and is used by others.
 */
const FACED = ["app/data", "app/compute"];
const CLOSED = /\/(internal|worker)\//;
/** Files that put a folder's parts together, for those outside of it. */
const FACES = ["index.ts", "core/index.ts", "tensor/index.ts"];
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

/** The files of `src/` that a file imports, types included. */
function targets(path: string): string[] {
  return imports(path)
    .filter((name) => name.startsWith("."))
    .map((name) => resolve(dirname(path), name.replace(/\?.*$/, "")))
    .filter((target) => target.startsWith(`${root}/`));
}

function layerOf(path: string): string {
  return relative(root, path).split("/")[0] as string;
}

describe("layers", () => {
  const all = files(root).filter((path) => relative(root, path) !== "index.ts");

  it("finds the sources", () => {
    expect(all.length).toBeGreaterThan(30);
    for (const path of all) expect(LAYERS, path).toContain(layerOf(path));
  });

  it("import only downwards", () => {
    const upward = all.flatMap((path) =>
      targets(path)
        .filter((target) => LAYERS.indexOf(layerOf(target)) > LAYERS.indexOf(layerOf(path)))
        .map((target) => `${relative(root, path)} imports ${relative(root, target)}`),
    );
    expect(upward).toEqual([]);
  });

  describe.each(Object.entries(ROOMS))("inside %s", (folder, rows) => {
    const inside = join(root, folder);
    const names = rows.flat();
    const roomOf = (path: string): string | undefined => {
      const name = relative(inside, path);
      const fits = names.filter((room) => name === room || name.startsWith(`${room}/`));
      return fits.length > 0 ? fits[0] : name.includes("/") ? undefined : ".";
    };
    const rank = (room: string | undefined): number => rows.findIndex((row) => row.includes(room ?? ""));
    const own = all.filter((path) => path.startsWith(`${inside}/`) && !FACES.includes(relative(root, path)));

    it("every file has a room", () => {
      expect(own.length).toBeGreaterThan(30);
      expect(own.filter((path) => rank(roomOf(path)) < 0).map((path) => relative(root, path))).toEqual([]);
    });

    it("rooms import only from rows below", () => {
      const found = own.flatMap((path) =>
        targets(path)
          .filter((target) => target.startsWith(`${inside}/`))
          .filter((target) => roomOf(target) !== roomOf(path) && rank(roomOf(target)) >= rank(roomOf(path)))
          .map((target) => `${relative(root, path)} imports ${relative(root, target)}`),
      );
      expect(found).toEqual([]);
    });
  });

  describe.each(FACED)("the public face of %s", (folder) => {
    const inside = (path: string): boolean => path.startsWith(`${join(root, folder)}/`);
    const closed = (path: string): boolean => inside(path) && CLOSED.test(relative(root, path));
    const outsiders = new Set(all.filter((path) => !inside(path)).flatMap(targets));

    it("is all that others import", () => {
      const found = all
        .filter((path) => !inside(path))
        .flatMap((path) =>
          targets(path)
            .filter(closed)
            .map((target) => `${relative(root, path)} imports ${relative(root, target)}`),
        );
      expect(found).toEqual([]);
      expect(all.filter(closed).length).toBeGreaterThan(20);
    });

    it("has nothing that no one else imports", () => {
      const unused = all.filter((path) => inside(path) && !closed(path) && !outsiders.has(path));
      expect(unused.map((path) => relative(root, path))).toEqual([]);
    });
  });

  it("a feature keeps what it alone uses in its own folder", () => {
    const importers = new Map<string, string[]>();
    for (const path of all) {
      for (const target of targets(path)) importers.set(target, [...(importers.get(target) ?? []), path]);
    }
    const shared = (path: string): boolean =>
      FACED.some((folder) => path.startsWith(`${join(root, folder)}/`));
    /** The folders outside of data and compute that a file of theirs reaches, through any others of theirs. */
    const usersOf = (path: string): Set<string> => {
      const seen = new Set([path]);
      for (const each of seen) if (shared(each)) for (const by of importers.get(each) ?? []) seen.add(by);
      const outside = [...seen]
        .filter((each) => !shared(each))
        .map((each) => relative(join(root, "app"), each));
      return new Set(
        outside.map((name) =>
          name
            .split("/")
            .slice(0, name.startsWith("features/") ? 2 : 1)
            .join("/"),
        ),
      );
    };
    const found = all.filter(shared).flatMap((path) => {
      // The shell may import from a feature, so its use alone is no reason to share a file.
      const users = [...usersOf(path)].filter((user) => user !== "shell");
      const [only] = users;
      return users.length === 1 && only?.startsWith("features/") ? [`${relative(root, path)}: ${only}`] : [];
    });
    expect(found).toEqual([]);
  });

  it("form no cycle, not even of types", () => {
    const done = new Set<string>();
    const found: string[] = [];
    const visit = (path: string, way: readonly string[]): void => {
      const at = way.indexOf(path);
      if (at >= 0) found.push([...way.slice(at), path].map((each) => relative(root, each)).join(" → "));
      if (at >= 0 || done.has(path)) return;
      for (const target of targets(path)) visit(target, [...way, path]);
      done.add(path);
    };
    for (const path of all) visit(path, []);
    expect(found).toEqual([]);
  });

  it("keep what may not be in a folder out of it", () => {
    const banned: [string, RegExp][] = [
      ["core", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["formats", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["protocol", /^(node:|react|webgpu$|@?hono|libsql|commander)/],
      ["text", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["tensor", /^(node:|react|webgpu$|hono|libsql|commander)/],
      ["node", /^(react|webgpu$|hono|commander)/],
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

  it("simulators need only the core and its formats; ScienceWorld's runs in Node", () => {
    const found = all
      .filter((path) => layerOf(path) === "simulator")
      .flatMap((path) => {
        const inNode = path.includes("/scienceworld/");
        return imports(path)
          .filter((name) => {
            if (!name.startsWith(".")) return !inNode && name.startsWith("node:");
            const layer = layerOf(resolve(dirname(path), name));
            return !["simulator", "core", "formats", ...(inNode ? ["node"] : [])].includes(layer);
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
        /core\/(retrieval|evidence|graph|objective|method|loop|environment|record)|formats\//.test(line),
      );
    expect(found).toEqual([]);
  });
});
