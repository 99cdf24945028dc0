/**
 * Holds the Slurm launcher to its contract over a real Slurm: `npm run conformance -- slurm`. Needs root, and Slurm and
 * munge (Debian: slurm-wlm, munge); the cluster of one node has all its files in a temporary folder.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { slurmLauncher } from "../../src/worker/launch/slurm.ts";
import { sshShell } from "../../src/worker/launch/ssh.ts";
import { TestRun } from "../support/launch-contract.ts";
import { startSlurm } from "../support/real-slurm.ts";
import { startSshd } from "../support/real-sshd.ts";
import { runContract } from "../support/run-contract.ts";

const root = mkdtempSync(join(tmpdir(), "gcopd-slurm-"));
const slurm = await startSlurm(join(root, "slurm"));
Object.assign(process.env, slurm.environment);
const sshd = await startSshd(join(root, "sshd"), slurm.environment);
const START = { out: 0, err: 0 };
let failed = 0;

async function holds(what: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
    console.log(`ok      slurm: ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  slurm: ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

try {
  const here = { launcher: slurmLauncher(thisMachine, { gpus: 1, time: "10:00" }), root };
  failed += await runContract("slurm", here);
  failed += await runContract("slurm over ssh", {
    launcher: slurmLauncher(sshShell(sshd.place), { gpus: 1, time: "10:00" }),
    root,
  });

  await holds("a job that waits for GPUs says so, and stop takes it out of the queue", async () => {
    const all = { launcher: slurmLauncher(thisMachine, { gpus: 2 }), root };
    const [first, second] = [new TestRun(all, 1), new TestRun(all, 1)];
    await first.submit();
    await first.printed('"start"');
    await second.submit();
    await second.until(({ state, reason }) => state === "queued" && reason === "Resources");
    await second.place.launcher.stop(second);
    await second.until(({ state, asked }) => state === "never" && asked === "stop");
    first.go(1);
    assert.equal((await first.ended()).code, 0);
    assert.deepEqual(second.begun(), []);
  });

  await holds("what Slurm refuses is an error with its reason", async () => {
    const many = new TestRun({ launcher: slurmLauncher(thisMachine, { gpus: 9 }), root }, 1);
    await assert.rejects(many.submit(), /not available|node configuration/i);
    assert.equal((await many.place.launcher.status(many, START)).state, "never");
  });

  await holds("the signal before the time limit ends it after its step", async () => {
    const run = new TestRun(here, 9);
    await run.submit();
    await run.printed('"start"');
    execFileSync("scancel", ["--signal=USR1", "--batch", "--name", `gcopd-${run.id}-1`]);
    await run.printed('"asked"');
    run.go(1);
    assert.equal((await run.ended()).code, 143);
  });

  await holds(
    "kill -9 of the controller: the run lives on by its folder and is not begun again",
    async () => {
      const run = new TestRun(here, 1);
      await run.submit();
      await run.printed('"start"');
      await slurm.killController();
      assert.equal((await run.place.launcher.status(run, START)).state, "running");
      const waiting = new TestRun(here, 1);
      await assert.rejects(waiting.submit(), /squeue does not answer|Unable to contact/);
      assert.equal((await waiting.place.launcher.status(waiting, START)).state, "unreachable");
      // It may give the run's id to another job now, and Slurm then drains the node: nothing is submitted any more.
      await slurm.startController();
      await run.submit();
      run.go(1);
      assert.equal((await run.ended()).code, 0);
      assert.equal(run.begun().length, 1);
    },
  );
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  sshd.close();
  await slurm.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
