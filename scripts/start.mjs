// `npm start`: builds what is older than its sources, then runs the worker, which serves the page. Options are the
// worker's: `npm start -- --port 9000`.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Time of the latest change in files and folders; a folder's own time tells of files that were taken away. */
export function newest(paths) {
  let time = 0;
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const found = statSync(path);
    time = Math.max(time, found.mtimeMs);
    if (!found.isDirectory()) continue;
    const inside = readdirSync(path).filter((name) => !/\.test\.tsx?$/.test(name));
    time = Math.max(time, newest(inside.map((name) => join(path, name))));
  }
  return time;
}

/** Is `output` missing, or older than one of the `sources`? `stamp` is when it was last built, where that is kept. */
export function isStale(output, stamp, sources) {
  return !existsSync(output) || newest([stamp, output]) < newest(sources);
}

const inRoot = (...names) => names.map((name) => join(root, name));
const common = ["src", "package.json", "package-lock.json"];
const targets = [
  {
    title: "command line and worker",
    output: join(root, "dist/cli.js"),
    stamp: join(root, "dist/.node-built"),
    sources: inRoot(...common, "scripts/build.mjs"),
    build: async () => (await import("./build.mjs")).buildNode(),
  },
  {
    title: "page",
    output: join(root, "dist/page/index.html"),
    stamp: join(root, "dist/.page-built"),
    sources: inRoot(...common, "index.html", "public", "vite.config.ts"),
    build: async () => (await import("vite")).build({ root, logLevel: "warn" }),
  },
];

async function main() {
  for (const { title, output, stamp, sources, build } of targets) {
    if (!isStale(output, stamp, sources)) continue;
    const started = Date.now();
    process.stderr.write(`Building the ${title} … `);
    await build();
    mkdirSync(dirname(stamp), { recursive: true });
    // A builder leaves files alone whose content stays the same: their times do not tell when it ran.
    writeFileSync(stamp, "");
    process.stderr.write(`${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  }
  const cli = await import(pathToFileURL(join(root, "dist/cli.js")).href);
  process.exitCode = await cli.main(["worker", ...process.argv.slice(2)]);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
