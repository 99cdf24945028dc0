/** Temporary folders that simulators run in. None outlives this process, unless it is killed. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onFileSync } from "../../node/file-error.ts";
import type { SimulatorJar } from "./jar.ts";

/** Name of the JAR in its folder. */
export const JAR_NAME = "scienceworld.jar";

const folders = new Set<string>();
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });
const removeAll = (): void => folders.forEach(remove);

/**
 * A new folder with a copy of a JAR.
 *
 * @throws InputError where it cannot be written; nothing is left then
 */
export function makeJarFolder({ bytes }: SimulatorJar): string {
  const parent = tmpdir();
  const folder = onFileSync(parent, "write", () => mkdtempSync(join(parent, "gcopd-scienceworld-")));
  if (folders.size === 0) process.once("exit", removeAll);
  folders.add(folder);
  try {
    const file = join(folder, JAR_NAME);
    onFileSync(file, "write", () => writeFileSync(file, bytes));
    return folder;
  } catch (error) {
    removeJarFolder(folder);
    throw error;
  }
}

/** Removes a folder; nothing happens if it is gone. */
export function removeJarFolder(folder: string): void {
  remove(folder);
  folders.delete(folder);
  if (folders.size === 0) process.removeListener("exit", removeAll);
}
