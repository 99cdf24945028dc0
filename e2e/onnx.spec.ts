/** The second scorer: ONNX Runtime on WebGPU beside our engine, on the same models and tokens, in one page. */

import { createServer, type ViteDevServer } from "vite";
import { expect, test } from "./base.ts";
import type {} from "./onnx-page/main.ts";
import { MODEL_TIME } from "./throttle.ts";

let server: ViteDevServer;

test.beforeAll(async () => {
  server = await createServer({
    configFile: false,
    root: ".",
    logLevel: "error",
    appType: "mpa",
    server: { host: "127.0.0.1", port: 0, hmr: false, watch: null },
    // Bundled ahead, its file of WebAssembly would be looked for beside the bundle.
    optimizeDeps: { entries: ["e2e/onnx-page/main.ts"], exclude: ["onnxruntime-web"] },
    cacheDir: "test-results/.vite-onnx",
  });
  await server.listen();
});

test.afterAll(() => server?.close());

test.beforeEach(async ({ page }) => {
  await page.goto(new URL("e2e/onnx-page/index.html", server.resolvedUrls!.local[0]).href);
  await page.waitForFunction(() => window.engines !== undefined, undefined, { timeout: MODEL_TIME });
});

test("ONNX Runtime gives the golden log-probabilities, on WebAssembly and on WebGPU", async ({ page }) => {
  // The prompts have 1, 2, 17, 64, 300 and 900 tokens: some go whole on either device, some in chunks. The kernels of
  // ONNX Runtime for WebGPU would take most of a minute for the 900 on a software adapter.
  for (const [prefill, device, count] of [
    [300, "cpu", 6],
    [200, "webgpu", 5],
  ] as const) {
    const deviations = await page.evaluate((args) => window.engines!.goldens(...args), [
      prefill,
      count,
      device,
    ] as const);
    test
      .info()
      .annotations.push({ type: `${device}, chunks of ${prefill}`, description: String(deviations) });
    expect(deviations).toHaveLength(count);
    for (const deviation of deviations) expect(deviation).toBeLessThan(2e-4);
  }
});

test("both engines agree; their times are noted", async ({ page }) => {
  const { device, worst, tokens, ours, theirs } = await page.evaluate(() =>
    window.engines!.race(1, 1, 112, 16),
  );
  const description = `${tokens} tokens: ours ${ours.toFixed(3)} s, ONNX Runtime ${theirs.toFixed(3)} s, ${device}`;
  test.info().annotations.push({ type: "race", description });
  expect(worst).toBeLessThan(5e-4);
});
