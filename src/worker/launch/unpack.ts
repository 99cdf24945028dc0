/** Unpacks a tar archive that a shell elsewhere prints. */
import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { Transform } from "node:stream";
import { InputError } from "../../core/errors.ts";
import { onFile } from "../../node/file-error.ts";
import { type Answer, MARK, type Shell } from "./shell.ts";

/**
 * Unpacks what a program there prints after the line of the mark.
 *
 * @returns code 2 when it was not unpacked whole, else the program's exit code
 */
export async function unpack(shell: Shell, args: readonly string[], folder: string): Promise<Answer> {
  const archive = afterMark();
  const tar = spawn("tar", ["-xof", "-", "-C", folder], { stdio: ["pipe", "ignore", "pipe"] });
  let err = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  // It ended early: its code says why.
  tar.stdin.on("error", () => undefined);
  const unpacked = new Promise<number>((resolve, reject) => {
    tar.once("error", (error) => reject(new InputError(`tar cannot be started: ${error.message}`)));
    tar.once("close", (code) => resolve(code ?? 2));
  });
  // What it does not take is read all the same, or the shell would wait for ever.
  archive.pipe(tar.stdin).once("close", () => archive.resume());
  // Both have ended before the caller hears of either: the folder is its own again.
  const [sent, code] = await Promise.allSettled([
    shell.exec(args, { into: archive }).finally(() => archive.end()),
    unpacked,
  ]);
  if (sent.status === "rejected") throw sent.reason;
  if (code.status === "rejected") throw code.reason;
  if (code.value === 0 || sent.value.code > 1) return sent.value;
  return { code: 2, out: new Uint8Array(), err: err.trim() };
}

/** @throws InputError for a link, by which a later write would leave the folder, and for a device */
export async function onlyFilesAndFolders(folder: string, place: string): Promise<void> {
  const entries = await onFile(folder, "read", readdir(folder, { recursive: true, withFileTypes: true }));
  for (const entry of entries)
    if (!entry.isFile() && !entry.isDirectory())
      throw new InputError(
        `${place}: ${join(relative(folder, entry.parentPath), entry.name)} in the run's folder is neither a file nor a folder: nothing was fetched`,
      );
}

/** What comes after the line of the mark. */
function afterMark(): Transform {
  const mark = Buffer.from(`${MARK}\n`);
  let before: Buffer | null = Buffer.alloc(0);
  return new Transform({
    transform(bytes: Buffer, _, done) {
      if (before === null) return done(null, bytes);
      before = Buffer.concat([before, bytes]);
      const at = before.indexOf(mark);
      if (at < 0) return done();
      const rest = before.subarray(at + mark.length);
      before = null;
      done(null, rest);
    },
  });
}
