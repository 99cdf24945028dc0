// Builds dist/: the Node bundles (method and records, text, tensor, engine, worker, command line) with esbuild, and, unless --fast
// is given, the page with Vite and the type declarations with tsc.
import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Vite spells "this file as text" `?raw`; teach esbuild the same, so that one import works in both. */
export const rawPlugin = {
  name: "raw",
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, (args) => ({
      path: resolve(args.resolveDir, args.path.slice(0, -"?raw".length)),
      namespace: "raw",
    }));
    build.onLoad({ filter: /.*/, namespace: "raw" }, async (args) => ({
      contents: await readFile(args.path, "utf8"),
      loader: "text",
    }));
  },
};

/** The bundles of package.json's `exports`, and the command line. Dependencies stay outside: npm installs them. */
export async function buildNode() {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: {
      index: "src/index.ts",
      text: "src/text/index.ts",
      tensor: "src/tensor/index.ts",
      "engine/webgpu": "src/engine/native/index.ts",
      "engine/webgpu-node": "src/engine/native/node.ts",
      "engine/onnx": "src/engine/onnx/index.ts",
      worker: "src/worker/index.ts",
      cli: "src/cli/main.ts",
    },
    outdir: "dist",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    sourcemap: true,
    logLevel: "warning",
    plugins: [rawPlugin],
  });
}

/** Puts a compressed sister beside each script and style of the page, so that the worker compresses none per visit. */
async function compressPage() {
  const assets = resolve(root, "dist/page/assets");
  for (const name of await readdir(assets)) {
    if (!/\.(js|css)$/.test(name)) continue;
    const file = resolve(assets, name);
    await writeFile(`${file}.gz`, gzipSync(await readFile(file), { level: 9 }));
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await buildNode();
  if (!process.argv.includes("--fast")) {
    const { build } = await import("vite");
    await build({ root, logLevel: "warn" });
    await compressPage();
    execFileSync(
      process.execPath,
      [resolve(root, "node_modules/typescript/bin/tsc"), ...["-p", "tsconfig.build.json"]],
      { cwd: root, stdio: "inherit" },
    );
  }
}
