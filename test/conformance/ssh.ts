/**
 * Holds the ssh launcher to its contract over a real sshd: `npm run conformance -- ssh`. Needs OpenSSH's server and client
 * (Debian: openssh-server, openssh-client); the server listens on a loopback port with keys of its own.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createWorker } from "../../src/worker/index.ts";
import { keepConnection } from "../../src/worker/launch/connect.ts";
import { processLauncher } from "../../src/worker/launch/process.ts";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { sshShell } from "../../src/worker/launch/ssh.ts";
import { TestRun } from "../support/launch-contract.ts";
import { freePort, startSshd } from "../support/real-sshd.ts";
import { runContract } from "../support/run-contract.ts";

/** A tunnel to a worker's socket: used, broken, made again and ended; and a server that forwards no sockets. */
async function connection(): Promise<void> {
  const data = join(root, "data", "gcopd");
  const worker = await createWorker({ socket: true, dataDir: data });
  const environment = { XDG_DATA_HOME: join(root, "data") };
  const server = await startSshd(join(root, "tunnel"), environment);
  const strict = await startSshd(join(root, "strict"), environment, "AllowStreamLocalForwarding no");
  const end = new AbortController();
  try {
    const port = await freePort();
    const common = { port, againMs: 100, until: end.signal, broken: () => undefined };
    await assert.rejects(
      keepConnection({ ...common, place: strict.place, opened: () => assert.fail("it was opened") }),
      /no worker answers there: .* must allow AllowStreamLocalForwarding/,
    );
    let said = 0;
    const broke: string[] = [];
    const told = async (times: number) => {
      while (said < times) await setImmediate();
    };
    const kept = keepConnection({
      ...common,
      place: server.place,
      opened: () => {
        said += 1;
      },
      broken: (_, why) => broke.push(why),
    });
    await Promise.race([told(1), kept]);
    const page = await fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: "close" } });
    assert.ok((await page.text()).includes(worker.token));
    const headers = { Authorization: `Bearer ${worker.token}`, Connection: "close" };
    const health = () => fetch(`http://127.0.0.1:${port}/api/health`, { headers });
    const own = () => execFileSync("ps", ["--ppid", String(process.pid), "-o", "pid=,args="]).toString();
    const [, ssh] = /^ *(\d+) ssh .* -L /m.exec(own()) ?? [];
    assert.ok(ssh !== undefined && !own().includes(worker.token));
    process.kill(Number(ssh), "SIGKILL");
    await Promise.race([told(2), kept]);
    assert.match(broke.join("; "), /the connection broke/);
    assert.equal((await health()).status, 200);
    end.abort();
    await kept;
    await assert.rejects(health());
    assert.doesNotMatch(own(), / ssh /);
  } finally {
    end.abort();
    server.close();
    strict.close();
    await worker.close();
  }
}

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

  try {
    await connection();
    console.log("ok      ssh: a worker's unix socket through a tunnel that breaks and comes back");
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ssh: ${error instanceof Error ? error.message : String(error)}`);
  }
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  sshd.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}
