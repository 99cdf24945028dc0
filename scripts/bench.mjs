// Runs one benchmark: `npm run bench -- NAME` runs bench/NAME.ts and prints its table.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./run.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const names = readdirSync(join(root, "bench"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort();
const [name, ...rest] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  const problem = name === undefined ? "which benchmark?" : `no benchmark named ${name};`;
  console.error(`bench: ${problem} usage: npm run bench -- NAME, where NAME is one of: ${names.join(", ")}`);
  process.exit(2);
}

// Beside the installed packages, so that imports resolve as they do for the repository's own files.
const folder = mkdtempSync(join(root, "node_modules", ".bench-"));
let status = 1;
try {
  const program = join(folder, `${name}.mjs`);
  await bundle(`bench/${name}.ts`, program);
  ({ status } = spawnSync(process.execPath, ["--expose-gc", "--enable-source-maps", program, ...rest], {
    stdio: "inherit",
    cwd: root,
  }));
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = status ?? 1;
