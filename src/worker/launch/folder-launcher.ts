/** A launcher over a shell: what it does in the run's folder, the same for all. `Scheduler` says how an attempt is started. */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { Transform } from "node:stream";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { makeFolder } from "../../node/whole-file.ts";
import type { Attempt, Offsets, RunLauncher, RunState, RunStatus } from "./launcher.ts";
import runScript from "./run.sh?raw";
import { type Answer, type Shell, script, Unreachable } from "./shell.ts";

export { runScript };

/** Stands before what is meant for us: a login may print text of its own. */
export const MARK = "gcopd-answer";

/** Names in a run's folder. */
export const COMMAND_FILE = "command.sh";

/** Bytes of each output in one answer. */
const MOST = 1 << 20;

/** Seconds without a beat after which a run on another host is taken for gone, unless the scheduler has it. */
const BEAT_SECONDS = 60;

export function attemptFolder({ folder, number }: Attempt): string {
  return `${folder}/attempt-${number}`;
}

/** What a scheduler says of an attempt. `gone`: it has none such; `silent`: it did not answer. */
export interface Queued {
  state: "pending" | "running" | "gone" | "silent";
  reason: string | null;
  expected: string | null;
}

export interface Scheduler {
  /** Starts an attempt unless it was submitted before. */
  submit(shell: Shell, run: Attempt): Promise<Answer>;
  /** Shell text that prints one line about an attempt; null where there is no queue. */
  ask: ((run: Attempt) => string) | null;
  /** What that line says. */
  read(line: string): Queued;
  /** Takes an attempt out of the queue. @param running also one that was started */
  remove(shell: Shell, run: Attempt, running: boolean): Promise<void>;
}

export function folderLauncher(shell: Shell, scheduler: Scheduler): RunLauncher {
  const failed = (doing: string, { err, code }: Answer) =>
    new InputError(
      `${shell.place}: ${doing}: ${err === "" ? `the shell there ended with ${code}` : lastLine(err)}`,
    );

  async function ask(what: "stop" | "cancel", run: Attempt): Promise<void> {
    const answer = await script(shell, runScript, what, attemptFolder(run));
    if (answer.code !== 0) throw failed(`the file \`${what}\` was not written`, answer);
    await scheduler.remove(shell, run, what === "cancel");
  }

  return {
    async put({ folder }, tar) {
      const { size } = await stat(tar);
      const answer = await shell.exec(["sh", "-c", PUT, "sh", folder, String(size)], {
        input: { file: tar },
      });
      if (answer.code !== 0) throw failed(`the run's folder ${folder} was not made`, answer);
    },

    async submit(run) {
      const answer = await scheduler.submit(shell, run);
      if (answer.code !== 0) throw failed("the run was not submitted", answer);
    },

    async status(run, offsets) {
      const args = [attemptFolder(run), String(offsets.out), String(offsets.err), String(MOST)];
      const look = async (before: string) => {
        const answer = await script(shell, `${before}\n${runScript}`, "look", ...args);
        if (answer.code !== 0) throw failed("the run's folder was not read", answer);
        return settled(answer.out, scheduler, offsets, shell.place);
      };
      try {
        const status = await look("");
        if (scheduler.ask === null || status.state === "ended" || status.state === "running") return status;
        // The scheduler is asked before the folder is read again: a run that ended in between is seen there.
        return await look(scheduler.ask(run));
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        return { ...UNKNOWN, state: "unreachable", reason: error.message };
      }
    },

    stop: (run) => ask("stop", run),
    cancel: (run) => ask("cancel", run),

    async fetch({ folder }, paths, to) {
      await makeFolder(dirname(to));
      const part = await mkdtemp(`${to}.part-`);
      try {
        const answer = await unpack(shell, ["sh", "-c", FETCH, "sh", folder, ...paths], part);
        // tar's 1: a file changed while it was read, which a running one does.
        if (answer.code > 1) throw failed("the files were not fetched", answer);
        await onlyFilesAndFolders(part, shell.place);
        await rename(part, to);
      } finally {
        await rm(part, { recursive: true, force: true });
      }
    },
  };
}

/** Whole or not at all: as long as what was sent, and `run.json`, by which a whole folder is known, comes last. */
const PUT = `umask 077
[ ! -e "$1/run.json" ] || { cat > /dev/null; exit 0; }
part="$1/.part.$$"
mkdir -p "$part" && cat > "$part.tar" || exit 72
[ "$(($(wc -c < "$part.tar")))" = "$2" ] || { rm -r "$part" "$part.tar"; echo "the connection broke" >&2; exit 72; }
tar -xof "$part.tar" -C "$part" && rm "$part.tar" && mv "$part/run.json" "$part.json" || exit 72
for file in "$part"/*; do
  rm -rf "$1/\${file##*/}" && mv "$file" "$1/" || exit 72
done
rmdir "$part" && mv "$part.json" "$1/run.json"`;

const FETCH = `cd "$1" || exit 72
shift
for name; do
  shift
  [ -e "$name" ] && set -- "$@" "$name"
done
[ $# != 0 ] || { echo "there is nothing yet" >&2; exit 66; }
echo ${MARK}
tar -cf - "$@"`;

const UNKNOWN: RunStatus = {
  state: "unreachable",
  code: null,
  reason: null,
  expected: null,
  asked: null,
  began: null,
  seconds: null,
  latest: 0,
  output: { from: 0, bytes: new Uint8Array(), size: 0 },
  log: { from: 0, bytes: new Uint8Array(), size: 0 },
};

const whole = z.coerce.number().int();
const extentSchema = z
  .string()
  .regex(/^\d+ \d+ \d+$/)
  .transform((text) => {
    const [size = 0, from = 0, part = 0] = text.split(" ").map(Number);
    return { size, from, part };
  });

/** What `run.sh look` says before the output. */
const lookSchema = z.object({
  latest: whole,
  now: whole,
  begun: whole.optional(),
  asked: z.enum(["stop", "cancel"]).optional(),
  state: z.string().regex(/^(none|alive|gone|exit \d+ \d+|elsewhere -?\d+)$/),
  stdout: extentSchema,
  stderr: extentSchema,
});

/** @throws InputError for an answer that is none of the script's, or output that is shorter than what was read of it */
function settled(answer: Uint8Array, scheduler: Scheduler, offsets: Offsets, place: string): RunStatus {
  const { queue, head, output, log } = dissected(Buffer.from(answer), place);
  for (const [name, offset, { size }] of [
    ["output", offsets.out, head.stdout],
    ["log", offsets.err, head.stderr],
  ] as const)
    if (offset !== "tail" && size < offset)
      throw new InputError(
        `${place}: the run's ${name} has ${size} bytes, of which ${offset} were read before`,
      );
  const [word = "", value, time] = head.state.split(" ");
  const { begun: began = null, now, asked = null, latest } = head;
  const queued = scheduler.read(queue);
  const end = word === "exit" ? Number(time) : now;
  return {
    state: stateOf(word, Number(value), queued.state),
    code: word === "exit" ? Number(value) : null,
    reason: queued.reason,
    expected: queued.expected,
    asked,
    began,
    seconds: began === null ? null : Math.max(0, end - began),
    latest,
    output,
    log,
  };
}

function dissected(answer: Buffer, place: string) {
  const begin = answer.indexOf(`${MARK}\n`);
  const end = answer.indexOf("\n\n", begin);
  const lines = answer.subarray(begin, end).toString().split("\n").slice(1);
  const facts = Object.fromEntries(
    lines.map((line) => [line.split(" ", 1)[0] ?? "", line.slice(line.indexOf(" ") + 1)]),
  );
  const checked = lookSchema.safeParse(facts);
  if (begin < 0 || end < 0 || !checked.success)
    throw new InputError(`${place}: the shell there gave no answer of the run's script`);
  const head = checked.data;
  const split = end + 2 + head.stdout.part;
  if (answer.length < split + head.stderr.part)
    throw new InputError(`${place}: the answer of the run's script broke off`);
  return {
    queue: /^scheduler (.*)$/m.exec(answer.subarray(0, begin).toString())?.[1] ?? "",
    head,
    output: { ...head.stdout, bytes: answer.subarray(end + 2, split) },
    log: { ...head.stderr, bytes: answer.subarray(split, split + head.stderr.part) },
  };
}

/** The folder's word counts; the scheduler's only where the folder has none. */
function stateOf(word: string, value: number, state: Queued["state"]): RunState {
  if (word === "exit") return "ended";
  if (word === "alive" || (word === "elsewhere" && value < BEAT_SECONDS)) return "running";
  if (state === "running") return "running";
  if (state === "pending") return "queued";
  // Neither the folder nor the scheduler says that it is gone.
  if (state === "silent") return "unreachable";
  return word === "none" ? "never" : "lost";
}

function lastLine(text: string): string {
  const lines = text.split("\n").filter((line) => !line.startsWith("tar: Exiting with"));
  return lines.at(-1) ?? "";
}

/** Unpacks what a program there prints as a tar archive. @returns 2 when it was not unpacked whole, else the program's exit code */
async function unpack(shell: Shell, args: readonly string[], folder: string): Promise<Answer> {
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
async function onlyFilesAndFolders(folder: string, place: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
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
