// Runs a TypeScript program of this repository in Node: `node scripts/run.mjs scripts/sample/library.ts [arguments]`.
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { rawPlugin } from "./build.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/**
 * Bundles one program. Packages stay outside unless `standalone` is set (then only `webgpu`, a native module, does).
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
    ...(standalone ? { external: ["webgpu"] } : { packages: "external" }),
    sourcemap: "inline",
    logLevel: "warning",
    plugins: [rawPlugin],
  });
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [entry, ...rest] = process.argv.slice(2);
  if (!entry) {
    console.error("usage: node scripts/run.mjs PROGRAM.ts [arguments]");
    process.exit(2);
  }
  // Inside node_modules, so that packages resolve as they do for the repository's own files.
  const folder = join(root, "node_modules/.cache/gcopd");
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${basename(entry, ".ts")}.mjs`);
  await bundle(entry, outfile);
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", outfile, ...rest], {
    stdio: "inherit",
  });
  process.exit(status ?? 1);
}
