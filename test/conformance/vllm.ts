/**
 * Compares a real vLLM with our own engine: `npm run conformance -- vllm --program VENV/bin/vllm`. It serves a fixture model
 * in f32; a build for CPUs does, and its attention needs heads of 32 at least. `--url` takes a server that runs already, of
 * the same model.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { engineConformance, servedFolder } from "../support/engine-conformance.ts";
import { startVllm } from "../support/real-engine.ts";

const { program, url } = parseArgs({
  options: { program: { type: "string" }, url: { type: "string" } },
}).values;
if (program === undefined && url === undefined) {
  console.error("usage: npm run conformance -- vllm --program VENV/bin/vllm | --url http://HOST:PORT");
  process.exit(2);
}
const root = mkdtempSync(join(tmpdir(), "gcopd-vllm-"));
const folder = servedFolder(root);
const engine = program === undefined ? null : await startVllm(program, folder, join(root, "server"));
try {
  // Its log-probabilities are those before temperature.
  const failed = await engineConformance(engine?.url ?? url!, { folder, root, logprobsAt: [1, 0.6] });
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await engine?.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
