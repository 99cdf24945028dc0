/**
 * Holds the Slurm launchers to their contract over a real Slurm: `npm run conformance -- slurm`. Needs root, Slurm, munge
 * and slurmrestd (Debian: slurm-wlm, munge, slurmrestd, slurm-wlm-jwt-plugin); the cluster of one node has all its files in
 * a temporary folder.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { uniforms } from "../../src/core/seeded.ts";
import type { RunLauncher } from "../../src/worker/launch/launcher.ts";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { type SlurmResources, slurmLauncher } from "../../src/worker/launch/slurm.ts";
import { slurmRestLauncher } from "../../src/worker/launch/slurmrestd.ts";
import { SlurmRest } from "../../src/worker/launch/slurmrestd-client.ts";
import { sshShell } from "../../src/worker/launch/ssh.ts";
import { TestRun } from "../support/launch-contract.ts";
import { startSlurm } from "../support/real-slurm.ts";
import { startSshd } from "../support/real-sshd.ts";
import { runContract } from "../support/run-contract.ts";

const root = mkdtempSync(join(tmpdir(), "gcopd-slurm-"));
// slurmrestd runs as a user of its own, and reads the configuration.
chmodSync(root, 0o711);
const slurm = await startSlurm(join(root, "slurm"));
Object.assign(process.env, slurm.environment);
const sshd = await startSshd(join(root, "sshd"), slurm.environment);
const START = { out: 0, err: 0 };
/** How often the controller is killed under the same runs. */
const KILLS = 20;
const ONE_GPU = { gpus: 1, time: "10:00" };
type Launcher = (resources: SlurmResources) => RunLauncher;
let failed = 0;

async function holds(what: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
    console.log(`ok      ${what}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function queueContract(name: string, launcher: Launcher): Promise<void> {
  await holds(`${name}: a job that waits for GPUs says so, and stop takes it out of the queue`, async () => {
    const all = { launcher: launcher({ gpus: 2 }), root };
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

  await holds(`${name}: what Slurm refuses is an error with its reason`, async () => {
    const many = new TestRun({ launcher: launcher({ gpus: 9 }), root }, 1);
    await assert.rejects(many.submit(), /not available|node configuration/i);
    assert.equal((await many.place.launcher.status(many, START)).state, "never");
  });

  await holds(`${name}: the signal before the time limit ends it after its step`, async () => {
    const run = new TestRun({ launcher: launcher(ONE_GPU), root }, 9);
    await run.submit();
    await run.printed('"start"');
    execFileSync("scancel", ["--signal=USR1", "--batch", "--name", `gcopd-${run.id}-1`]);
    await run.printed('"asked"');
    run.go(1);
    assert.equal((await run.ended()).code, 143);
  });
}

try {
  const sbatch: Launcher = (resources) => slurmLauncher(thisMachine, resources);
  failed += await runContract("slurm", { launcher: sbatch(ONE_GPU), root });
  failed += await runContract("slurm over ssh", {
    launcher: slurmLauncher(sshShell(sshd.place), ONE_GPU),
    root,
  });

  const { url, token } = await slurm.startRest();
  process.env.SLURM_JWT = token;
  const rest: Launcher = (resources) => slurmRestLauncher(thisMachine, { ...resources, slurmrestd: url });
  const name = `slurmrestd ${await new SlurmRest(url).version()}`;
  failed += await runContract(name, { launcher: rest(ONE_GPU), root });
  await queueContract("slurm", sbatch);
  await queueContract(name, rest);
  await holds(`${name}: another token is refused in one line`, async () => {
    const run = new TestRun({ launcher: rest(ONE_GPU), root }, 1);
    process.env.SLURM_JWT = `${token.slice(0, -4)}AAAA`;
    try {
      // 22.05 tells no more than that it could not ask the controller.
      await assert.rejects(run.submit(), /the token of SLURM_JWT is refused|Failed while looking/);
    } finally {
      process.env.SLURM_JWT = token;
    }
    assert.equal((await run.place.launcher.status(run, START)).state, "never");
  });

  await holds(
    `slurm: kill -9 of the controller at ${KILLS} random points of two runs: the state is right, what is submitted again is not begun again, and no step is lost or taken twice`,
    async () => {
      const uniform = uniforms(1);
      const runs = [sbatch(ONE_GPU), rest(ONE_GPU)].map((launcher) => new TestRun({ launcher, root }, KILLS));
      for (const run of runs) {
        await run.submit();
        await run.printed('"start"');
      }
      for (let killed = 1; killed <= KILLS; killed += 1) {
        for (const run of runs) run.go(killed);
        await sleep(uniform() * 500);
        await slurm.killController();
        await sleep(uniform() * 500);
        // The last step ends a run.
        const states = ["running", ...(killed === KILLS ? ["ended"] : [])];
        const state = async (run: TestRun) => (await run.place.launcher.status(run, START)).state;
        for (const run of runs)
          assert.ok(states.includes(String(await state(run))), "without the controller");
        if (killed === 1)
          for (const { place } of runs) {
            const waiting = new TestRun(place, 1);
            await assert.rejects(
              waiting.submit(),
              /squeue does not answer|Unable to contact|Failed while looking/,
            );
            assert.equal(await state(waiting), "unreachable");
          }
        // It may give a run's id to another job now, and Slurm then drains the node: nothing else is submitted any more.
        await slurm.startController();
        for (const run of runs) await run.submit();
        for (const run of runs) assert.ok(states.includes(String(await state(run))), "with it again");
      }
      for (const run of runs) {
        const { code, text } = await run.ended();
        assert.equal(code, 0);
        assert.equal(run.begun().length, 1);
        const steps = [...text.matchAll(/"step":(\d+)/g)].map(([, step]) => Number(step));
        assert.deepEqual(
          steps,
          Array.from({ length: KILLS }, (_, n) => n + 1),
        );
      }
    },
  );

  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  sshd.close();
  await slurm.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
