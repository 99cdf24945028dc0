/**
 * Which card a process computes on. WebGPU picks an adapter by its name at best, and cards of one host bear the same
 * name; drivers take what device files there are. So a card's process does not see the files of the others: a mount
 * namespace of its own has an empty device in their place (`unshare`, as root, or in a user namespace).
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { InputError } from "../../core/errors.ts";

/** Device files of one kind of card: numbered as the driver does. */
const KINDS = [
  { folder: "/dev", name: /^nvidia(\d+)$/ },
  { folder: "/dev/dri", name: /^renderD(\d+)$/ },
] as const;

/** Files of the cards of this host in the order of their numbers; none where the adapter is software. */
export function cardFiles(list: (folder: string) => string[] = listFolder): string[] {
  for (const { folder, name } of KINDS) {
    const found = list(folder).flatMap((file) => {
      const number = name.exec(file)?.[1];
      return number === undefined ? [] : [{ file, number: Number(number) }];
    });
    if (found.length > 0)
      return found.sort((a, b) => a.number - b.number).map(({ file }) => `${folder}/${file}`);
  }
  return [];
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Numbers of the cards to use, checked.
 *
 * @param asked a list, or how many
 * @throws InputError when the host has not as many
 */
export function chosenCards(asked: number | readonly number[], files: readonly string[]): number[] {
  const cards = typeof asked === "number" ? Array.from({ length: asked }, (_, card) => card) : [...asked];
  if (new Set(cards).size !== cards.length) throw new InputError("a card is named twice", { key: "cards" });
  const missing = cards.find((card) => card >= files.length);
  // Where there are no card files, every process computes on the same software adapter or processor.
  if (files.length > 0 && missing !== undefined)
    throw new InputError(
      `there is no card ${missing}: this host has ${files.length} (${files.join(", ")}), numbered from 0`,
      { key: "cards" },
    );
  return cards;
}

/** A command that runs `command` with all card files but one's empty. */
export function onCard(card: number, files: readonly string[], command: readonly string[]): string[] {
  const others = files.filter((_, other) => other !== card);
  if (others.length === 0) return [...command];
  const flags = namespaceFlags();
  // The files come as arguments: nothing of them is read as a command.
  const script =
    'n=$1; shift; while [ "$n" -gt 0 ]; do mount --bind /dev/null "$1" || exit 125; shift; n=$((n-1)); done; exec "$@"';
  return ["unshare", ...flags, "sh", "-c", script, "sh", String(others.length), ...others, ...command];
}

/** How this user may have a mount namespace. */
function namespaceFlags(): string[] {
  for (const flags of [["--mount"], ["--user", "--map-root-user", "--mount"]])
    if (spawnSync("unshare", [...flags, "true"], { stdio: "ignore" }).status === 0) return flags;
  throw new InputError(
    "several cards need a mount namespace for each: run as root, or where users may make namespaces (unshare --user --mount); in a container, give each container one card instead",
    { key: "cards" },
  );
}
