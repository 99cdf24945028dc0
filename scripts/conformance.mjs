// Compares a part of the workbench with the real program that it stands for or drives:
// `npm run conformance -- NAME [options]` runs test/conformance/NAME.ts. It installs nothing and fetches nothing.
import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./run.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const names = readdirSync(join(root, "test/conformance"))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -".ts".length))
  .sort();
const [name, ...rest] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  const problem = name === undefined ? "compare what?" : `no comparison named ${name};`;
  console.error(
    `conformance: ${problem} usage: npm run conformance -- NAME, where NAME is one of: ${names.join(", ")}`,
  );
  process.exit(2);
}

process.exitCode = await run(`test/conformance/${name}.ts`, rest);
