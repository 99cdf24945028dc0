/** Runs that were launched from this machine, and the steps of a launch: written down before anything is sent. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import { onFileSync } from "../../node/file-error.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { makeFolder, syncFolderSync, writeWholeSync } from "../../node/whole-file.ts";
import { defaultDataDir } from "../index.ts";
import { PACKAGE } from "../package-root.ts";
import { missingThere } from "./check.ts";
import { COMMAND_FILE, MARK, runScript } from "./folder-launcher.ts";
import { type Attempt, RUN_STATES, type RunStatus } from "./launcher.ts";
import { quoted, script, Unreachable } from "./shell.ts";
import { launcherOf, shellOf, surroundings, type Target, targetSchema, there } from "./target.ts";

const ID = /^[\w][\w.-]*$/;

/** What a run's own folder says of it, for whoever imports it. */
const runSchema = z.object({
  format: z.literal("gcopd.run.v1"),
  id: z.string().regex(ID),
  created_at: z.iso.datetime(),
  /** Version of the package that launched it. */
  version: z.string(),
  /** On the target. */
  folder: there,
  command: z.string(),
  config_sha256: z.string(),
});

const recordSchema = z.object({
  run: runSchema,
  /** Its name, and what it said then: a target that is changed later does not lose its runs. */
  target: z.object({ name: z.string(), is: targetSchema }),
  attempt: z.int().min(1),
  /** Null until the target has taken the attempt. */
  submitted_at: z.iso.datetime().nullable(),
  /** What the target said last. */
  last: z.object({ state: z.enum(RUN_STATES), code: z.int().nullable(), at: z.iso.datetime() }).nullable(),
});

export type RunRecord = z.infer<typeof recordSchema>;

/** A file or folder of this machine, and its path in the run's folder. */
export interface Carried {
  from: string;
  to: string;
}

export function runsFolder(): string {
  return join(defaultDataDir(), "launched");
}

const at = (id: string, ...path: string[]) => join(runsFolder(), id, ...path);
const RECORD = "run.json";
const PAYLOAD = "payload.tar";

export function attemptOf({ run, attempt }: RunRecord): Attempt {
  return { id: run.id, folder: run.folder, number: attempt };
}

function write(record: RunRecord): RunRecord {
  writeWholeSync(at(record.run.id, RECORD), `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

/** @throws InputError for a run that is not known here, or a record that is damaged */
export function readRun(id: string): RunRecord {
  const file = at(id, RECORD);
  if (!ID.test(id) || !existsSync(file))
    throw new InputError(
      `no run ${JSON.stringify(id)} was launched from here: \`gcopd launch list\` has those that were`,
    );
  return parsed(
    recordSchema,
    onFileSync(file, "read", () => readFileSync(file, "utf8")),
    file,
  );
}

function parsed<T>(schema: z.ZodType<T>, text: string, file: string): T {
  const value = parseJsonText(text, { file });
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const { key, message } = describeIssue(checked.error.issues[0]!, value);
  throw new InputError(message, { file, key });
}

/** Ids of the runs that were launched from here or imported, oldest first. */
export function runIds(): string[] {
  const folder = runsFolder();
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((id) => existsSync(at(id, RECORD)))
    .sort();
}

/**
 * Launches `gcopd train` on a target. The run is known here, with all that it needs, before the target hears of it: after
 * a kill at any point `resumeRun` goes on, and the run begins once.
 *
 * @param args of `gcopd train`, after its config and folder
 */
export async function launchRun(given: {
  target: { name: string; is: Target };
  config: object;
  carried: readonly Carried[];
  args: readonly string[];
}): Promise<RunRecord> {
  const { target, carried, args } = given;
  const created = new Date().toISOString();
  const id = `${created.slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")}-${randomBytes(3).toString("hex")}`;
  const folder = `${target.is.scratch}/gcopd-runs/${id}`;
  const config = `${JSON.stringify(given.config, null, 2)}\n`;
  const { before, inside, gcopd } = surroundings(target.is);
  const words = ["train", "--config", "config.json", "--out", "out", "--progress", "json", ...args];
  const command = `${inside}${gcopd} ${words.map(plainOrQuoted).join(" ")}`;
  const run = {
    format: "gcopd.run.v1" as const,
    id,
    created_at: created,
    version: PACKAGE.version,
    folder,
    command,
    config_sha256: sha256Hex(config),
  };
  await makeFolder(at(id), 0o700);
  // Before the files: what a kill leaves of them is listed, too.
  const record = write({ run, target, attempt: 1, submitted_at: null, last: null });
  try {
    pack(at(id, PAYLOAD), carried, {
      "run.json": `${JSON.stringify(run, null, 2)}\n`,
      "config.json": config,
      "run.sh": runScript,
      [COMMAND_FILE]: `#!/bin/sh
# Run ${id} of gcopd ${PACKAGE.version}. It can be started by hand, too: sh ${folder}/${COMMAND_FILE}
cd ${quoted(folder)} || exit 72
${before}exec ${command}
`,
    });
  } catch (error) {
    rmSync(at(id), { recursive: true });
    throw error;
  }
  return submit(record);
}

/** Puts files, and links to what is carried, into an archive, which has its name once it is whole. */
function pack(tar: string, carried: readonly Carried[], files: Record<string, string>): void {
  const folder = `${tar}.files`;
  const part = `${tar}.part`;
  mkdirSync(join(folder, "in"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  for (const { from, to } of carried) symlinkSync(from, join(folder, to));
  const { status, stderr, error } = spawnSync("tar", ["-chf", part, "-C", folder, "."], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  if (status !== 0)
    throw new InputError(`the files of the run were not packed: ${error?.message ?? stderr.trim()}`, {
      file: tar,
    });
  renameSync(part, tar);
  syncFolderSync(join(tar, ".."));
}

const plainOrQuoted = (text: string): string => (/^[\w./:=,@+-]+$/.test(text) ? text : quoted(text));

/** Sends what was written down. Twice is as good as once. */
async function submit(record: RunRecord): Promise<RunRecord> {
  const launcher = launcherOf(record.target.is);
  const payload = at(record.run.id, PAYLOAD);
  if (existsSync(payload)) await launcher.put(attemptOf(record), payload);
  else {
    const [gone] = await missingThere(record.target.is, [`${record.run.folder}/${RECORD}`]);
    if (gone !== undefined)
      throw new InputError(
        `run ${record.run.id} cannot be submitted: its files are neither here nor on ${record.target.name}; launch its config again`,
      );
  }
  await launcher.submit(attemptOf(record));
  const submitted = write({ ...record, submitted_at: new Date().toISOString() });
  rmSync(payload, { force: true });
  return submitted;
}

/**
 * What the target says of a run's newest attempt, which may be one that another machine began.
 *
 * @returns the record, with it written down, and the status
 */
export async function lookAtRun(
  record: RunRecord,
  offsets: { out: number | "tail"; err: number | "tail" } = { out: "tail", err: "tail" },
): Promise<{ record: RunRecord; status: RunStatus }> {
  const launcher = launcherOf(record.target.is);
  const status = await launcher.status(attemptOf(record), offsets);
  if (status.state === "unreachable") return { record, status };
  if (status.latest > record.attempt)
    return lookAtRun({ ...record, attempt: status.latest }, { out: "tail", err: "tail" });
  const { state, code } = status;
  return { record: write({ ...record, last: { state, code, at: new Date().toISOString() } }), status };
}

/**
 * Submits what was never begun, or goes on with what ended, from its last checkpoint.
 *
 * @throws InputError for a run that is under way or done; `Unreachable` when nothing is known
 */
export async function resumeRun(id: string): Promise<RunRecord> {
  const { record, status } = await lookAtRun(readRun(id));
  const { state, code, asked } = status;
  if (state === "unreachable") throw new Unreachable(status.reason ?? "the target did not answer");
  if (state === "running" || state === "queued")
    throw new InputError(`run ${id} is ${state}: there is nothing to resume`);
  if (state === "ended" && code === 0) throw new InputError(`run ${id} is done: there is nothing to resume`);
  if (state === "never" && asked === null) return submit(record);
  return submit(write({ ...record, attempt: record.attempt + 1, submitted_at: null, last: null }));
}

/**
 * Takes a run over from its folder on a target.
 *
 * @throws InputError when there is none, or it is known here
 */
export async function importRun(folder: string, target: { name: string; is: Target }): Promise<RunRecord> {
  const shell = shellOf(target.is);
  const file = `${folder.replace(/\/+$/, "")}/run.json`;
  const { code, out } = await script(shell, `echo ${MARK} && cat "$1"`, file);
  const [, text = ""] = Buffer.from(out).toString().split(`${MARK}\n`);
  if (code !== 0) throw new InputError(`${shell.place}: there is no run in ${folder}: expected ${file}`);
  const run = parsed(runSchema, text, `${shell.place}:${file}`);
  // Its owner wrote it: it names no other folder, which `stop` or `fetch` would then reach.
  if (`${run.folder}/${RECORD}` !== file)
    throw new InputError(`expected the folder that is imported, got ${JSON.stringify(run.folder)}`, {
      file: `${shell.place}:${file}`,
      key: "folder",
    });
  if (existsSync(at(run.id, RECORD))) throw new InputError(`run ${run.id} is known here already`);
  await makeFolder(at(run.id), 0o700);
  const record = { run, target, attempt: 1, submitted_at: run.created_at, last: null };
  return (await lookAtRun(write(record))).record;
}
