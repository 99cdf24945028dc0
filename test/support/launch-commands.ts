/** `gcopd target` and `gcopd launch` in a folder of their own, with programs in place of ssh, Slurm, Ray and kubectl. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { buildCli, runCli } from "./cli.ts";
import { eachInItsFolder, inFolder } from "./train-runs.ts";

export const BIN = resolve(import.meta.dirname, "launch-bin");

let script: string;

/** The command line as one file, which targets start. */
export const cliScript = (): string => script;

/** Gives every test of a file a new folder with its own targets, launched runs and fakes. */
export function inLaunchHome(): void {
  beforeAll(async () => {
    script = await buildCli("launch");
  });
  afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));
  eachInItsFolder();
  beforeEach(() => {
    for (const name of ["ssh", "slurm", "ray", "kube", "scratch"]) mkdirSync(inFolder(name));
    vi.stubEnv("PATH", [BIN, process.env.PATH].join(delimiter));
    vi.stubEnv("FAKE_SSH", inFolder("ssh"));
    vi.stubEnv("FAKE_SLURM", inFolder("slurm"));
    vi.stubEnv("FAKE_RAY", inFolder("ray"));
    vi.stubEnv("FAKE_KUBE", inFolder("kube"));
    vi.stubEnv("XDG_CONFIG_HOME", inFolder("config"));
    vi.stubEnv("XDG_DATA_HOME", inFolder("data"));
    vi.stubEnv("SLURM_JWT", undefined);
  });
  afterEach(() => vi.unstubAllEnvs());
}

/** What goes wrong with the next connection; see launch-bin/ssh. */
export const fault = (text: string): void => writeFileSync(inFolder("ssh", "fault"), `${text}\n`);

/** Adds a target with a scratch folder of this test. */
export const add = (name: string, ...options: string[]) =>
  runCli("target", "add", name, "--scratch", inFolder("scratch"), ...options);

/** Adds the host that the fake ssh reaches. */
export const box = (...options: string[]) =>
  add("box", "--host", "box", "--gcopd", `'${process.execPath}' '${script}'`, ...options);

/** Ids of the runs that were launched from here. */
export const launched = (): string[] => readdirSync(inFolder("data", "gcopd", "launched"));

export const follow = (id: string) => runCli("launch", "follow", id, "--every", "0");
