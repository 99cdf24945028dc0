/** A run as a script that can be read, and run without `gcopd launch`: what it would send, and what it would start. */

import type { Target } from "../../protocol/target.ts";
import type { RemoteConfig } from "./remote-config.ts";
import { runFolder, trainCommand } from "./runs.ts";
import { quoted } from "./shell.ts";
import { kindOf } from "./target.ts";

/** Name of its folder beside those of launched runs. */
const BY_HAND = "by-hand";

export function scriptByHand(
  { name, is }: { name: string; is: Target },
  { config, carried }: Pick<RemoteConfig, "config" | "carried">,
): string {
  const folder = runFolder(is, BY_HAND);
  const { before, command } = trainCommand(is);
  const { head = [], start } = kindOf(is).byHand(is);
  const first = carried.length === 0 ? [] : ["first, on this machine:", ...sending(is, folder, carried)];
  return [
    "#!/bin/sh",
    ...head,
    `# What gcopd launch does on the target ${name}, by hand. On it: ${start} and the name of this file`,
    ...first.map((line) => `# ${line}`),
    `mkdir -p ${quoted(folder)} && cd ${quoted(folder)} || exit 72`,
    "cat > config.json <<'END_OF_CONFIG'",
    JSON.stringify(config, null, 2),
    "END_OF_CONFIG",
    `${before}exec ${command}`,
    "",
  ].join("\n");
}

/** Commands that bring its inputs to where the config looks for them. */
function sending(target: Target, folder: string, carried: RemoteConfig["carried"]): string[] {
  const { host, user, port, ssh_config: file } = target;
  const own = kindOf(target).sending?.(folder, carried);
  if (own !== undefined) return own;
  if (host === undefined)
    return [
      `mkdir -p ${quoted(`${folder}/in`)}`,
      ...carried.map(({ from, to }) => `cp -r ${quoted(from)} ${quoted(`${folder}/${to}`)}`),
    ];
  const place = user === undefined ? host : `${user}@${host}`;
  const config = file === undefined ? "" : `-F ${quoted(file)} `;
  const at = (flag: string) => (port === undefined ? config : `${config}${flag} ${port} `);
  return [
    `ssh ${at("-p")}${place} mkdir -p ${folder}/in`,
    ...carried.map(({ from, to }) => `scp -r ${at("-P")}${quoted(from)} ${place}:${folder}/${to}`),
  ];
}
