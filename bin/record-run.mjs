// Preloaded into each job's process (`node --import record-run.mjs?folder=…`). It makes two facts outlive a killed
// worker: that this run has begun (`pid`), and how it ended (`exit`).
//
// `pid` is created exclusively. A restarted worker that finds no such file creates it itself with the word "revoked":
// whoever comes first decides whether the run takes place, so that it can neither be lost nor take place twice.
import { closeSync, openSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = new URL(import.meta.url).searchParams.get("folder");
// Threads and forked children inherit the preload; only the run's own process is recorded.
if (folder !== null && isMainThread && process.env.GCOPD_RUN !== folder) {
  process.env.GCOPD_RUN = folder;
  let file;
  try {
    file = openSync(join(folder, "pid"), "wx");
  } catch (error) {
    process.stderr.write(`gcopd: this run was withdrawn before it began (${error.code})\n`);
    process.exit(1);
  }
  // All of it, or an error that ends this run before it begins.
  writeFileSync(file, String(process.pid));
  closeSync(file);
  process.on("exit", (code) => {
    try {
      writeFileSync(join(folder, "exit.part"), JSON.stringify({ code }));
      renameSync(join(folder, "exit.part"), join(folder, "exit"));
    } catch {
      // A full disk must not change the code itself, which a living worker sees.
    }
  });
}
