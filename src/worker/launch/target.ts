/** Targets: the places where a user launches runs, in a file of the user's own that holds no secret (docs/remote.md). */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { isThere, onFileSync } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { makeFolder, writeWholeSync } from "../../node/whole-file.ts";
import {
  missingFor,
  type Scheduler,
  TARGET_KEYS,
  type Target,
  targetFields,
  there,
} from "../../protocol/target.ts";
import { kubernetes } from "./kubernetes-kind.ts";
import type { RunLauncher } from "./launcher.ts";
import { processes } from "./process.ts";
import { ray } from "./ray.ts";
import type { KeyProblem, SchedulerKind } from "./scheduler-kind.ts";
import { quoted, type Shell, thisMachine } from "./shell.ts";
import { slurm } from "./slurm-kind.ts";
import { sshShell } from "./ssh.ts";

/** Stands before a path of the target, or the name of one of its models. */
export const ON_TARGET = "target:";

const KINDS: Record<Scheduler, SchedulerKind> = { none: processes, slurm, ray, kubernetes };

export const kindOf = ({ scheduler }: Pick<Target, "scheduler">): SchedulerKind => KINDS[scheduler];

/** A target whose keys go together: one that does not count would be ignored in silence. */
export const targetSchema = targetFields.superRefine((target, context) => {
  const problem = ({ path, message }: KeyProblem) => context.addIssue({ code: "custom", path, message });
  for (const each of TARGET_KEYS) {
    const missing = target[each.key] === undefined ? null : missingFor(each, target);
    if (missing !== null)
      problem({ path: [each.key], message: `counts only with ${missing}, which is missing` });
  }
  const kind = kindOf(target);
  for (const each of kind.problems?.(target) ?? []) problem(each);
  if (!kind.containers && target.image !== undefined && !there.safeParse(target.image).success)
    problem({ path: ["image"], message: "expected the absolute path of an Apptainer image" });
});

const targetsSchema = z.record(z.string(), targetSchema);

/** `$XDG_CONFIG_HOME/gcopd/targets.json`, by default in ~/.config. */
export function targetsFile(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CONFIG_HOME;
  return join(base && isAbsolute(base) ? base : join(homedir(), ".config"), "gcopd", "targets.json");
}

/** Those of the file; none where there is no file. @throws InputError that names file and key */
export function readTargets(file = targetsFile()): Record<string, Target> {
  if (!isThere(file)) return {};
  const text = onFileSync(file, "read", () => readFileSync(file, "utf8"));
  return checkedBy(targetsSchema, parseJsonText(text, { file }), { file });
}

/** @throws InputError for a name that the file does not have */
export function readTarget(name: string, file = targetsFile()): Target {
  const targets = readTargets(file);
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target !== undefined) return target;
  const known = Object.keys(targets);
  const others =
    known.length === 0
      ? "there are none yet: add one with `gcopd target add`"
      : `expected ${known.join(", ")}`;
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
    throw new InputError("already exists; add --replace to overwrite it", { file, key: name });
  const added = checkedBy(targetSchema, given);
  await makeFolder(join(file, ".."));
  const all = { ...targets, [name]: added };
  writeWholeSync(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
}

export function shellOf(target: Target): Shell {
  const { host, ...rest } = target;
  return (
    kindOf(target).containers?.(target) ?? (host === undefined ? thisMachine : sshShell({ ...rest, host }))
  );
}

export function launcherOf(target: Target): RunLauncher {
  return kindOf(target).launcher(shellOf(target), target);
}

/** Shell lines that must come before a program of the target, what stands before its name, and gcopd's command. */
export function surroundings(target: Target): {
  before: string;
  inside: string;
  gcopd: string;
} {
  const { host, modules, image, scratch, gcopd } = target;
  const contained = kindOf(target).containers !== undefined;
  const load = modules.map((module) => `module load ${quoted(module)} || exit 72\n`).join("");
  const own = [process.execPath, join(PACKAGE.root, "bin", "gcopd.js")].map(quoted).join(" ");
  return {
    // A non-login shell may not know `module`.
    before:
      load === "" ? "" : `command -v module > /dev/null 2>&1 || . /etc/profile > /dev/null 2>&1\n${load}`,
    // A container is of the image already.
    inside:
      image === undefined || contained
        ? ""
        : `apptainer exec --nv --bind ${quoted(scratch)} ${quoted(image)} `,
    gcopd: gcopd ?? (host === undefined && !contained ? own : "gcopd"),
  };
}
