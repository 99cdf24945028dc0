// Runs one benchmark: `npm run bench -- NAME` runs bench/NAME.ts and prints its table.
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./run.mjs";

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

process.exitCode = await run(`bench/${name}.ts`, rest, ["--expose-gc"]);
