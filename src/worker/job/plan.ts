/** What a training config will cost, measured by the command line in a process of its own. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { InputError } from "../../core/errors.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { inTemporaryFolder } from "../../node/whole-file.ts";

/** Kept of what it says on standard error. */
const TAIL = 1 << 16;

/**
 * Runs `gcopd train --plan` over a config.
 *
 * @param probe asks for its time, too: a small part of it is done
 * @param cli script that takes the arguments; the command line itself when absent
 * @returns the object that it prints
 * @throws InputError with the command's own line when it refuses the config
 * @throws the signal's reason when aborted: the process is ended
 */
export async function planTraining(
  config: object,
  options: { device?: string; cli?: string; probe?: boolean; signal: AbortSignal },
): Promise<Record<string, unknown>> {
  return inTemporaryFolder("gcopd-plan-", async (folder) => {
    const file = join(folder, "config.json");
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    const cli = options.cli ?? join(PACKAGE.root, "bin", "gcopd.js");
    const device = options.device === undefined ? [] : ["--device", options.device];
    const probe = options.probe ? ["--probe"] : [];
    const { code, out, err } = await run(
      [cli, "train", "--config", file, "--plan", ...probe, ...device],
      options.signal,
    );
    options.signal.throwIfAborted();
    if (code === 0) return JSON.parse(out) as Record<string, unknown>;
    throw new InputError(lastSaid(err).replaceAll(file, "config") || `exit code ${code}`);
  });
}

/** Why the command line ended, from its standard error; empty where it said nothing. */
export function lastSaid(err: string): string {
  const said = stripVTControlCharacters(err).trim().split("\n");
  const line = said.findLast((each) => each.startsWith("gcopd: ")) ?? said.at(-1) ?? "";
  return line.replace(/^gcopd: /, "");
}

function run(
  args: string[],
  signal: AbortSignal,
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve, reject) => {
    const { GCOPD_TOKEN: _token, ...env } = process.env;
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err = (err + text).slice(-TAIL);
    });
    const end = () => child.kill("SIGKILL");
    signal.addEventListener("abort", end, { once: true });
    child.once("error", reject);
    child.once("close", (code) => {
      signal.removeEventListener("abort", end);
      resolve({ code, out, err });
    });
    if (signal.aborted) end();
  });
}
