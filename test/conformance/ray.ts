/**
 * Holds the Ray launcher to its contract over a real Ray: `npm run conformance -- ray`. Needs `ray` on the PATH
 * (pip install 'ray[default]'); the cluster of one node has all its files in a temporary folder, and two pretended GPUs.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/core/errors.ts";
import { rayLauncher } from "../../src/worker/launch/ray.ts";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { TestRun } from "../support/launch-contract.ts";
import { freePort } from "../support/real-sshd.ts";
import { runContract } from "../support/run-contract.ts";

// Ray's sockets lie below this folder, and their paths are short.
const root = mkdtempSync(join(tmpdir(), "gcopd-ray-"));
process.env.RAY_USAGE_STATS_ENABLED = "0";
const START = { out: 0, err: 0 };
let failed = 0;

async function startRay(): Promise<{ address: string; head: ChildProcess }> {
  const [port, dashboard] = [await freePort(), await freePort()];
  const options = {
    ...{ port, "dashboard-port": dashboard, "num-cpus": 8, "num-gpus": 2, "temp-dir": join(root, "ray") },
    ...{ "dashboard-host": "127.0.0.1", "node-ip-address": "127.0.0.1" },
  };
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const log = openSync(join(root, "head.log"), "w");
  const head = spawn("ray", ["start", "--head", "--block", "--disable-usage-stats", ...words], {
    stdio: ["ignore", log, log],
  });
  head.once("error", ({ message }) => {
    throw new InputError(`ray cannot be started (${message}): pip install 'ray[default]'`);
  });
  const address = `http://127.0.0.1:${dashboard}`;
  for (;;) {
    if (head.exitCode !== null)
      throw new InputError(
        `ray start ended with ${head.exitCode}: ${readFileSync(join(root, "head.log"), "utf8")}`,
      );
    try {
      execFileSync("ray", ["job", "list", "--address", address], { stdio: "ignore" });
      return { address, head };
    } catch {
      await sleep(500);
    }
  }
}

async function holds(what: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
    console.log(`ok      ray: ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ray: ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const { address, head } = await startRay();
async function stopped(): Promise<void> {
  if (head.exitCode !== null || head.signalCode !== null) return;
  head.kill("SIGTERM");
  await once(head, "exit");
}
try {
  const here = { launcher: rayLauncher(thisMachine, { ray_address: address, gpus: 1 }), root };
  failed += await runContract("ray", here);

  await holds("a job that waits for GPUs says so, and does not begin after a stop", async () => {
    const all = { launcher: rayLauncher(thisMachine, { ray_address: address, gpus: 2 }), root };
    const [first, second] = [new TestRun(all, 1), new TestRun(all, 1)];
    await first.submit();
    await first.printed('"start"');
    await second.submit();
    await second.until(
      ({ state, reason }) => state === "queued" && reason?.includes("waiting for resources") === true,
    );
    await second.place.launcher.stop(second);
    first.go(1);
    assert.equal((await first.ended()).code, 0);
    assert.equal((await second.ended()).code, 143);
    assert.deepEqual(second.begun(), []);
  });

  await holds("a cluster that is gone says nothing of a run, and takes none", async () => {
    const run = new TestRun(here, 1);
    await stopped();
    await assert.rejects(run.submit(), /Failed to connect to Ray/);
    const { state, reason } = await run.place.launcher.status(run, START);
    assert.equal(state, "unreachable");
    assert.match(reason ?? "", /Ray does not answer/);
  });
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await stopped();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
