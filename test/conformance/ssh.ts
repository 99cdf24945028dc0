/**
 * Holds the ssh launcher to its contract over a real sshd: `npm run conformance -- ssh`. Needs OpenSSH's server and client
 * (Debian: openssh-server, openssh-client); the server listens on a loopback port with keys of its own.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processLauncher } from "../../src/worker/launch/process.ts";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { sshShell } from "../../src/worker/launch/ssh.ts";
import { TestRun } from "../support/launch-contract.ts";
import { startSshd } from "../support/real-sshd.ts";
import { runContract } from "../support/run-contract.ts";

const root = mkdtempSync(join(tmpdir(), "gcopd-ssh-"));
const sshd = await startSshd(join(root, "sshd"));
try {
  const launcher = processLauncher(sshShell(sshd.place));
  let failed = await runContract("ssh", { launcher, root });
  const START = { out: 0, err: 0 };

  // What only a real server shows: a key that is not known, and a server that goes away and comes back.
  const stranger = new TestRun({ launcher: processLauncher(sshShell(sshd.stranger)), root }, 1);
  const run = new TestRun({ launcher, root }, 1);
  try {
    const unknown = await stranger.place.launcher.status(stranger, START);
    assert.match(unknown.reason ?? "", /its host key is not known: connect once by hand/);
    await run.submit();
    await run.printed('"start"');
    sshd.close();
    for (;;) {
      const { state, reason } = await launcher.status(run, START);
      if (state !== "unreachable") continue;
      assert.match(reason ?? "", /no ssh server answers there|the connection broke|closed|reset/i);
      break;
    }
    run.go(1);
    const here = processLauncher(thisMachine);
    for (let code: number | null = null; code === null; ) ({ code } = await here.status(run, START));
    console.log(
      "ok      ssh: an unknown host key and a server that went away are told apart from the run's end",
    );
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ssh: ${error instanceof Error ? error.message : String(error)}`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  sshd.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
