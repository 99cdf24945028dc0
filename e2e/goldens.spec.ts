/** The golden values of test/fixtures/models on WebGPU in a browser: the same checks that run in Node. */

import { createServer, type ViteDevServer } from "vite";
import { expect, test } from "./base.ts";
import type {} from "./golden-page/main.ts";
import { MODEL_TIME } from "./throttle.ts";

let server: ViteDevServer;

test.beforeAll(async () => {
  server = await createServer({
    configFile: false,
    root: ".",
    logLevel: "error",
    appType: "mpa",
    server: { host: "127.0.0.1", port: 0, hmr: false, watch: null },
    optimizeDeps: { entries: ["e2e/golden-page/main.ts"] },
    cacheDir: "test-results/.vite",
  });
  await server.listen();
});

test.afterAll(() => server?.close());

test("every golden value, on WebGPU in the browser", async ({ page }) => {
  await page.goto(new URL("e2e/golden-page/index.html", server.resolvedUrls!.local[0]).href);
  await page.waitForFunction(() => window.golden !== undefined, undefined, { timeout: MODEL_TIME });
  const names = await page.evaluate(() => window.golden!.names);
  // Three models in several folders, forward, backward, optimizer and generation.
  expect(names.length).toBeGreaterThanOrEqual(22);
  for (const name of names) {
    await test.step(name, async () => {
      const { device, worst } = await page.evaluate((check) => window.golden!.run(check), name);
      expect(device).not.toBe("");
      for (const [kind, deviation] of Object.entries(worst)) {
        test.info().annotations.push({ type: `${name}: ${kind}`, description: `${deviation} on ${device}` });
        expect(Number.isFinite(deviation)).toBe(true);
      }
    });
  }
});
