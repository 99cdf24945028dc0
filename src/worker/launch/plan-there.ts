/** `gcopd train --plan` on a target itself. What it tells is kept here; nothing is left there. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { isThere, onFile, onFileSync } from "../../node/file-error.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { inTemporaryFolder, makeFolder, writeWholeSync } from "../../node/whole-file.ts";
import { lastSaid } from "../job/plan.ts";
import { HERE } from "./process.ts";
import { configText, type Launch, packed, runFolder, trainCommand } from "./runs.ts";
import { MARK, quoted } from "./shell.ts";
import { resourceOptions } from "./slurm.ts";
import { kindOf, shellOf } from "./target.ts";

/** Name of the folder of kept plans in a data folder. */
export const PLANNED = "planned";

const toldSchema = z.looseObject({ total: z.number() });
const keptSchema = z.object({ at: z.iso.datetime(), plan: toldSchema });

/** A plan as the target told it, and when. */
export type KeptPlan = z.infer<typeof keptSchema>;

type Planned = Pick<Launch, "target" | "config" | "carried" | "args">;

/**
 * Reads a whole archive of `$2` bytes, runs the plan where `$3` says, prints what it told, and takes the folder away, whatever
 * the end. When the standard input ends, nobody is waiting any more: the plan is ended, by `$4` where a scheduler has it.
 */
const SCRIPT = `umask 077
mkdir -p "$1" || exit 72
plan= watch=
trap '[ -z "$watch" ] || kill "$watch" 2> /dev/null; cd / && rm -rf "$1"; rmdir "\${1%/*}" 2> /dev/null; :' EXIT
end() {
  trap '' HUP INT TERM
  [ -z "$plan" ] || {
    kill -TERM "-$plan"
    eval "$4"
    # A device that hangs keeps it from hearing that. Its files are held until it is gone.
    { sleep 12; kill -KILL "-$plan"; } &
    killer=$!
    wait "$plan"
    n=0
    while kill -0 "-$plan" && [ $n -lt 15 ]; do sleep 1; n=$((n + 1)); done
    kill -KILL "$killer"
  } > /dev/null 2>&1 < /dev/null
  exit 143
}
trap 'end "$@"' HUP INT TERM
cd "$1" && head -c "$2" > in.tar || exit 72
[ "$(($(wc -c < in.tar)))" = "$2" ] || { echo "the connection broke" >&2; exit 72; }
tar -xof in.tar && rm in.tar || exit 72
exec 3<&0
# In a group of its own, so that all of it can be ended.
command -v setsid > /dev/null || set -m
$(command -v setsid) sh -c "$3" sh "$1" > wait.log 2>&1 < /dev/null 3<&- &
plan=$!
set +m
{ cat <&3; kill -TERM $$; } > /dev/null 2>&1 &
watch=$!
wait "$plan"
# A network file system may show an old folder until it is listed.
ls > /dev/null
[ -e code ] || { tail -n 3 wait.log >&2; exit 75; }
echo ${MARK}
cat plan.json
cat plan.log >&2
exit "$(cat code)"`;

/**
 * Plans a run on its target. A plan without a probe needs no device and is made by the target's shell, unless the target
 * asks for GPUs: its passes are then cut as theirs.
 *
 * @param signal ends the plan there, too
 * @throws InputError with the line of the command that refuses the config; `Unreachable`; the signal's reason
 */
export async function planThere(
  folder: string,
  { target: { name, is }, config, carried, args = [] }: Planned,
  { probe, signal }: { probe: boolean; signal: AbortSignal },
): Promise<KeptPlan> {
  const shell = shellOf(is);
  const there = runFolder(is, `plan-${randomBytes(6).toString("hex")}`);
  const { before, command } = trainCommand(is, args, ["--plan", ...(probe ? ["--probe"] : [])]);
  const waiting = kindOf(is).plan(is);
  if (probe && waiting === null)
    throw new InputError(
      `target ${name}: cannot probe with ${is.slurmrestd === undefined ? is.scheduler : "slurmrestd"}, since the shell there cannot wait for the result: plan without --probe`,
    );
  const scheduled = probe || is.gpus !== undefined;
  const slurm = ["--output=slurm.out", ...resourceOptions(is)];
  const script = `#!/bin/sh
${slurm.map((option) => `#SBATCH ${option}\n`).join("")}cd ${quoted(there)} || exit 72
(${before}exec ${command}) > plan.json 2> plan.log
echo $? > code.part && mv code.part code
`;
  const { code, out, err } = await inTemporaryFolder("gcopd-plan-", async (parts) => {
    const tar = join(parts, "in.tar");
    await packed(tar, { "config.json": configText(config), "plan.sh": script }, carried);
    const { size } = await onFile(tar, "read", stat(tar));
    signal.throwIfAborted();
    const { run, end } = scheduled && waiting !== null ? waiting : HERE;
    const input = { file: tar, until: signal };
    return shell.exec(["sh", "-c", SCRIPT, "sh", there, String(size), run, end], { input });
  });
  signal.throwIfAborted();
  if (code !== 0)
    throw new InputError(
      `${name}: ${lastSaid(err).replaceAll(`${there}/`, "") || `the plan ended with exit code ${code}`}`,
    );
  const text = Buffer.from(out).toString().split(`${MARK}\n`).at(-1) ?? "";
  const file = `${shell.place}: the plan`;
  const kept = {
    at: new Date().toISOString(),
    plan: checkedBy(toldSchema, parseJsonText(text, { file }), { file }),
  };
  try {
    await makeFolder(folder, 0o700);
    writeWholeSync(fileOf(folder, { target: { name, is }, config, args }), `${JSON.stringify(kept)}\n`);
  } catch (error) {
    // It may have taken an hour in a queue: it is told, and only who asks for it later finds none.
    if (!(error instanceof InputError)) throw error;
  }
  return kept;
}

/** What was told of a run before; null where it was not planned there. */
export function keptPlan(folder: string, planned: Omit<Planned, "carried">): KeptPlan | null {
  const file = fileOf(folder, planned);
  if (!isThere(file)) return null;
  const text = onFileSync(file, "read", () => readFileSync(file, "utf8"));
  return checkedBy(keptSchema, parseJsonText(text, { file }), { file });
}

/** A target that was changed since is another. */
const fileOf = (folder: string, { target, config, args = [] }: Omit<Planned, "carried">): string =>
  join(folder, `${sha256Hex(JSON.stringify([target, config, args]))}.json`);
