// Preloaded into each job's process (`node --import record-run.mjs?folder=…`). It makes two facts outlive a killed
// worker: that this run has begun (`pid`), and how it ended (`exit`).
//
// `pid` is created exclusively. A restarted worker that finds no such file creates it itself with the word "revoked":
// whoever comes first decides whether the run takes place, so that it can neither be lost nor take place twice.
//
// The launcher holds the other end of a channel until this run has begun. A fault of the disk before that is sent there,
// since a log on a full disk takes no line; the launcher starts the same attempt again.
import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

/** EX_TEMPFAIL of sysexits.h: the run has not begun, and another try may work. */
const NOT_BEGUN = 75;

const folder = new URL(import.meta.url).searchParams.get("folder");
// Threads and forked children inherit the preload; only the run's own process is recorded.
if (folder !== null && isMainThread && process.env.GCOPD_RUN !== folder) {
  process.env.GCOPD_RUN = folder;
  await begin(join(folder, "pid"));
  process.on("exit", (code) => {
    try {
      // Not waited for until it is on the disk: a run whose record a power cut took is lost, and goes on from its checkpoint.
      writeFileSync(join(folder, "exit.part"), JSON.stringify({ code }));
      renameSync(join(folder, "exit.part"), join(folder, "exit"));
    } catch {
      // A full disk must not change the code itself, which a living worker sees.
    }
  });
}

async function begin(path) {
  let file;
  try {
    file = openSync(path, "wx");
    // All of it, or an error that ends this run before it begins. After a power cut no process of that name is left to
    // find, so it need not be on the disk.
    writeFileSync(file, String(process.pid));
    closeSync(file);
  } catch (error) {
    if (file === undefined && error.code === "EEXIST")
      end(`was withdrawn before it began (${error.code})`, 1);
    // Nothing is decided: whoever tries next creates it.
    if (file !== undefined) unlessFaulty(() => rmSync(path, { force: true }));
    const { code, syscall, message } = error;
    const told = await new Promise((resolve) => {
      if (process.connected) process.send({ code, syscall, message }, (lost) => resolve(lost === null));
      else resolve(false);
    });
    if (told) process.exit(NOT_BEGUN);
    end(`could not begin (${message})`, NOT_BEGUN);
  }
  if (process.connected) process.disconnect();
}

function end(words, code) {
  // Not by `process.stderr`, whose own fault on a full disk would end this process with a stack trace and another code.
  unlessFaulty(() => writeSync(2, `gcopd: this run ${words}\n`));
  process.exit(code);
}

function unlessFaulty(work) {
  try {
    work();
  } catch {
    // The fault that came first is the one to tell.
  }
}
