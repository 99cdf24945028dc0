/** The golden values of test/fixtures/models on WebGPU in a browser: the same checks that run in Node. */
import { expect, test } from "@playwright/test";
import { createServer, type ViteDevServer } from "vite";
import { GOLDEN_CHECKS } from "../test/goldens.ts";
import type {} from "./golden-page/main.ts";

let server: ViteDevServer;

test.beforeAll(async () => {
  server = await createServer({
    configFile: false,
    root: ".",
    logLevel: "error",
    appType: "mpa",
    server: { host: "127.0.0.1", port: 0, hmr: false, watch: null },
    optimizeDeps: { include: ["zod"], entries: ["e2e/golden-page/main.ts"] },
    cacheDir: "test-results/.vite",
  });
  await server.listen();
});

test.afterAll(() => server?.close());

test.beforeEach(async ({ page }) => {
  await page.goto(new URL("e2e/golden-page/index.html", server.resolvedUrls!.local[0]).href);
  await page.waitForFunction(() => window.golden !== undefined);
});

for (const { name } of GOLDEN_CHECKS) {
  test(name, async ({ page }) => {
    const { device, worst } = await page.evaluate((check) => window.golden!.run(check), name);
    expect(device).not.toBe("");
    for (const [kind, deviation] of Object.entries(worst)) {
      test.info().annotations.push({ type: kind, description: `${deviation} on ${device}` });
      expect(Number.isFinite(deviation)).toBe(true);
    }
  });
}
