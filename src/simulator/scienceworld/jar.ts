/** The simulator's JAR, as the user names it: in a wheel, by itself, or in an installed package. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { InputError } from "../../core/errors.ts";
import { onFile } from "../../node/file-error.ts";

/** The paper's version; others order rooms and tasks differently. */
export const PAPER_VERSION = "1.2.3";

const IN_WHEEL = "scienceworld/scienceworld.jar";
const MAIN_CLASS = "scienceworld/runtime/pythonapi/PythonInterface.class";
const MANIFEST = "META-INF/MANIFEST.MF";

/** Wheel and JAR of the paper's version have 7 to 8 MB each. */
const LARGEST = 128 * 2 ** 20;

export interface SimulatorJar {
  /** The file that the JAR was found in. */
  file: string;
  bytes: Uint8Array;
  version: string;
  /** Of the JAR, 64 hexadecimal digits. */
  sha256: string;
}

/**
 * Reads the simulator out of a wheel (`.whl`), a JAR, or the folder of an installed package.
 *
 * @param options.version the version that it must have; null takes any
 * @throws InputError for a file that holds no simulator, or another version of it
 */
export async function openJar(
  path: string,
  { version: expected = PAPER_VERSION }: { version?: string | null } = {},
): Promise<SimulatorJar> {
  const { file, bytes: read } = await readBounded(path);
  const bytes = entry(read, IN_WHEEL, file) ?? read;
  const manifest = entry(bytes, MANIFEST, file);
  if (manifest === undefined || entry(bytes, MAIN_CLASS, file) === undefined)
    throw new InputError("holds no ScienceWorld simulator; expected a wheel, a JAR or a package folder", {
      file,
    });
  const text = new TextDecoder().decode(manifest);
  const version = /^Implementation-Version: *(\S+)/m.exec(text)?.[1] ?? "unknown";
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (expected !== null && version !== expected)
    throw new InputError(`is ScienceWorld ${version} (SHA-256 ${sha256}); expected ${expected}`, { file });
  return { file, bytes, version, sha256 };
}

async function readBounded(path: string): Promise<{ file: string; bytes: Uint8Array }> {
  const found = await onFile(path, "read", stat(path));
  const file = found.isDirectory() ? join(path, "scienceworld.jar") : path;
  const { size } = await onFile(file, "read", stat(file));
  if (size > LARGEST) throw new InputError(`has ${size} bytes; a simulator has at most ${LARGEST}`, { file });
  return { file, bytes: await onFile(file, "read", readFile(file)) };
}

/** One entry of an archive; undefined where it is missing. */
function entry(archive: Uint8Array, name: string, file: string): Uint8Array | undefined {
  try {
    const filter = (found: { name: string; originalSize: number }) =>
      found.name === name && found.originalSize <= LARGEST;
    return unzipSync(archive, { filter })[name];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError(`is not a wheel or JAR, which are zip archives: ${reason}`, { file });
  }
}
