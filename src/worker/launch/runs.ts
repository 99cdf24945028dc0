/** Runs that were launched from this machine, and the steps of a launch: written down before anything is sent. */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { mkdir, open, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { isSystemError, isThere, onFile, onFileSync } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { fillFile, makeFolder, syncFolder, temporaryName, writeWholeSync } from "../../node/whole-file.ts";
import type { Target } from "../../protocol/target.ts";
import { missingThere } from "./check.ts";
import { COMMAND_FILE, runScript } from "./folder-launcher.ts";
import type { Attempt, Carried, Offsets, RunStatus } from "./launcher.ts";
import { movedConfig } from "./move.ts";
import { ID, type RunRecord, recordSchema, runSchema, titleSchema } from "./run-record.ts";
import { describeState } from "./run-words.ts";
import { collect, MARK, quoted, script, Unreachable } from "./shell.ts";
import { launcherOf, shellOf, surroundings } from "./target.ts";

const configSchema = z.record(z.string(), z.unknown());

/** What a launch needs to know. */
export interface Launch {
  target: { name: string; is: Target };
  /** As the target reads it. */
  config: object;
  carried: readonly Carried[];
  /** As it was written, where that is to be kept here in its place. */
  given?: object;
  /** Of `gcopd train`, after its config and folder. */
  args?: readonly string[];
  /** Its name, for people. */
  title?: string | undefined;
}

/** Name of the folder of launched runs in a data folder. */
export const LAUNCHED = "launched";

const RECORD = "run.json";
const CONFIG = "config.json";
const PAYLOAD = "payload.tar";
const FETCHED = "fetched";
/** As it is named before and after it is what was fetched last; one that is still coming has more behind it. */
const WHOLE_FETCHED = /^\.fetched\.[0-9a-f]{12}\.part$/;
/** What goes from one target to another, meanwhile. */
const MOVING = "moving";

/** What `gcopd train` writes that is worth bringing home, besides its checkpoints. */
const RESULTS = [
  ...["config.json", "events.jsonl", "metrics.jsonl", "batch.jsonl", "student", "tokenizer"],
  // What its engines said: a message may name it.
  "engines",
];

export function attemptOf({ run, attempt }: RunRecord): Attempt {
  return { id: run.id, folder: run.folder, number: attempt };
}

/** Where a run of this id lies on a target. */
export function runFolder({ scratch }: Target, id: string): string {
  return `${scratch}/gcopd-runs/${id}`;
}

/** What a run does with its config. */
const WHAT = ["--out", "out", "--progress", "json"] as const;

/**
 * What runs on a target, and what must come before it in a shell.
 *
 * @param args after the config and the folder
 * @param what it does with the config
 */
export function trainCommand(
  target: Target,
  args: readonly string[] = [],
  what: readonly string[] = WHAT,
): { before: string; command: string } {
  const { before, inside, gcopd } = surroundings(target);
  const words = ["train", "--config", CONFIG, ...what, ...args];
  return { before, command: `${inside}${gcopd} ${words.map(plainOrQuoted).join(" ")}` };
}

/** Packs files and what is carried into an archive, which has its name once it is whole. */
export async function packed(
  tar: string,
  files: Readonly<Record<string, string>>,
  carried: readonly Carried[],
): Promise<void> {
  const [parts, part] = [`${tar}.files`, `${tar}.part`];
  const onTar = <T>(work: Promise<T>): Promise<T> => onFile(tar, "write", work);
  const clear = () => onTar(rm(parts, { recursive: true, force: true }));
  // A packing that was killed may have left some.
  await clear();
  try {
    await onTar(mkdir(join(parts, "in"), { recursive: true }));
    // Not by the helper for whole files: only this call reads them, and a write that fails ends it.
    for (const [name, text] of Object.entries(files)) await onTar(writeFile(join(parts, name), text));
    for (const { from, to } of carried) await onTar(symlink(from, join(parts, to)));
    const { code, err } = await collect("tar", ["-chf", part, "-C", parts, "."]);
    if (code !== 0) throw new InputError(`could not pack the files of the run: ${err}`, { file: tar });
    await clear();
    // It gets its name once it is on the disk: after a power cut, half an archive could be sent.
    await fillFile(await onTar(open(part, "a")), [], tar);
    onFileSync(tar, "write", () => renameSync(part, tar));
  } catch (error) {
    // What went wrong first is what is told.
    for (const path of [parts, part]) await rm(path, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(tar));
}

/** A command with more options; the last of a kind counts. */
const extended = (command: string, args: readonly string[]): string =>
  [command, ...args.map(plainOrQuoted)].join(" ");

/** What a run's folder says of its command. */
function commandFiles(run: RunRecord["run"], target: Target): Record<string, string> {
  const { id, folder, command, version } = run;
  return {
    [RECORD]: `${JSON.stringify(run, null, 2)}\n`,
    [COMMAND_FILE]: `#!/bin/sh
# Run ${id} of gcopd ${version}. It can be started by hand, too: sh ${folder}/${COMMAND_FILE}
cd ${quoted(folder)} || exit 72
${trainCommand(target).before}exec ${command}
`,
  };
}

/** Writes the command of the next attempt over that of the attempts before, each file whole. */
async function rewrite({ run, target }: RunRecord): Promise<void> {
  const shell = shellOf(target.is);
  for (const [name, text] of Object.entries(commandFiles(run, target.is))) {
    const write = `cat > "$1.part" && mv "$1.part" "$1"`;
    const args = ["sh", "-c", write, "sh", `${run.folder}/${name}`];
    const { code, err } = await shell.exec(args, { input: { text } });
    if (code !== 0) throw new InputError(`${shell.place}: could not write the command: ${err}`);
  }
}

const plainOrQuoted = (text: string): string => (/^[\w./:=,@+-]+$/.test(text) ? text : quoted(text));

/** The runs that are written down in one folder of this machine: those of `gcopd launch`, and of a worker's page. */
export class LaunchedRuns {
  /** @param folder with a folder for each run, made with the first of them */
  constructor(readonly folder: string) {}

  /** A path in what this machine keeps of a run. */
  at(id: string, ...path: string[]): string {
    return join(this.folder, id, ...path);
  }

  /** Ids of the runs that were launched from here or imported, oldest first. */
  ids(): string[] {
    if (!isThere(this.folder)) return [];
    return onFileSync(this.folder, "read", () => readdirSync(this.folder))
      .filter((id) => this.has(id))
      .sort();
  }

  /** @throws InputError for a run that is not known here, or a record that is damaged */
  read(id: string): RunRecord {
    if (!this.has(id))
      throw new InputError(
        `no run ${JSON.stringify(id)} was launched from here: \`gcopd launch list\` shows those that were`,
      );
    return readJson(recordSchema, this.at(id, RECORD));
  }

  has(id: string): boolean {
    return ID.test(id) && isThere(this.at(id, RECORD));
  }

  /** The config as it was given, else as the target reads it; null for a run of an earlier version, which kept none here. */
  config(id: string): Record<string, unknown> | null {
    const file = this.at(id, CONFIG);
    return isThere(file) ? readJson(configSchema, file) : null;
  }

  #write(record: RunRecord): RunRecord {
    writeWholeSync(this.at(record.run.id, RECORD), `${JSON.stringify(record, null, 2)}\n`);
    return record;
  }

  /** The record with the run's present name: it may have been renamed while the target was asked. */
  #named(record: RunRecord, now = this.read(record.run.id)): RunRecord {
    return { ...record, run: { ...record.run, title: now.run.title } };
  }

  /** Writes a run down for the first time, with its config, or leaves nothing of it. @param config null where it has none */
  async #writeNew(record: RunRecord, config: string | null): Promise<RunRecord> {
    const { id } = record.run;
    try {
      await makeFolder(this.at(id), 0o700);
      if (config !== null) writeWholeSync(this.at(id, CONFIG), config);
      return this.#write(record);
    } catch (error) {
      this.#giveUp(id);
      throw error;
    }
  }

  /** Takes away what was written of a run that was not sent, after a fault, which is the one to tell. */
  #giveUp(id: string): void {
    try {
      rmSync(this.at(id), { recursive: true, force: true });
    } catch {
      // It stays as one that was not submitted.
    }
  }

  /**
   * Writes down what a target said or did. A fault here undoes none of it, and looks like no failure of the run: who took
   * it for one would launch the run twice. The target tells it again.
   */
  #note(record: RunRecord): RunRecord {
    try {
      const now = this.read(record.run.id);
      // It went on while the target was asked, which says nothing of that.
      if (now.target.name !== record.target.name || now.attempt > record.attempt) return record;
      const { problem, ...of } = this.#named(record, now);
      this.#write(record.submitted_at === null && problem !== undefined ? { ...of, problem } : of);
      // The target has what was sent.
      if (record.submitted_at !== null) rmSync(this.#payload(record), { force: true });
    } catch (error) {
      if (!(error instanceof InputError || isSystemError(error))) throw error;
    }
    return record;
  }

  /**
   * Launches `gcopd train` on a target. The run is known here, with all that it needs, before the target hears of it:
   * after a kill at any point `resume` goes on, and the run begins once.
   */
  async launch(launch: Launch): Promise<RunRecord> {
    const record = await this.intend(launch);
    try {
      await this.pack(record, launch);
    } catch (error) {
      this.#giveUp(record.run.id);
      throw error;
    }
    return this.submit(record);
  }

  /** Writes a run down: the first step of a launch. Its files are still to be packed, and sent. */
  async intend({ target, config, given = config, args, title }: Omit<Launch, "carried">): Promise<RunRecord> {
    const created = new Date().toISOString();
    const id = `${created.slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")}-${randomBytes(3).toString("hex")}`;
    const text = configText(config);
    const run = {
      format: "gcopd.run.v1" as const,
      id,
      created_at: created,
      version: PACKAGE.version,
      folder: runFolder(target.is, id),
      command: trainCommand(target.is, args).command,
      config_sha256: sha256Hex(text),
      ...(title === undefined ? {} : { title: checkedBy(titleSchema, title, { key: "title" }) }),
    };
    const record = { run, target, attempt: 1, rewrite: false, submitted_at: null, last: null };
    return this.#writeNew(record, configText(given));
  }

  /** Packs what a run sends to its target into one archive, which has its name once it is whole. */
  async pack(
    { run, target, attempt }: RunRecord,
    { carried, config }: Pick<Launch, "carried" | "config">,
  ): Promise<void> {
    const files = { ...commandFiles(run, target.is), [CONFIG]: configText(config), "run.sh": runScript };
    await packed(this.#payload({ run, attempt }), files, carried);
  }

  /** What is still to be sent. That of a move is the next attempt's: it counts from when the record names the other target. */
  #payload({ run, attempt }: Pick<RunRecord, "run" | "attempt">): string {
    return this.at(run.id, attempt === 1 ? PAYLOAD : `payload-${attempt}.tar`);
  }

  /** Sends what was written down. Twice is as good as once. */
  async submit(record: RunRecord): Promise<RunRecord> {
    const launcher = launcherOf(record.target.is);
    const payload = this.#payload(record);
    if (isThere(payload)) await launcher.put(attemptOf(record), payload);
    else {
      const [gone] = await missingThere(record.target.is, [`${record.run.folder}/${RECORD}`]);
      if (gone !== undefined)
        throw new InputError(
          `run ${record.run.id} cannot be submitted: its files are neither here nor on ${record.target.name}; launch its config again`,
        );
    }
    if (record.rewrite) await rewrite(record);
    await launcher.submit(attemptOf(record));
    return this.#note({ ...record, rewrite: false, submitted_at: new Date().toISOString() });
  }

  /** Whether a fault or a kill came before the files of a launch were packed: it cannot be submitted until they are. */
  isUnpacked(record: RunRecord): boolean {
    return record.attempt === 1 && record.submitted_at === null && !isThere(this.#payload(record));
  }

  /** Writes down why a run was not submitted: who looks at it later asks for the reason, of another worker, too. */
  noteProblem(record: RunRecord, problem: string): void {
    if (record.submitted_at === null) this.#note({ ...record, problem });
  }

  /** Gives a run another name, on this machine alone. @throws InputError for one that is empty or too long */
  rename(id: string, title: string): RunRecord {
    const { run, ...rest } = this.read(id);
    return this.#write({ ...rest, run: { ...run, title: checkedBy(titleSchema, title, { key: "title" }) } });
  }

  /** Takes the record of a run away from this machine. Its folder on the target, where it has one, stays. */
  forget(id: string): void {
    const folder = this.at(id);
    onFileSync(folder, "write", () => renameSync(folder, temporaryName(folder)));
    try {
      for (const name of readdirSync(this.folder).filter((each) => each.startsWith(".")))
        rmSync(this.at(name), { recursive: true, force: true });
    } catch {
      // No run is known by it: the next one that is forgotten takes it along.
    }
  }

  /**
   * What the target says of a run's newest attempt, which may be one that another machine began.
   *
   * @returns the record, with it written down, and the status
   */
  async look(
    record: RunRecord,
    offsets: Offsets = { out: "tail", err: "tail" },
  ): Promise<{ record: RunRecord; status: RunStatus }> {
    const launcher = launcherOf(record.target.is);
    const status = await launcher.status(attemptOf(record), offsets);
    if (status.state === "unreachable") return { record, status };
    if (status.latest > record.attempt) return this.look({ ...record, attempt: status.latest });
    const { state, code, asked, began, seconds } = status;
    const now = new Date().toISOString();
    const last = { state, code, at: now, asked, began, seconds };
    const submitted = record.submitted_at ?? (state === "never" ? null : now);
    return { record: this.#note({ ...record, submitted_at: submitted, last }), status };
  }

  /** Asks a run to end after its step, or now. @throws InputError for one that has ended */
  async ask(id: string, what: "stop" | "cancel"): Promise<RunRecord> {
    const { record, status } = await this.look(this.read(id));
    if (status.state === "ended")
      throw new InputError(`run ${id} has already ended: ${describeState(record, status)}`);
    await launcherOf(record.target.is)[what](attemptOf(record));
    return record;
  }

  /**
   * Submits what was never begun, or goes on with what ended, from its last checkpoint.
   *
   * @param target where it goes on; where it is when absent
   * @param args more options of `gcopd train`, after those that it has
   * @throws InputError for a run that is under way or done; `Unreachable` when nothing is known
   */
  async resume(
    id: string,
    { target, args = [] }: { target?: RunRecord["target"] | undefined; args?: readonly string[] } = {},
  ): Promise<RunRecord> {
    const { record, status } = await this.look(this.read(id));
    const { state, code, asked } = status;
    const place = record.target.name;
    const moves = target !== undefined && target.name !== place;
    if (state === "unreachable" && moves)
      throw new Unreachable(
        `run ${id} may still be running on ${place}, which did not answer (${status.reason ?? "no reason"}): resume it elsewhere once ${place} answers`,
      );
    if (state === "unreachable") throw new Unreachable(status.reason ?? "the target did not answer");
    if (state === "running" || state === "queued")
      throw new InputError(
        moves
          ? `run ${id} is ${state} on ${place}: stop it first (gcopd launch stop ${id}), then resume it once it has ended`
          : `run ${id} is ${state}: there is nothing to resume`,
      );
    if (state === "ended" && code === 0)
      throw new InputError(`run ${id} is done: there is nothing to resume`);
    const begun = state !== "never" || asked !== null;
    const next = {
      ...{ attempt: record.attempt + (begun ? 1 : 0), submitted_at: null, last: null },
      rewrite: record.rewrite || args.length > 0,
    };
    const run = { ...record.run, command: extended(record.run.command, args) };
    if (moves && record.submitted_at === null && isThere(this.#payload(record)))
      throw new InputError(
        `run ${id} was not fully sent to ${place}: resume it there first, or launch its config again on ${target.name}`,
      );
    if (moves) return this.#move({ ...record, run }, target);
    if (!begun && args.length === 0) return this.submit(record);
    // What was packed for a move that failed is none of this attempt's.
    if (begun) await this.#clear(id, basename(this.#payload({ run, ...next })));
    return this.submit(this.#write(this.#named({ ...record, ...next, run })));
  }

  /**
   * Brings a run's folder over this machine to another target, where its next attempt begins. Until the record names the
   * other target nothing is sent there, and from then on nothing is asked of the first: a kill in between leaves the run
   * at one of the two.
   */
  async #move(record: RunRecord, target: RunRecord["target"]): Promise<RunRecord> {
    const { run, attempt } = record;
    const here = this.at(run.id, MOVING);
    await this.#clear(run.id, MOVING);
    const attempts = Array.from({ length: attempt }, (_, n) => `attempt-${n + 1}`);
    try {
      await launcherOf(record.target.is).fetch(attemptOf(record), [CONFIG, "in", "out", ...attempts], here);
      const { config, carried } = await movedConfig(here, record.target.is, target);
      const text = configText(config);
      const options = run.command.split(` ${WHAT.join(" ")}`)[1] ?? "";
      const moved: RunRecord = {
        run: {
          ...run,
          // A target that it was on before has a folder of it already.
          folder: runFolder(target.is, `${run.id}-${attempt + 1}`),
          command: trainCommand(target.is).command + options,
          config_sha256: sha256Hex(text),
        },
        ...{ target, attempt: attempt + 1, rewrite: false, submitted_at: null, last: null },
      };
      const brought = ["out", ...attempts].filter((name) => isThere(join(here, name)));
      await this.pack(moved, {
        config,
        carried: [...carried, ...brought.map((name) => ({ from: join(here, name), to: name }))],
      });
      return await this.submit(this.#write(this.#named(moved)));
    } finally {
      // What is left is cleared before the next move.
      await this.#clear(run.id, MOVING).catch(() => undefined);
    }
  }

  /** Takes away what of this name, or of one that begins with it, is kept here of a run. */
  async #clear(id: string, name: string): Promise<void> {
    const left = (await onFile(this.at(id), "read", readdir(this.at(id)))).filter((each) =>
      each.startsWith(name),
    );
    for (const each of left)
      await onFile(this.at(id, each), "write", rm(this.at(id, each), { recursive: true, force: true }));
  }

  /**
   * Copies a run's results, and the output of its attempts, into a new folder of this machine.
   *
   * @returns what the run did then: the files of one that goes on are those until now
   */
  async fetch(id: string, to: string, { checkpoints = false } = {}): Promise<RunStatus> {
    const { record, status } = await this.look(this.read(id));
    const attempts = Array.from({ length: record.attempt }, (_, n) => `attempt-${n + 1}`);
    const results = [...RESULTS, ...(checkpoints ? ["checkpoints"] : [])].map((name) => `out/${name}`);
    const paths = ["run.json", COMMAND_FILE, ...results, ...attempts];
    await launcherOf(record.target.is).fetch(attemptOf(record), paths, to);
    return status;
  }

  /** What was fetched of a run to be kept here; there may be nothing. */
  fetched(id: string): string {
    return this.at(id, FETCHED);
  }

  /** Fetches a run's results into the folder of this machine's record, in the place of what was fetched before. */
  async fetchHere(id: string, options: { checkpoints?: boolean } = {}): Promise<void> {
    const to = this.fetched(id);
    const move = (from: string, into: string) => onFileSync(to, "write", () => renameSync(from, into));
    /** What has the whole of a temporary name is whole: a kill between the two renames left nothing under their own. */
    const tidy = async () => {
      if (!isThere(to)) {
        const names = await onFile(this.at(id), "read", readdir(this.at(id)));
        const left = names.find((name) => WHOLE_FETCHED.test(name));
        if (left !== undefined) move(this.at(id, left), to);
      }
      await this.#clear(id, `.${FETCHED}.`);
    };
    await tidy();
    try {
      const fresh = temporaryName(to);
      await this.fetch(id, fresh, options);
      if (isThere(to)) move(to, temporaryName(to));
      move(fresh, to);
    } finally {
      // What is left is cleared before the next fetch.
      await tidy().catch(() => undefined);
    }
  }

  /**
   * Takes a run over from its folder on a target.
   *
   * @throws InputError when there is none, or it is known here
   */
  async import(folder: string, target: { name: string; is: Target }): Promise<RunRecord> {
    const shell = shellOf(target.is);
    const path = folder.replace(/\/+$/, "");
    const file = `${path}/${RECORD}`;
    const cat = `echo ${MARK} && cat "$1/${RECORD}" && echo ${MARK} && { [ ! -e "$1/${CONFIG}" ] || cat "$1/${CONFIG}"; }`;
    const { code, out, err } = await script(shell, cat, path);
    const [, text = "", config] = Buffer.from(out).toString().split(`${MARK}\n`);
    // Without its config it could not go on elsewhere.
    if (code !== 0 && config !== undefined)
      throw new InputError(`${shell.place}: ${path}/${CONFIG} was not read: ${err}`);
    if (config === undefined)
      throw new InputError(`${shell.place}: there is no run in ${folder}: expected ${file}`);
    const there = { file: `${shell.place}:${file}` };
    const run = checkedBy(runSchema, parseJsonText(text, there), there);
    // Its owner wrote it: it names no other folder, which `stop` or `fetch` would then reach.
    if (`${run.folder}/${RECORD}` !== file)
      throw new InputError(`expected the folder that is imported, got ${JSON.stringify(run.folder)}`, {
        ...there,
        key: "folder",
      });
    if (isThere(this.at(run.id, RECORD))) throw new InputError(`run ${run.id} is already known here`);
    if (config !== "") checkedBy(configSchema, parseJsonText(config, { file: CONFIG }), { file: CONFIG });
    const record = { run, target, attempt: 1, rewrite: false, submitted_at: run.created_at, last: null };
    return (await this.look(await this.#writeNew(record, config === "" ? null : config))).record;
  }
}

export const configText = (config: object): string => `${JSON.stringify(config, null, 2)}\n`;

function readJson<T>(schema: z.ZodType<T>, file: string): T {
  const text = onFileSync(file, "read", () => readFileSync(file, "utf8"));
  return checkedBy(schema, parseJsonText(text, { file }), { file });
}
