/** Folders and programs for tests of launchers: nothing outside of them is reached. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";
import { processLauncher } from "../../src/worker/launch/process.ts";
import { rayLauncher } from "../../src/worker/launch/ray.ts";
import { thisMachine } from "../../src/worker/launch/shell.ts";
import { slurmLauncher } from "../../src/worker/launch/slurm.ts";
import { sshShell } from "../../src/worker/launch/ssh.ts";
import type { Place } from "./launch-contract.ts";

const BIN = resolve(import.meta.dirname, "launch-bin");

/** Output from its beginning. */
export const START = { out: 0, err: 0 };

let root: string;

/** A path in the folder of the present test; the folder itself without a name. */
export const at = (...path: string[]): string => join(root, ...path);

/** Gives every test of a file a new folder, with the programs of launch-bin/ in place of ssh, Slurm, Ray and kubectl. */
export function inLaunchFolders(): void {
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "gcopd-launch-"));
    for (const name of ["ssh", "slurm", "ray", "kube", "bin"]) mkdirSync(at(name));
    vi.stubEnv("PATH", [at("bin"), BIN, process.env.PATH].join(delimiter));
    vi.stubEnv("FAKE_SSH", at("ssh"));
    vi.stubEnv("FAKE_SLURM", at("slurm"));
    vi.stubEnv("FAKE_RAY", at("ray"));
    vi.stubEnv("FAKE_KUBE", at("kube"));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  });
}

export const PLACES = {
  "this machine": () => ({ launcher: processLauncher(thisMachine), root }),
  ssh: () => ({ launcher: processLauncher(sshShell({ host: "box" })), root }),
  slurm: () => ({ launcher: slurmLauncher(sshShell({ host: "box" }), { gpus: 1 }), root }),
  ray: () => ({ launcher: rayLauncher(sshShell({ host: "box" }), { gpus: 1 }), root }),
} satisfies Record<string, () => Place>;

/** Sets, or takes back, what one of the programs does: see launch-bin/. */
export const setFake = (of: "slurm" | "ray" | "kube", name: string, there = true): void =>
  there ? writeFileSync(at(of, name), "") : rmSync(at(of, name));
