/**
 * Compares a real SGLang with our own engine: `npm run conformance -- sglang --program VENV/bin/python`. It serves a fixture
 * model in f32 on the CPU. Then it serves one whose config.json has `rope_parameters`: a version that reads the rotary base
 * from the older key alone computes another model and says nothing, which calibration must find. `--url` takes a server
 * that runs already, of the first model.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { main } from "../../src/cli/main.ts";
import { engineConformance, servedFolder } from "../support/engine-conformance.ts";
import { MOST_TOKENS, type RealEngine, startEngine } from "../support/real-engine.ts";
import { freePort } from "../support/real-sshd.ts";

const { program, url } = parseArgs({
  options: { program: { type: "string" }, url: { type: "string" } },
}).values;
if (program === undefined && url === undefined) {
  console.error("usage: npm run conformance -- sglang --program VENV/bin/python | --url http://HOST:PORT");
  process.exit(2);
}
const root = mkdtempSync(join(tmpdir(), "gcopd-sglang-"));

async function serve(python: string, folder: string): Promise<RealEngine> {
  const port = await freePort();
  const more = [
    ...["--device", "cpu", "--attention-backend", "torch_native", "--dtype", "float32"],
    ...[
      "--mem-fraction-static",
      "0.1",
      "--max-total-tokens",
      "8192",
      "--context-length",
      String(MOST_TOKENS),
    ],
    ...["--disable-overlap-schedule", "--disable-cuda-graph", "--skip-server-warmup"],
  ];
  return startEngine(
    [
      python,
      ...[
        "-m",
        "sglang.launch_server",
        "--model-path",
        folder,
        "--host",
        "127.0.0.1",
        "--port",
        String(port),
      ],
      ...more,
    ],
    {
      port,
      folder: join(root, "server"),
      environment: { SGLANG_USE_CPU_ENGINE: "1", HF_HUB_OFFLINE: "1", PYTHONUNBUFFERED: "1" },
    },
  );
}

const folder = servedFolder(root);
const engine = program === undefined ? null : await serve(program, folder);
let failed = 0;
try {
  // Its log-probabilities are those after temperature.
  failed = await engineConformance(engine?.url ?? url!, { folder, root, logprobsAt: [1] });
} finally {
  await engine?.close();
}
if (program !== undefined) {
  const newer = servedFolder(root, "qwen3-b");
  const wrong = await serve(program, newer);
  try {
    const requests = join(root, "in.jsonl");
    const ids = Array.from({ length: 300 }, (_, n) => (37 + 131 * n * (n + 3)) % 1850);
    const record = { id: "a", prompt_ids: ids.slice(0, 250), response_ids: ids.slice(250) };
    writeFileSync(requests, `${JSON.stringify(record)}\n`);
    const out = join(root, "out.jsonl");
    const code = await main(
      ["score", "--url", wrong.url, "--calibrate-with", newer, "--device", "cpu"].concat([
        ...["--in", requests, "--out", out],
      ]),
    );
    assert.equal(code, 1);
    console.log("ok      sglang: a model that it reads with another rotary base is refused by calibration");
  } catch (error) {
    failed += 1;
    console.log(
      `FAILED  sglang: another rotary base: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    await wrong.close();
  }
}
rmSync(root, { recursive: true, force: true, maxRetries: 10 });
process.exitCode = failed === 0 ? 0 : 1;
