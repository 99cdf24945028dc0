// `npm test`: everything that a contributor must pass: format and lint, types and build side by side, unit tests (with
// WebGPU on a software adapter), and the page in a real browser: `npm test e2e [FILE…]`. Ends with one line
// `tests: N passed, N failed`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
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
/** What failed, by name. Printed last, so that a log of which only the end is kept has it. */
const failures = [];

async function run(title, command, args, extra = {}) {
  console.log(`\n== ${title}`);
  const started = Date.now();
  const child = spawn(command, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...environment, ...extra },
  });
  // A command that cannot be started is a failure like any other.
  const status = await once(child, "exit").then(([code]) => code, console.error);
  console.log(
    `== ${title}: ${status === 0 ? "ok" : "FAILED"} (${Math.round((Date.now() - started) / 1000)} s)`,
  );
  return status === 0;
}

/** A step without tests of its own counts as one. */
async function step(title, command, args) {
  if (await run(title, command, args)) passed += 1;
  else failures.push(title);
}

/**
 * Runs a test runner with a JSON report and adds up what it says; a runner that dies without a report is a failure.
 *
 * @param results the report's tests, each with its name and whether it passed; a skipped one did not
 */
async function suite(title, command, args, extra, report, results) {
  const ok = await run(title, command, args, extra);
  try {
    const tests = results(JSON.parse(readFileSync(report, "utf8")));
    const bad = tests.filter((test) => !test.passed);
    passed += tests.length - bad.length;
    failures.push(...bad.map((test) => test.name));
    if (tests.length === 0 || (!ok && bad.length === 0)) failures.push(`${title}: the runner failed`);
  } catch (error) {
    failures.push(`${title}: no report (${error.message})`);
  }
}

/** Tests of Vitest's report. A file that could not be loaded has none and counts as one. */
function unitResults({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests = assertionResults.map((test) => ({
      name: `${file} › ${test.fullName}\n${test.failureMessages?.join("\n") ?? ""}`,
      passed: test.status === "passed",
    }));
    if (status === "failed" && tests.every((test) => test.passed))
      tests.push({ name: `${file}\n${message}`, passed: false });
    return tests;
  });
}

/** Tests of Playwright's report. */
function pageResults({ suites, errors }) {
  const within = (suite, titles) => [
    ...(suite.suites ?? []).flatMap((inner) => within(inner, [...titles, inner.title])),
    ...suite.specs.flatMap(({ title, tests }) =>
      tests.map((test) => ({
        name: `[${test.projectName}] ${[...titles, title].join(" › ")}\n${test.results.flatMap((r) => r.errors.map((e) => e.message)).join("\n")}`,
        passed: test.status === "expected",
      })),
    ),
  ];
  return [
    ...suites.flatMap((suite) => within(suite, [suite.title])),
    ...errors.map(({ message }) => ({ name: message, passed: false })),
  ];
}

const [only, ...files] = process.argv.slice(2);
if (!only || only === "check") await step("format and lint", "npx", ["biome", "check", "."]);
await Promise.all([
  // One processor is all that either takes for most of its time.
  ...(!only || only === "check" ? [step("types", "npx", ["tsc", "--noEmit"])] : []),
  ...(only !== "check" ? [step("build", process.execPath, ["scripts/build.mjs"])] : []),
]);
if (!only || only === "unit") {
  const report = join(scratch, "unit.json");
  await suite(
    "unit tests",
    "npx",
    ["vitest", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    {},
    report,
    unitResults,
  );
}
if (!only || only === "e2e") {
  const report = join(scratch, "e2e.json");
  await suite(
    "the page in a browser",
    "npx",
    ["playwright", "test", "--reporter=list,json", ...files],
    { PLAYWRIGHT_JSON_OUTPUT_NAME: report },
    report,
    pageResults,
  );
}

rmSync(scratch, { recursive: true, force: true });
if ((!only || only === "e2e") && !findFirefox())
  console.log(
    "\nSKIPPED: the page in Firefox. None was found; install one, or set GCOPD_FIREFOX to its path. This is neither a pass nor a failure.",
  );
for (const name of failures) console.log(`\nFAILED: ${stripVTControlCharacters(name).trimEnd()}`);
console.log(`\ntests: ${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
