/** A real SkyRL server on a CPU, on a loopback port: started, killed, and started again over the same database. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InputError } from "../../src/core/errors.ts";
import { freePort } from "./real-sshd.ts";

export class RealSkyrl {
  #child: ChildProcess | null = null;

  private constructor(
    private readonly python: string,
    private readonly model: string,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /**
   * @param python of an environment with `skyrl[tinker,jax]==0.3.0`, `tinker==0.24.1` and torch
   * @param folder gets its database, checkpoints and log
   */
  static async start(python: string, model: string, folder: string): Promise<RealSkyrl> {
    mkdirSync(join(folder, "checkpoints"), { recursive: true });
    const server = new RealSkyrl(python, model, folder, await freePort());
    await server.startAgain();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async startAgain(): Promise<void> {
    const log = join(this.folder, "server.log");
    const output = openSync(log, "a");
    const backend = { max_lora_adapters: 4, max_lora_rank: 8 };
    const child = spawn(
      this.python,
      [
        resolve("test/conformance/skyrl-server.py"),
        ...["--base-model", this.model, "--backend", "jax", "--port", String(this.port)],
        ...["--checkpoints-base", join(this.folder, "checkpoints")],
        ...["--database-url", `sqlite:///${join(this.folder, "tinker.db")}`],
        ...["--backend-config", JSON.stringify(backend)],
      ],
      {
        cwd: this.folder,
        env: { ...process.env, JAX_PLATFORMS: "cpu", HF_HUB_OFFLINE: "1" },
        stdio: ["ignore", output, output],
        // A group of its own: its engine is in it.
        detached: true,
      },
    );
    this.#child = child;
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new InputError(
          `${this.python} ended before it answered: ${readFileSync(log, "utf8").slice(-600)}`,
        );
      const answer = await fetch(`${this.url}/api/v1/healthz`).catch(() => null);
      if (answer?.ok) return;
      await sleep(500);
    }
  }

  /** SIGKILL for the server and its engine. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolved) => child.once("close", resolved));
    process.kill(-child.pid, "SIGKILL");
    await gone;
  }
}
