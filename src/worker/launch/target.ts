/** Targets: the places where a user launches runs, in a file of the user's own that holds no secret (docs/remote.md). */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { onFileSync } from "../../node/file-error.ts";
import { makeFolder, writeWholeSync } from "../../node/whole-file.ts";
import { PACKAGE } from "../package-root.ts";
import type { RunLauncher } from "./launcher.ts";
import { processLauncher } from "./process.ts";
import { quoted, type Shell, thisMachine } from "./shell.ts";
import { slurmLauncher } from "./slurm.ts";
import { sshShell } from "./ssh.ts";

/** A word of a command line or of a scheduler's script: nothing that ends a line or begins an option. */
const word = z.string().regex(/^[\w.:/@+=,][\w.:/@+=,-]*$/, { error: "expected one plain word" });
/** Also a word to the scheduler, which reads `%` and spaces in it. */
export const there = z
  .string()
  .regex(/^\/[\w.:/@+=,-]*[\w.:@+=,-]$/, { error: "expected an absolute path of plain characters" });

/** Keys that count only beside another; on their own they would be ignored in silence. */
const ONLY_WITH = {
  host: ["user", "port", "ssh_config"],
  "scheduler slurm": ["partition", "account", "time", "sbatch"],
} as const;

const targetFields = z.strictObject({
  host: word.optional().describe("Host, or its name in the ssh configuration; this machine when absent."),
  user: word.optional(),
  port: z.int().min(1).max(65_535).optional(),
  ssh_config: z.string().min(1).optional().describe("In place of ~/.ssh/config."),
  scheduler: z.enum(["none", "slurm"]).default("none"),
  partition: word.optional(),
  account: word.optional(),
  gpus: z.int().min(1).optional().describe("Asked of the scheduler, and counted for the price."),
  time: word.optional().describe("Time limit, as sbatch takes it."),
  sbatch: z
    .array(z.string().regex(/^--[^\r\n]+$/, { error: "expected an option of sbatch, as --mem=64G" }))
    .optional(),
  modules: z.array(word).default([]).describe("Loaded by `module load` before gcopd."),
  image: there.optional().describe("Apptainer image that gcopd runs in."),
  gcopd: z
    .string()
    .regex(/^[^\r\n]+$/)
    .optional()
    .describe("Command that runs gcopd there; `gcopd` when absent, on this machine the one that launches."),
  scratch: there.describe("Folder in which each run gets a folder of its own."),
  models: z.record(word, there).default({}).describe("Paths of models there; `target:NAME` names one."),
  price_per_gpu_hour: z.number().min(0).optional().describe("In the currency of your choice."),
});

export const targetSchema = targetFields.superRefine((target, context) => {
  const has = { host: target.host !== undefined, "scheduler slurm": target.scheduler === "slurm" };
  for (const what of ["host", "scheduler slurm"] as const)
    for (const key of ONLY_WITH[what])
      if (target[key] !== undefined && !has[what])
        context.addIssue({
          code: "custom",
          path: [key],
          message: `counts only with ${what}, which is missing`,
        });
});

export type Target = z.infer<typeof targetSchema>;

const targetsSchema = z.record(z.string(), targetSchema);

/** `$XDG_CONFIG_HOME/gcopd/targets.json`, by default in ~/.config. */
export function targetsFile(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CONFIG_HOME;
  return join(base && isAbsolute(base) ? base : join(homedir(), ".config"), "gcopd", "targets.json");
}

/** Those of the file; none where there is no file. @throws InputError that names file and key */
export function readTargets(file = targetsFile()): Record<string, Target> {
  if (!existsSync(file)) return {};
  const value = parseJsonText(
    onFileSync(file, "read", () => readFileSync(file, "utf8")),
    { file },
  );
  const checked = targetsSchema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(message, { file, key });
}

/** @throws InputError for a name that the file does not have */
export function readTarget(name: string, file = targetsFile()): Target {
  const targets = readTargets(file);
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target !== undefined) return target;
  const known = Object.keys(targets);
  const others = known.length === 0 ? "it has none: `gcopd target add`" : `it has ${known.join(", ")}`;
  throw new InputError(`no target ${JSON.stringify(name)}; ${others}`, { file });
}

/**
 * Adds a target to the file, which only its owner may read.
 *
 * @throws InputError for a name that is there, unless it is to be replaced, and for a key that does not fit
 */
export async function addTarget(
  name: string,
  given: Record<string, unknown>,
  { replace = false, file = targetsFile() } = {},
): Promise<void> {
  if (!/^[\w][\w.-]*$/.test(name))
    throw new InputError(`expected a name of letters, digits, ".", "_" and "-", got ${JSON.stringify(name)}`);
  const targets = readTargets(file);
  if (Object.hasOwn(targets, name) && !replace)
    throw new InputError("is there already: --replace puts this one in its place", { file, key: name });
  const checked = targetSchema.safeParse(given);
  if (!checked.success) {
    const { key, message } = describeIssue(checked.error.issues[0]!, given);
    throw new InputError(message, { key });
  }
  await makeFolder(join(file, ".."));
  const all = { ...targets, [name]: checked.data };
  writeWholeSync(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
}

export function shellOf(target: Target): Shell {
  const { host, ...rest } = target;
  return host === undefined ? thisMachine : sshShell({ ...rest, host });
}

export function launcherOf(target: Target): RunLauncher {
  const shell = shellOf(target);
  return target.scheduler === "slurm" ? slurmLauncher(shell, target) : processLauncher(shell);
}

/** Shell lines that must come before a program of the target, what stands before its name, and gcopd's command. */
export function surroundings({ host, modules, image, scratch, gcopd }: Target): {
  before: string;
  inside: string;
  gcopd: string;
} {
  const load = modules.map((module) => `module load ${quoted(module)} || exit 72\n`).join("");
  const own = [process.execPath, join(PACKAGE.root, "bin", "gcopd.js")].map(quoted).join(" ");
  return {
    // A shell that is no login's may not know `module`.
    before:
      load === "" ? "" : `command -v module > /dev/null 2>&1 || . /etc/profile > /dev/null 2>&1\n${load}`,
    inside: image === undefined ? "" : `apptainer exec --nv --bind ${quoted(scratch)} ${quoted(image)} `,
    gcopd: gcopd ?? (host === undefined ? own : "gcopd"),
  };
}
