/** A launcher over a shell: what it does in the run's folder, the same for all. `Scheduler` says how an attempt is started. */
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { onFile } from "../../node/file-error.ts";
import { makeFolder } from "../../node/whole-file.ts";
import type { Attempt, Offsets, RunLauncher, RunState, RunStatus } from "./launcher.ts";
import runScript from "./run.sh?raw";
import { type Answer, MARK, type Shell, script, Unreachable } from "./shell.ts";
import { onlyFilesAndFolders, unpack } from "./unpack.ts";

export { runScript };

/** Names in a run's folder. */
export const COMMAND_FILE = "command.sh";

/** Bytes of each output in one answer. */
const MOST = 1 << 20;

/** Seconds without a beat after which a run on another host is taken for gone, unless the scheduler has it. */
const BEAT_SECONDS = 60;

export function attemptFolder({ folder, number }: Attempt): string {
  return `${folder}/attempt-${number}`;
}

/** What a scheduler says of an attempt. `gone`: it has no such attempt; `silent`: it did not answer. */
export interface Queued {
  state: "pending" | "running" | "gone" | "silent";
  reason: string | null;
  expected: string | null;
}

export interface Scheduler {
  /** Starts an attempt unless it was submitted before. */
  submit(shell: Shell, run: Attempt): Promise<Answer>;
  /**
   * Asks about an attempt: in the shell of the run's folder, by a text that prints one line, or from here. Null where there
   * is no queue.
   */
  ask:
    | { there: (run: Attempt) => string; read: (line: string) => Queued }
    | ((shell: Shell, run: Attempt) => Promise<Queued>)
    | null;
  /** Takes an attempt out of the queue. @param running also one that was started */
  remove(shell: Shell, run: Attempt, running: boolean): Promise<void>;
}

const GONE: Queued = { state: "gone", reason: null, expected: null };

export function folderLauncher(shell: Shell, scheduler: Scheduler): RunLauncher {
  const failed = (doing: string, { err, code }: Answer) =>
    new InputError(
      `${shell.place}: ${doing}: ${err === "" ? `the shell there exited with code ${code}` : lastLine(err)}`,
    );

  async function ask(what: "stop" | "cancel", run: Attempt): Promise<void> {
    const answer = await script(shell, runScript, what, attemptFolder(run));
    if (answer.code !== 0) throw failed(`the file \`${what}\` was not written`, answer);
    await scheduler.remove(shell, run, what === "cancel");
  }

  return {
    async put({ folder }, tar) {
      const { size } = await onFile(tar, "read", stat(tar));
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
      const look = async (before: string, read: (line: string) => Queued) => {
        const answer = await script(shell, `${before}\n${runScript}`, "look", ...args);
        if (answer.code !== 0) throw failed("the run's folder was not read", answer);
        return settled(answer.out, read, offsets, shell.place);
      };
      const { ask } = scheduler;
      try {
        const status = await look("", () => GONE);
        if (ask === null || status.state === "ended" || status.state === "running") return status;
        // The scheduler is asked before the folder is read again: a run that ended in between is seen there.
        if (typeof ask !== "function") return await look(ask.there(run), ask.read);
        const queued = await ask(shell, run);
        return await look("", () => queued);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        return { ...UNKNOWN, state: "unreachable", reason: error.message };
      }
    },

    stop: (run) => ask("stop", run),
    cancel: (run) => ask("cancel", run),

    async fetch({ folder }, paths, to) {
      await makeFolder(dirname(to));
      const part = await onFile(to, "write", mkdtemp(`${to}.part-`));
      try {
        const answer = await unpack(shell, ["sh", "-c", FETCH, "sh", folder, ...paths], part);
        // tar's 1: a file changed while it was read, which a running one does.
        if (answer.code > 1) throw failed("the files were not fetched", answer);
        await onlyFilesAndFolders(part, shell.place);
        await onFile(to, "write", rename(part, to));
      } catch (error) {
        // What went wrong first is what is told.
        await rm(part, { recursive: true, force: true }).catch(() => undefined);
        throw error;
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
  silent: null,
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
  // Where the shell there can tell it.
  printed: whole.optional(),
  asked: z.enum(["stop", "cancel"]).optional(),
  state: z.string().regex(/^(none|alive|gone|exit \d+ \d+|elsewhere -?\d+)$/),
  stdout: extentSchema,
  stderr: extentSchema,
});

/** @throws InputError for an answer that the script did not give, or output that is shorter than what was read of it */
function settled(
  answer: Uint8Array,
  read: (line: string) => Queued,
  offsets: Offsets,
  place: string,
): RunStatus {
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
  const { begun: began = null, printed, now, asked = null, latest } = head;
  const queued = read(queue);
  const end = word === "exit" ? Number(time) : now;
  return {
    state: stateOf(word, Number(value), queued.state),
    code: word === "exit" ? Number(value) : null,
    reason: queued.reason,
    expected: queued.expected,
    asked,
    began,
    seconds: began === null ? null : Math.max(0, end - began),
    silent: printed === undefined ? null : Math.max(0, end - printed),
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
    throw new InputError(`${place}: the shell there gave no answer from the run's script`);
  const head = checked.data;
  const split = end + 2 + head.stdout.part;
  if (answer.length < split + head.stderr.part)
    throw new InputError(`${place}: the answer from the run's script was cut short`);
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
