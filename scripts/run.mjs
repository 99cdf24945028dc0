// Runs a TypeScript program of this repository in Node: `node scripts/run.mjs scripts/sample/library.ts [arguments]`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { rawPlugin } from "./build.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * `import text from "./worker.ts?program"`: that program, bundled for a page's Web Worker, as text. What it imports as
 * `…?url` or `…?worker&url` it asks its own server for, by the file's name.
 */
const programPlugin = {
  name: "program",
  setup(build) {
    build.onResolve({ filter: /\?program$/ }, (args) => ({
      path: resolve(args.resolveDir, args.path.slice(0, -"?program".length)),
      namespace: "program",
    }));
    build.onLoad({ filter: /.*/, namespace: "program" }, async ({ path }) => {
      const { outputFiles } = await esbuild.build({
        entryPoints: [path],
        write: false,
        bundle: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        logLevel: "warning",
        plugins: [rawPlugin, urlPlugin],
      });
      return { contents: outputFiles[0].text, loader: "text" };
    });
  },
};

const urlPlugin = {
  name: "url",
  setup(build) {
    build.onResolve({ filter: /\?(worker&)?url$/ }, ({ path }) => ({ path, namespace: "url" }));
    build.onLoad({ filter: /.*/, namespace: "url" }, ({ path }) => ({
      contents: `/${basename(path).replace(/\?.*/, "")}`,
      loader: "text",
    }));
  },
};

/**
 * Bundles one program. Packages stay outside unless `standalone` is set: then only `webgpu`, a native module, does, and
 * `playwright`, which finds its browser where no other was named.
 * @param {string} entry
 * @param {string} outfile
 * @param {{ standalone?: boolean }} [options]
 */
export async function bundle(entry, outfile, { standalone = false } = {}) {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    ...(standalone ? { external: ["webgpu", "playwright"] } : { packages: "external" }),
    sourcemap: "inline",
    logLevel: "warning",
    plugins: [rawPlugin, programPlugin],
  });
}

/**
 * Bundles one program, runs it in the root of the repository, and takes the bundle away. Returns its exit status.
 * @param {string} entry
 * @param {readonly string[]} programArguments
 * @param {readonly string[]} [nodeOptions]
 */
export async function run(entry, programArguments, nodeOptions = []) {
  // Inside node_modules, so that packages resolve as they do for the repository's own files.
  const folder = mkdtempSync(join(root, "node_modules", ".run-"));
  try {
    const program = join(folder, `${basename(entry, ".ts")}.mjs`);
    await bundle(entry, program);
    const { status } = spawnSync(
      process.execPath,
      ["--enable-source-maps", ...nodeOptions, program, ...programArguments],
      { stdio: "inherit", cwd: root },
    );
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [entry, ...rest] = process.argv.slice(2);
  if (!entry) {
    console.error("usage: node scripts/run.mjs PROGRAM.ts [arguments]");
    process.exit(2);
  }
  process.exitCode = await run(entry, rest);
}
