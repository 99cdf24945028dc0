/** The config of one part of an experiment in its folder: with it, its own command can run the part again. */
import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { changedKeys, changedText } from "../../core/changed-keys.ts";
import { InputError } from "../../core/errors.ts";
import { utf8Text } from "../../core/folder-text.ts";
import { type BegunRuns, trainConfigSchema } from "../../core/loop/index.ts";
import { parseObject } from "../../formats/read.ts";
import { isThere, onFileSync } from "../../node/file-error.ts";
import { makeFolder } from "../../node/whole-file.ts";
import { writeOut } from "../io.ts";
import { configFile, type GridPart } from "./part.ts";

type Part = Pick<GridPart, "name"> & { config: object; command?: GridPart["command"] };

/**
 * Writes the configs of parts, or of none.
 *
 * @param folder the experiment's
 * @throws InputError when the folder has a part with another config
 */
export async function claim(folder: string, parts: readonly Part[]): Promise<void> {
  for (const part of parts) checkSame(folder, part);
  for (const { name, config } of parts) {
    const file = join(folder, configFile(name));
    await makeFolder(dirname(file));
    // From the file: the folder may be moved.
    const own = (path: string) => (isAbsolute(path) && isBelow(folder, path) ? fromFile(file, path) : path);
    await writeJson(file, withPaths(config, own));
  }
}

function checkSame(folder: string, { name, config, command }: Part): void {
  const file = join(folder, configFile(name));
  const kept = keptConfig(file);
  if (kept === null) return;
  const changed = changedKeys(decisive(kept), decisive(config));
  if (changed.length === 0) return;
  // That of an evaluation in a comparison: those of an experiment without methods have no names.
  const beside = command === "evaluate" ? ", or another name in `evaluations` to measure this, too" : "";
  throw new InputError(
    `this part began with another config: ${changedText(changed)}; use another output folder or the same config${beside}`,
    { file },
  );
}

/** The device may be another one on the next day, and a budget larger. */
function decisive(config: object): object {
  const { device, budget, ...rest } = config as Record<string, unknown>;
  return rest;
}

/** The configs of runs that an experiment's folder has. */
export const begunRuns =
  (inside: (name: string) => string): BegunRuns =>
  (name) =>
    trainConfigSchema.safeParse(keptConfig(inside(configFile(name)))).data ?? null;

function keptConfig(file: string): object | null {
  if (!isThere(file)) return null;
  const text = onFileSync(file, "read", () => utf8Text(readFileSync(file), file));
  return withPaths(parseObject(text, { file }), (path) =>
    path.startsWith(".") ? resolve(dirname(file), path) : path,
  );
}

/** The keys of a part's config that name what lies in the experiment's folder. */
const PATHS = ["library", "parent", "model"];

function withPaths(config: object, change: (path: string) => string): object {
  const changed = (value: unknown): unknown =>
    typeof value === "string" ? change(value) : Array.isArray(value) ? value.map(changed) : value;
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, PATHS.includes(key) ? changed(value) : value]),
  );
}

function isBelow(folder: string, path: string): boolean {
  const found = relative(folder, path);
  return found !== "" && !found.startsWith("..") && !isAbsolute(found);
}

function fromFile(file: string, path: string): string {
  const found = relative(dirname(file), path);
  return found.startsWith("..") ? found : `./${found}`;
}

export const writeJson = (file: string, value: unknown): Promise<void> =>
  writeOut(file, [`${JSON.stringify(value, null, 2)}\n`]);
