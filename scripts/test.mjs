// `npm test`: everything that a contributor must pass, in order: format and lint, types, build, unit tests (with WebGPU
// on a software adapter), and the page in a real browser: `npm test e2e [FILE…]`. Ends with one line
// `tests: N passed, N failed`.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureChromium, findFirefox, softwareAdapterEnvironment } from "./browser.mjs";

const chromium = await ensureChromium();
const scratch = mkdtempSync(join(tmpdir(), "gcopd-test-"));
const environment = {
  ...process.env,
  ...softwareAdapterEnvironment(chromium),
  GCOPD_CHROMIUM: chromium,
  FORCE_COLOR: "0",
};

let passed = 0;
let failed = 0;

function run(title, command, args, extra = {}) {
  console.log(`\n== ${title}`);
  const started = Date.now();
  const { status } = spawnSync(command, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...environment, ...extra },
  });
  console.log(
    `== ${title}: ${status === 0 ? "ok" : "FAILED"} (${Math.round((Date.now() - started) / 1000)} s)`,
  );
  return status === 0;
}

/** A step without tests of its own counts as one. */
function step(title, command, args) {
  if (run(title, command, args)) passed += 1;
  else failed += 1;
}

/** Runs a test runner with a JSON report and adds up what it says; a runner that dies without a report is a failure. */
function suite(title, command, args, extra, report, count) {
  const ok = run(title, command, args, extra);
  try {
    const [good, bad] = count(JSON.parse(readFileSync(report, "utf8")));
    passed += good;
    failed += bad;
    if (good + bad === 0 || (!ok && bad === 0)) failed += 1;
  } catch (error) {
    console.error(`${title}: no report (${error.message})`);
    failed += 1;
  }
}

const [only, ...files] = process.argv.slice(2);
if (!only || only === "check") {
  step("format and lint", "npx", ["biome", "check", "."]);
  step("types", "npx", ["tsc", "--noEmit"]);
}
if (!only || only !== "check") step("build", process.execPath, ["scripts/build.mjs"]);
if (!only || only === "unit") {
  const report = join(scratch, "unit.json");
  suite(
    "unit tests",
    "npx",
    ["vitest", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    {},
    report,
    (r) => [r.numPassedTests, r.numFailedTests + r.numPendingTests],
  );
}
if (!only || only === "e2e") {
  const report = join(scratch, "e2e.json");
  suite(
    "the page in a browser",
    "npx",
    ["playwright", "test", "--reporter=list,json", ...files],
    { PLAYWRIGHT_JSON_OUTPUT_NAME: report },
    report,
    (r) => [r.stats.expected, r.stats.unexpected + r.stats.flaky + r.stats.skipped],
  );
}

rmSync(scratch, { recursive: true, force: true });
if ((!only || only === "e2e") && !findFirefox())
  console.log(
    "\nSKIPPED: the page in Firefox. None was found; install one, or set GCOPD_FIREFOX to its path. This is neither a pass nor a failure.",
  );
console.log(`\ntests: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
