/**
 * A place for remote training out of real programs, all on this machine: a SkyRL that trains a fixture model, a vLLM that
 * serves another as its teacher, a host behind an sshd, and a worker with a target on that host.
 */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startWorker } from "../../e2e/site.ts";
import { servedFolder } from "./engine-conformance.ts";
import { startVllm } from "./real-engine.ts";
import { RealSkyrl } from "./real-skyrl.ts";
import { freePort, startSshd } from "./real-sshd.ts";
import { tinyRecords } from "./tiny-records.ts";

/** Of the adapters that are trained. */
export const RANK = 8;

/** The paths that `--skyrl` and `--vllm` name, and other options as they are. Ends the process where one is missing. */
export function remoteOptions(name: string): { python: string; program: string; times: number } {
  const { skyrl, vllm, times } = parseArgs({
    options: {
      skyrl: { type: "string" },
      vllm: { type: "string" },
      times: { type: "string", default: "20" },
    },
  }).values;
  if (skyrl !== undefined && vllm !== undefined && Number(times) > 0)
    return { python: skyrl, program: vllm, times: Number(times) };
  console.error(`usage: npm run conformance -- ${name} --skyrl VENV/bin/python --vllm VENV/bin/vllm`);
  process.exit(2);
}

const began = performance.now();

/** Prints a line with the seconds since the start. */
export function say(text: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`);
}

export class RealRemote {
  readonly root = mkdtempSync(join(tmpdir(), "gcopd-remote-"));
  /** Model folders. */
  readonly student = servedFolder(this.at("models"), "qwen3-b");
  readonly teacher = servedFolder(this.at("models"), "qwen3-a");
  /** What a form needs for the target, by the form's labels. */
  readonly target = {
    Name: "box",
    Host: "box",
    "Scratch folder": this.at("scratch"),
    "gcopd command": `${process.execPath} ${resolve("bin/gcopd.js")}`,
  };
  readonly #closing: (() => unknown)[] = [];
  readonly #vllmPort: number;
  #worker: Awaited<ReturnType<typeof startWorker>> | null = null;
  #skyrl: RealSkyrl | null = null;
  #vllm: Awaited<ReturnType<typeof startVllm>> | null = null;

  private constructor(
    private readonly programs: { python: string; program: string },
    vllmPort: number,
  ) {
    this.#vllmPort = vllmPort;
  }

  static async start(programs: { python: string; program: string }): Promise<RealRemote> {
    const remote = new RealRemote(programs, await freePort());
    try {
      await remote.#start();
      return remote;
    } catch (error) {
      await remote.close();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const sshd = await startSshd(this.at("sshd"));
    this.onClose(() => sshd.close());
    for (const name of ["bin", "scratch"]) mkdirSync(this.at(name));
    // The host is named as in a user's ~/.ssh/config.
    const ssh = this.at("bin", "ssh");
    writeFileSync(ssh, `#!/bin/sh\nexec /usr/bin/ssh -F ${String(sshd.place.ssh_config)} "$@"\n`);
    chmodSync(ssh, 0o755);
    process.env.PATH = `${this.at("bin")}${delimiter}${process.env.PATH ?? ""}`;
    process.env.XDG_CONFIG_HOME = this.at("config");
    for (const [name, bytes] of Object.entries(this.records)) writeFileSync(this.at(name), bytes);
    await this.startWorker();
    const [skyrl] = await Promise.all([
      RealSkyrl.start(this.programs.python, this.student, this.at("skyrl")),
      this.startVllm(),
    ]);
    this.#skyrl = skyrl;
    say("SkyRL and vLLM answer");
  }

  at(...names: string[]): string {
    return join(this.root, ...names);
  }

  /** Files of the tiny records. */
  get records(): Record<"sources.jsonl" | "episodes.jsonl", Buffer> {
    const { sources, episodes } = tinyRecords();
    const lines = (records: readonly object[]) =>
      Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    return { "sources.jsonl": lines(sources), "episodes.jsonl": lines(episodes) };
  }

  get worker() {
    assert.ok(this.#worker !== null);
    return this.#worker;
  }

  get skyrl(): RealSkyrl {
    assert.ok(this.#skyrl !== null);
    return this.#skyrl;
  }

  get vllm() {
    assert.ok(this.#vllm !== null);
    return this.#vllm;
  }

  /** Starts the worker, on the data folder of the one before. */
  async startWorker(): Promise<void> {
    this.#worker = await startWorker(this.at("data"));
  }

  /** Starts vLLM, on the port of the one before. */
  async startVllm(): Promise<void> {
    this.#vllm = await startVllm(this.programs.program, this.teacher, this.at("vllm"), this.#vllmPort);
  }

  /** Called by `close`, the last first. */
  onClose(close: () => unknown): void {
    this.#closing.push(close);
  }

  async close(): Promise<void> {
    await this.#worker?.stop();
    await this.#vllm?.close();
    await this.#skyrl?.kill();
    for (const close of this.#closing.reverse()) await close();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** A step's figures in metrics.jsonl. */
export type Figures = Record<"step" | "loss" | "gradNorm" | "meanAdvantage", number>;

function objects(file: string): object[] {
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const value: unknown = JSON.parse(line);
      assert.ok(typeof value === "object" && value !== null, line);
      return value;
    });
}

function numberOf(from: object, key: string): number {
  const value: unknown = Reflect.get(from, key);
  assert.ok(typeof value === "number", `${key} is ${String(value)}`);
  return value;
}

/** The steps of a run's output. */
export function figuresOf(out: string): Figures[] {
  return objects(join(out, "metrics.jsonl")).map((line) => ({
    step: numberOf(line, "step"),
    loss: numberOf(line, "loss"),
    gradNorm: numberOf(line, "gradNorm"),
    meanAdvantage: numberOf(line, "meanAdvantage"),
  }));
}

/** Largest relative difference of one of the figures. */
export function figureDifference(
  key: keyof Figures,
  found: readonly Figures[],
  expected: readonly Figures[],
): number {
  assert.deepEqual(
    found.map(({ step }) => step),
    expected.map(({ step }) => step),
  );
  return Math.max(...expected.map((figures, n) => Math.abs(found[n]![key] / figures[key] - 1)));
}

/** Log-probabilities of student and teacher in the tokens of the latest step. */
export function logprobsOf(out: string): number[] {
  return objects(join(out, "batch.jsonl")).flatMap((line) =>
    ["logprobs", "teacher_logprobs"].flatMap((key) => {
      const values: unknown = Reflect.get(line, key) ?? [];
      assert.ok(Array.isArray(values));
      return values.map(Number);
    }),
  );
}
