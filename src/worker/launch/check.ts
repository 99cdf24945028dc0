/** Walks the way to a target once, and says for each step what is missing and what to do. */

import { PACKAGE } from "../../node/package-root.ts";
import type { CheckStep, Target } from "../../protocol/target.ts";
import { quoted, script, Unreachable } from "./shell.ts";
import { kindOf, shellOf, surroundings } from "./target.ts";

/** Bytes that a run's inputs and first checkpoints are likely to need at least. */
const ROOM_GIB = 10;

export async function checkTarget(target: Target): Promise<CheckStep[]> {
  const shell = shellOf(target);
  const kind = kindOf(target);
  const scheduler = (await kind.checkHere?.(target)) ?? [];
  // Without a cluster there is no door, and its reason is told already.
  if (kind.containers && scheduler.some(({ verdict }) => verdict === "missing")) return scheduler;
  try {
    const { out, err } = await script(shell, checkScript(target));
    const steps = Buffer.from(out)
      .toString()
      .split("\n")
      .flatMap((line) => {
        const [, step, verdict, text] = /^check\|([^|]*)\|(ok|note|missing)\|(.*)$/.exec(line) ?? [];
        if (step === undefined || text === undefined) return [];
        return [
          { step, verdict: verdict === "ok" || verdict === "note" ? verdict : "missing", text } as const,
        ];
      });
    const reached: CheckStep = { step: "shell", verdict: "ok", text: `${shell.place} answers` };
    if (steps.at(-1)?.step === "end") return [reached, ...steps.slice(0, -1), ...scheduler];
    const said = err === "" ? "the script of the checks broke off" : (err.split("\n").at(-1) ?? "");
    return [reached, ...steps, { step: "script", verdict: "missing", text: `${said}: is there a POSIX sh?` }];
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return [{ step: "shell", verdict: "missing", text: error.reason }];
  }
}

/** Those of some paths that are not on a target. @throws Unreachable when it does not answer */
export async function missingThere(target: Target, paths: readonly string[]): Promise<string[]> {
  const test = 'for path; do [ -e "$path" ] || echo "missing $path"; done';
  const { out } = await script(shellOf(target), test, ...paths);
  const said = new Set(Buffer.from(out).toString().split("\n"));
  return paths.filter((path) => said.has(`missing ${path}`));
}

function checkScript(target: Target): string {
  const { before, inside, gcopd } = surroundings(target);
  const { scratch, image, modules, models } = target;
  const kind = kindOf(target);
  // As the run's own command: what a shell takes and `exec` does not is found here.
  const within = (command: string) => ` (${before}exec ${inside}${command}) 2>&1`;
  const lines = [
    `say() { echo "check|$1|$2|$3"; }
last() { tail -n 1 | tr '|' ' '; }
scratch=${quoted(scratch)}
command -v tar > /dev/null && say tar ok "$(command -v tar)" || say tar missing "there is no tar: runs are sent with it"
if mkdir -p "$scratch" 2> /dev/null && : > "$scratch/.gcopd-$$" 2> /dev/null; then
  ln "$scratch/.gcopd-$$" "$scratch/.gcopd-$$-link" 2> /dev/null && say scratch ok "$scratch can be written" ||
    say scratch missing "no hard link can be made in $scratch: choose a folder of another file system"
  rm -f "$scratch/.gcopd-$$" "$scratch/.gcopd-$$-link"
  free=$(($(df -Pk "$scratch" | awk 'NR == 2 { print $4 }') / 1048576))
  [ "$free" -ge ${ROOM_GIB} ] && say room ok "$free GiB free" ||
    say room note "$free GiB free: a checkpoint takes 12 bytes for each parameter of the student, and two are kept"
else
  say scratch missing "$scratch cannot be written: make it, or choose another folder"
fi`,
  ];
  if (modules.length > 0)
    lines.push(`said=$(${` (${before}:) 2>&1`}) && say modules ok ${quoted(modules.join(" "))} ||
  say modules missing "$(echo "$said" | last): see module avail"`);
  if (image !== undefined && !kind.containers)
    lines.push(`if [ ! -e ${quoted(image)} ]; then say image missing ${quoted(`${image} is not there`)}
elif said=$(${within("true")}); then say image ok ${quoted(image)}
else say image missing "it does not start: $(echo "$said" | last)"; fi`);
  lines.push(
    `said=$(${within("node --version")}) && case $said in
  v[0-9].* | v1[0-9].* | v20.[0-9].* | v20.10.*) say node missing "$said: gcopd needs Node 20.11 or newer" ;;
  *) say node ok "$(echo "$said" | last)" ;;
esac || say node missing "there is no Node: load a module that has it, or put it on the PATH of non-login shells"
said=$(${within(`${gcopd} --version`)}) && if [ "$(echo "$said" | last)" = ${quoted(PACKAGE.version)} ]; then
  say gcopd ok ${PACKAGE.version}
else say gcopd note "$(echo "$said" | last) there, ${PACKAGE.version} here: the config may mean something else there"
fi || say gcopd missing ${quoted(`${gcopd} does not run: install gcopd there and name its command (--gcopd "node /path/bin/gcopd.js"): `)}"$(echo "$said" | last)"`,
  );
  lines.push(kind.checkThere(target));
  for (const [name, path] of Object.entries(models))
    lines.push(`[ -e ${quoted(`${path}/config.json`)} ] && say ${quoted(`model ${name}`)} ok ${quoted(path)} ||
  say ${quoted(`model ${name}`)} missing ${quoted(`there is no config.json in ${path}`)}`);
  lines.push("say end ok ''");
  return lines.join("\n");
}
