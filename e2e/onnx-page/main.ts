/** Our engine and ONNX Runtime on the same model and tokens, in one page. Not a part of the product. */
import { onnxRuntime } from "../../src/app/compute/worker/onnx-runtime.ts";
import type { ScoreRequest, Scorer } from "../../src/core/ports.ts";
import { uniforms } from "../../src/core/seeded.ts";
import { createBrowserBackend, ModelScorer } from "../../src/engine/native/index.ts";
import { OnnxScorer } from "../../src/engine/onnx/index.ts";
import { GoldenFile } from "../../test/golden-file.ts";
import { fetchedFolder } from "../../test/support/fetched-folder.ts";

const EXPORT = ["genai_config.json", "model.onnx", "model.onnx.data"];
const exported = (name: string) => fetchedFolder(name, `/test/fixtures/onnx/${name}`, EXPORT);

/** Largest |Δ log p| of two results of the same requests. */
function deviation(a: readonly ArrayLike<number>[], b: readonly ArrayLike<number>[]): number {
  let worst = 0;
  for (const [n, values] of a.entries())
    for (let i = 0; i < values.length; i++) worst = Math.max(worst, Math.abs(values[i]! - b[n]![i]!));
  return worst;
}

const median = (values: number[]): number => values.sort((x, y) => x - y)[values.length >> 1]!;

async function timed(scorer: Scorer, requests: readonly ScoreRequest[]) {
  const start = performance.now();
  const results = await scorer.score(requests);
  return { seconds: (performance.now() - start) / 1000, logprobs: results.map(({ logprobs }) => logprobs) };
}

const engines = {
  /**
   * Largest deviation of ONNX Runtime from each golden response's log-probabilities, of the `count` shortest prompts, in
   * chunks of `prefill`.
   */
  async goldens(prefill: number, count: number, device: "webgpu" | "cpu") {
    const file = await GoldenFile.open(
      fetchedFolder("goldens", "/test/fixtures/models/goldens/qwen3-a", ["forward.safetensors"]),
      "forward.safetensors",
    );
    const goldens: { request: ScoreRequest; expected: number[] }[] = [];
    for (let i = 0; i < count; i++) {
      const promptIds = await file.numbers(`p${i}/prompt_ids`);
      const responseIds = await file.numbers(`p${i}/response_ids`);
      const expected = await file.numbers(`p${i}/logprobs`);
      goldens.push({ request: { id: `p${i}`, promptIds, responseIds }, expected });
    }
    const scorer = await OnnxScorer.open(await onnxRuntime(), exported("qwen3-a"), { prefill, device });
    try {
      const results = await scorer.score(goldens.map(({ request }) => request));
      return results.map(({ logprobs }, n) => deviation([logprobs], [goldens[n]!.expected]));
    } finally {
      scorer.dispose();
    }
  },

  /** Medians of `runs` runs each, taken in turn after one to warm up. */
  async race(runs: number, count: number, prompt: number, response: number) {
    const next = uniforms(5);
    const ids = (n: number) => Array.from({ length: n }, () => Math.floor(next() * 1860));
    const requests = Array.from({ length: count }, (_, n) => ({
      id: String(n),
      promptIds: ids(prompt),
      responseIds: ids(response),
    }));
    const backend = await createBrowserBackend("webgpu");
    const ours = await ModelScorer.open(
      backend,
      fetchedFolder("teacher", "/public/sample/teacher", ["config.json", "model.safetensors"]),
    );
    const theirs = await OnnxScorer.open(await onnxRuntime(), exported("sample-teacher"));
    try {
      const seconds: Record<"ours" | "theirs", number[]> = { ours: [], theirs: [] };
      let worst = 0;
      for (let i = 0; i <= runs; i++) {
        const a = await timed(ours, requests);
        const b = await timed(theirs, requests);
        worst = Math.max(worst, deviation(a.logprobs, b.logprobs));
        if (i === 0) continue;
        seconds.ours.push(a.seconds);
        seconds.theirs.push(b.seconds);
      }
      return {
        device: backend.description,
        worst,
        tokens: count * (prompt + response),
        ours: median(seconds.ours),
        theirs: median(seconds.theirs),
      };
    } finally {
      ours.dispose();
      theirs.dispose();
      backend.dispose();
    }
  },
};

export type Engines = typeof engines;

declare global {
  interface Window {
    engines?: Engines;
  }
}

window.engines = engines;
