/**
 * Launched runs as the API tells them: what is known here is answered at once. Targets are asked beside it, a run at most
 * every few seconds and only while somebody wants to know; what the runs print is kept here, so that it can be read again.
 */
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../../core/errors.ts";
import { isThere, onFile, passingFault } from "../../node/file-error.ts";
import { fillFile, makeFolder, writeWholeSync } from "../../node/whole-file.ts";
import type { Doing } from "../../protocol/launched-run.ts";
import { ApiError } from "../http/errors.ts";
import { LOG_FILE, OUTPUT_FILE } from "../job/launcher.ts";
import { readLines, toEvent } from "../job/output.ts";
import { tell } from "../tell.ts";
import type { Piece, RunState } from "./launcher.ts";
import type { RunRecord } from "./run-record.ts";
import { cost, inWords, type Said } from "./run-words.ts";
import type { LaunchedRuns } from "./runs.ts";
import { launcherOf } from "./target.ts";

/** How the page calls what lets a run go on. */
const RESUME = "Resume";

/** Milliseconds after which a run is asked about again. */
const EVERY_MS = 5000;

/** Beside an attempt's output: nothing is added to it any more. */
const WHOLE = "whole";

interface Known {
  doing: { what: Doing; since: string } | null;
  /** Why the last thing that was done with it failed. */
  problem: string | null;
  /** What its target said when it was last reached; null before that. */
  said: Said | null;
  /** Why its target was not reached when it was last asked. */
  unreached: string | null;
  asking: boolean;
  /** By `performance.now`; null where it was never asked. */
  askedAt: number | null;
}

/** A run as it is told. */
export interface ToldRun {
  record: RunRecord;
  config: Record<string, unknown> | null;
  /** As it was last heard; null where nothing was. */
  state: Exclude<RunState, "unreachable"> | null;
  words: string;
  said: Said | null;
  unreached: string | null;
  doing: Known["doing"];
  problem: string | null;
  cost: ReturnType<typeof cost>;
  /** When its results were fetched; null where they were not. */
  fetchedAt: string | null;
}

export class FollowedRuns {
  readonly #known = new Map<string, Known>();
  /** What is under way, to be waited for at the end. */
  readonly #underway = new Set<Promise<void>>();
  /** One question at a time for each target: one that does not answer keeps no other from being asked. */
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #everyMs: number;

  constructor(
    readonly runs: LaunchedRuns,
    { everyMs = EVERY_MS }: { everyMs?: number | undefined } = {},
  ) {
    this.#everyMs = everyMs;
  }

  /** Every run, and asks about those that go on. */
  list(): ToldRun[] {
    return this.runs.ids().map((id) => {
      const told = this.get(id);
      const { submitted_at: submitted, last } = told.record;
      const goesOn = last === null || last.state === "queued" || last.state === "running";
      if (submitted !== null && goesOn) this.#ask(told.record);
      return told;
    });
  }

  /** @throws ApiError 404 */
  get(id: string): ToldRun {
    if (!this.runs.has(id)) throw new ApiError(404, `there is no launched run ${JSON.stringify(id)}`);
    return this.#told(this.runs.read(id), {
      config: this.runs.config(id),
      fetchedAt: statSync(this.runs.fetched(id), { throwIfNoEntry: false })?.mtime.toISOString() ?? null,
    });
  }

  #told(record: RunRecord, kept: Pick<ToldRun, "config" | "fetchedAt">): ToldRun {
    const { said, unreached, doing, problem } = this.#of(record.run.id);
    const { last } = record;
    const heard = { state: last?.state ?? "never", code: last?.code ?? null, asked: last?.asked ?? null };
    return {
      record,
      ...kept,
      state: last === null || last.state === "unreachable" ? null : last.state,
      words: last === null && record.submitted_at !== null ? "submitted" : inWords(record, heard, RESUME),
      ...{ said, unreached, doing },
      problem: problem ?? (doing === null ? record.problem : null) ?? null,
      cost: cost(record, { seconds: last?.seconds ?? null }),
    };
  }

  /**
   * Launches a run that was written down just now. Nothing of it is read again: after a fault there it would be listed
   * without a word of why it was not submitted.
   */
  launch(
    record: RunRecord,
    config: Record<string, unknown>,
    work: (record: RunRecord) => Promise<unknown>,
  ): ToldRun {
    return this.#begin(this.#told(record, { config, fetchedAt: null }), "launch", work);
  }

  /** Does something with a run that takes a while; what came of it is told with the run. @throws ApiError 404, 409 */
  act(id: string, what: Exclude<Doing, "launch">, work: (record: RunRecord) => Promise<unknown>): ToldRun {
    return this.#begin(this.get(id), what, work);
  }

  #begin(told: ToldRun, what: Doing, work: (record: RunRecord) => Promise<unknown>): ToldRun {
    const { id } = told.record.run;
    const known = this.#of(id);
    if (known.doing !== null) throw new ApiError(409, `run ${id}: another ${known.doing.what} is under way`);
    Object.assign(known, { doing: { what, since: new Date().toISOString() }, problem: null });
    const settle = async (): Promise<void> => {
      try {
        await work(told.record);
      } catch (error) {
        known.problem = problemText(error);
      }
      Object.assign(known, { doing: null, askedAt: null });
      try {
        const after = this.runs.read(id);
        if (known.problem !== null && (what === "launch" || what === "resume"))
          this.runs.noteProblem(after, known.problem);
        // What went well may not have been written down: the target knows.
        if (known.problem === null || after.submitted_at !== null) this.#ask(after);
      } catch {
        // It is asked when somebody looks at the list.
      }
    };
    this.#watch(settle());
    // Not looked up again: a fault would tell that nothing began.
    return { ...told, doing: known.doing, problem: known.problem };
  }

  /** Takes a run's record away. @throws ApiError 404, 409 while something is done with it */
  forget(id: string): void {
    const { doing } = this.get(id);
    if (doing !== null || this.#of(id).asking)
      throw new ApiError(409, `run ${id}: it is being worked on: try again in a moment`);
    this.runs.forget(id);
    this.#known.delete(id);
  }

  /**
   * What an attempt printed, from an offset on: whole lines of what is here.
   *
   * @returns `over` when the attempt will print nothing more and all of it was given
   */
  printed(id: string, attempt: number, from: number) {
    const { record } = this.get(id);
    const isWhole = isThere(this.#output(id, attempt, WHOLE));
    if (!isWhole && record.submitted_at !== null) this.#ask(record);
    const { lines, offset, more } = readLines(this.#output(id, attempt, OUTPUT_FILE), from, {
      final: isWhole,
      chunk: 1 << 18,
    });
    const events = lines
      .map(toEvent)
      .filter((event) => event !== null)
      .map(({ type, data }) => ({ type, data }));
    return { events, next: offset, more, over: isWhole && !more };
  }

  /** Path of the log of an attempt, as far as it is here. */
  log(id: string, attempt: number): string {
    return this.#output(id, attempt, LOG_FILE);
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway);
  }

  #of(id: string): Known {
    const known = this.#known.get(id) ?? {
      ...{ doing: null, problem: null, said: null, unreached: null, asking: false, askedAt: null },
    };
    this.#known.set(id, known);
    return known;
  }

  #output(id: string, attempt: number, name: string): string {
    return this.runs.at(id, `attempt-${attempt}`, name);
  }

  #watch(work: Promise<void>): void {
    this.#underway.add(work);
    void work.finally(() => this.#underway.delete(work));
  }

  /** Asks a run's target, unless it was asked just now or something else is done with the run. */
  #ask({ run: { id }, target }: RunRecord): void {
    const known = this.#of(id);
    const isDue = known.askedAt === null || performance.now() - known.askedAt >= this.#everyMs;
    if (known.asking || known.doing !== null || !isDue) return;
    known.asking = true;
    const before = this.#lanes.get(target.name) ?? Promise.resolve();
    const look = async (): Promise<void> => {
      await before;
      try {
        await this.#look(id, known);
      } catch (error) {
        known.unreached = problemText(error);
      }
      Object.assign(known, { asking: false, askedAt: performance.now() });
    };
    const mine = look();
    this.#lanes.set(target.name, mine);
    this.#watch(mine);
  }

  async #look(id: string, known: Known): Promise<void> {
    let record = this.runs.read(id);
    for (;;) {
      const { attempt } = record;
      const found = await this.runs.look(record, this.#offsets(id, attempt));
      const { state, reason } = found.status;
      known.unreached = state === "unreachable" ? (reason ?? "it did not answer") : null;
      if (state === "unreachable") return;
      record = found.record;
      // Another machine went on with it: what it prints now is asked for from its beginning.
      if (record.attempt !== attempt) continue;
      const { output, log, ...said } = found.status;
      known.said = said;
      if (await this.#keep(id, attempt, output, log)) continue;
      // One that never began may still be submitted.
      if (state === "ended" || state === "lost") this.#close(id, attempt);
      break;
    }
    for (let number = 1; number < record.attempt; number += 1) await this.#keepEarlier(record, number);
  }

  /** An attempt that is over prints nothing more: it is read once. */
  async #keepEarlier({ run, target }: RunRecord, number: number): Promise<void> {
    while (!isThere(this.#output(run.id, number, WHOLE))) {
      const attempt = { id: run.id, folder: run.folder, number };
      const { state, output, log } = await launcherOf(target.is).status(
        attempt,
        this.#offsets(run.id, number),
      );
      if (state === "unreachable") return;
      if (!(await this.#keep(run.id, number, output, log))) this.#close(run.id, number);
    }
  }

  /** Bytes of an attempt's output and log that are here. */
  #offsets(id: string, attempt: number): { out: number; err: number } {
    const size = (name: string) =>
      statSync(this.#output(id, attempt, name), { throwIfNoEntry: false })?.size ?? 0;
    return { out: size(OUTPUT_FILE), err: size(LOG_FILE) };
  }

  /** @returns whether there is more there */
  async #keep(id: string, attempt: number, output: Piece, log: Piece): Promise<boolean> {
    for (const [name, { bytes }] of [
      [OUTPUT_FILE, output],
      [LOG_FILE, log],
    ] as const) {
      const path = this.#output(id, attempt, name);
      await makeFolder(dirname(path));
      // A part of it that was added before a fault stays: the next question begins at the file's end. On the disk all the
      // same, since once the attempt is marked as whole nobody asks again.
      await fillFile(await onFile(path, "write", open(path, "a")), [bytes], path);
    }
    return [output, log].some(({ from, bytes, size }) => from + bytes.length < size);
  }

  #close(id: string, attempt: number): void {
    writeWholeSync(this.#output(id, attempt, WHOLE), "");
  }
}

/** A fault in one line; what is no bad input is told in whole to the worker's own output. */
function problemText(error: unknown): string {
  if (error instanceof InputError || error instanceof ApiError) return error.message;
  const passing = passingFault(error);
  if (passing !== null) return `${passing}: try again`;
  tell(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return "internal error: see the worker's own output";
}
