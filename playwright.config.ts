/** The built page in a real Chromium, served by the real worker; WebGPU on a software adapter. `npm run build` first. */
import { availableParallelism } from "node:os";
import { defineConfig, devices } from "@playwright/test";
import { CPU_THROTTLE } from "./e2e/throttle.ts";
import { findChromium, findFirefox } from "./scripts/browser.mjs";

const executablePath = await findChromium();

/** Features that Chromium runs without. Only its last such flag counts, so Playwright's own list is repeated here. */
const WITHOUT = [
  // These two load the list below the address bar for each window, as a page that nobody sees.
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  // Playwright's.
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"],
  ...["HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"],
  ...["ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"],
  ...["NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
];

const QUIET = [
  `--disable-features=${WITHOUT}`,
  "--no-sandbox",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const chromium = (args: string[]) => ({
  ...devices["Desktop Chrome"],
  viewport: { width: 1280, height: 800 },
  // Nothing is looked at while it changes from one colour to another.
  reducedMotion: "reduce" as const,
  launchOptions: { executablePath, args: [...QUIET, ...args] },
});

/** Without the first flag there is no adapter at all on a machine without a GPU. */
const WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

export default defineConfig({
  testDir: "e2e",
  snapshotPathTemplate: "docs/images/{arg}{ext}",
  outputDir: "test-results",
  // Half of the processors, at most four: more would only wait for the one software GPU.
  workers: Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2))),
  // A test that needs a second try is broken.
  retries: 0,
  forbidOnly: true,
  // For a slow machine with other work: a test that hangs ends by the limit of what it waits for.
  timeout: 900_000 * CPU_THROTTLE,
  expect: { timeout: 60_000 * CPU_THROTTLE },
  reporter: "list",
  // Recording a trace of every test would take a third of the time: `--trace on` with one test records it.
  use: { actionTimeout: 60_000 * CPU_THROTTLE, trace: "off", screenshot: "only-on-failure" },
  projects: [
    // First: it takes minutes by itself, and at the end nothing would run beside it.
    { name: "goldens", use: chromium(WEBGPU), testMatch: /goldens\.spec\.ts/ },
    { name: "page", use: chromium(WEBGPU), testIgnore: /(no-webgpu|goldens|firefox)\.spec\.ts/ },
    { name: "no-webgpu", use: chromium(["--disable-gpu"]), testMatch: /no-webgpu\.spec\.ts/ },
    // Absent without a Firefox: `npm test` says so at its end.
    ...(findFirefox() ? [{ name: "firefox", testMatch: /firefox\.spec\.ts/ }] : []),
  ],
});
