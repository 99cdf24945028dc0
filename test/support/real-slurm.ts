/** A real cluster of one node in a folder: munged, slurmctld and slurmd, without systemd, cgroups or accounting. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/core/errors.ts";
import { freePort } from "./real-sshd.ts";

export interface Slurm {
  /** The variable that makes Slurm's programs find this cluster. */
  environment: { SLURM_CONF: string };
  /** Kills the controller with SIGKILL. */
  killController(): Promise<void>;
  startController(): Promise<void>;
  /** Starts slurmrestd on a loopback port. Needs root, since it runs as another user than the controller. */
  startRest(): Promise<{ url: string; token: string }>;
  close(): Promise<void>;
}

/** @throws InputError where Slurm is not installed, or this is not root: slurmd and slurmctld share one user here */
export async function startSlurm(folder: string): Promise<Slurm> {
  const at = (...path: string[]) => join(folder, ...path);
  for (const name of ["state", "spool", "log"]) mkdirSync(at(name), { recursive: true });
  chmodSync(folder, 0o755);
  const host = hostname().split(".")[0];
  const user = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
  const [controller, node] = [await freePort(), await freePort()];
  writeFileSync(
    at("slurm.conf"),
    `ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${controller}
SlurmdPort=${node}
SlurmUser=${user}
SlurmdUser=${user}
AuthType=auth/munge
AuthInfo=socket=${at("munge.sock")}
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=${at("jwt.key")}
StateSaveLocation=${at("state")}
SlurmdSpoolDir=${at("spool")}
SlurmctldPidFile=${at("slurmctld.pid")}
SlurmdPidFile=${at("slurmd.pid")}
SlurmctldLogFile=${at("log", "slurmctld.log")}
SlurmdLogFile=${at("log", "slurmd.log")}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
KillWait=5
InactiveLimit=0
AccountingStorageType=accounting_storage/none
GresTypes=gpu
NodeName=${host} NodeAddr=127.0.0.1 Port=${node} CPUs=${cpus().length} RealMemory=500 Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`,
  );
  // Two files in the place of GPUs, so that they can be asked for and waited for.
  writeFileSync(
    at("gres.conf"),
    `NodeName=${host} Name=gpu File=/dev/null Count=1\nNodeName=${host} Name=gpu File=/dev/zero Count=1\n`,
  );
  writeFileSync(at("cgroup.conf"), "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n");
  writeFileSync(at("munge.key"), randomBytes(1024), { mode: 0o600 });
  writeFileSync(at("jwt.key"), randomBytes(32), { mode: 0o600 });
  const environment = { SLURM_CONF: at("slurm.conf") };
  const env = { ...process.env, ...environment };
  const startWith = (more: object, program: string, ...args: string[]): ChildProcess => {
    const child = spawn(program, args, { stdio: "ignore", env: { ...env, ...more } });
    child.once("error", ({ message }) => {
      throw new InputError(`${program} cannot be started (${message}): install slurm-wlm and munge`);
    });
    return child;
  };
  const start = (program: string, ...args: string[]) => startWith({}, program, ...args);
  const gone = (child: ChildProcess) =>
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const answers = (program: string, ...args: string[]) => {
    try {
      return execFileSync(program, args, { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    } catch {
      return "";
    }
  };

  const munged = start(
    "munged",
    ...["--foreground", "--force", `--socket=${at("munge.sock")}`, `--key-file=${at("munge.key")}`],
    ...[
      `--pid-file=${at("munged.pid")}`,
      `--log-file=${at("log", "munged.log")}`,
      `--seed-file=${at("munge.seed")}`,
    ],
  );
  while (!answers("munge", "-n", `--socket=${at("munge.sock")}`).startsWith("MUNGE:")) {
    if (munged.exitCode !== null) throw new InputError(`munged ended: see ${at("log", "munged.log")}`);
    await sleep(50);
  }
  let ctld: ChildProcess;
  const startController = async () => {
    ctld = start("slurmctld", "-D", "-f", at("slurm.conf"));
    while (!answers("scontrol", "ping").includes("UP")) {
      if (ctld.exitCode !== null) throw new InputError(`slurmctld ended: see ${at("log", "slurmctld.log")}`);
      await sleep(50);
    }
  };
  await startController();
  const slurmd = start("slurmd", "-D", "-f", at("slurm.conf"), "-N", String(host));
  while (!/idle/.test(answers("sinfo", "-h", "-o", "%T"))) {
    if (slurmd.exitCode !== null) throw new InputError(`slurmd ended: see ${at("log", "slurmd.log")}`);
    await sleep(50);
  }
  const others: ChildProcess[] = [];
  return {
    environment,
    startController,
    async startRest() {
      const address = `127.0.0.1:${await freePort()}`;
      // Without accounting, the part of the API that asks it must not be loaded.
      const api = / 22\./.test(answers("slurmctld", "-V")) ? "openapi/v0.0.38" : "openapi/slurmctld";
      const who = ["-a", "rest_auth/jwt", "-u", "nobody", "-g", "nogroup"];
      // As its unit file sets it: it then authenticates with the tokens of those who ask.
      const rest = startWith({ SLURM_JWT: "daemon" }, "slurmrestd", ...who, "-s", api, address);
      others.push(rest);
      const token = answers("scontrol", "token", "lifespan=7200").trim().replace("SLURM_JWT=", "");
      for (;;) {
        if (rest.exitCode !== null)
          throw new InputError(
            `slurmrestd ended with ${rest.exitCode}: install slurmrestd and its JWT plugin`,
          );
        const answer = await fetch(`http://${address}/openapi/v3`).catch(() => null);
        if (answer !== null) return { url: `http://${address}`, token };
        await sleep(50);
      }
    },
    async killController() {
      ctld.kill("SIGKILL");
      await gone(ctld);
    },
    async close() {
      for (const child of [...others, slurmd, ctld, munged]) {
        child.kill("SIGTERM");
        await gone(child);
      }
    },
  };
}
