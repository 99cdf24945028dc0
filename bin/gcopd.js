#!/usr/bin/env node
// The command line as npm installs it. A fresh clone installed with --ignore-scripts has no dist/ yet: build it once.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const built = new URL("../dist/cli.js", import.meta.url);
if (!existsSync(fileURLToPath(built))) {
  const { buildNode } = await import("../scripts/build.mjs");
  await buildNode();
}
const { main } = await import(built.href);
process.exitCode = await main(process.argv.slice(2));
