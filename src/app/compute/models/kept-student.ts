/**
 * The trained student over a reload of its tab: the browser keeps it with the run that made it, and gives it back. Where
 * it cannot be kept the page says so, and asks before it is closed.
 */
import { z } from "zod";
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import { countOf } from "../../../core/plural.ts";
import { faultNotice } from "../../base/faults.ts";
import { remember, rememberedAs } from "../../base/remembered.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { undoList } from "../../data/undo.ts";
import { checkAtRest } from "../computing.ts";
import { type KeptStudent, keepStudent, keptStudent } from "../runs/internal/page-archive.ts";
import {
  newestCheckpoint,
  newestStep,
  type RunCheckpoint,
  runCheckpoints,
} from "../runs/internal/run-checkpoints.ts";
import { useRuns } from "../runs/runs-store.ts";
import { getUi, setUi } from "../store.ts";
import { RUNS_FILE } from "./internal/run-log.ts";
import { models, type Opened, useStudentRun } from "./models.ts";
import { sharedModel } from "./shared-model.ts";
import { useTakenBack } from "./taken-back.ts";

/** Why the present student is not kept, as the end of a sentence; null where it is, or belongs to no run. */
export const useKept = create<{ problem: string | null }>(() => ({ problem: null }));

/** Names the run whose student this tab has. */
const KEY = "gcopd-student";
/** Names the steps that were taken back in this tab. */
const TAKEN_BACK = "gcopd-taken-back";
const stepsSchema = z.record(z.string(), z.number());

/** Ids of opened students that are kept, since runs began with them. */
const openedIds = new WeakMap<Opened, string>();

async function keepOpened({ opened }: ReturnType<typeof models.studentState>): Promise<string | null> {
  if (opened === null || opened.origin === "sample") return null;
  const known = openedIds.get(opened);
  if (known !== undefined) return known;
  const id = `opened-${crypto.randomUUID()}`;
  const { folder, tokenizer, origin, steps } = opened;
  const { name, files, shared } = folder;
  await keepStudent({
    ...{ id, name, origin, steps, taken: {}, tokenizer, opened: null, log: null, files },
    ...(shared === undefined ? {} : { shared }),
  });
  openedIds.set(opened, id);
  return id;
}

/** How a browser says that there is no room, and anything else. */
function refusal(error: unknown): string {
  if (error instanceof Error && error.name === "QuotaExceededError")
    return "there is no room for it: remove runs that are not needed";
  return error instanceof Error ? error.message : String(error);
}

/** Notes, with a run that begins, what its checkpoints are read with. A fault is reported when the student is to be kept. */
export async function noteStudentOf(run: string): Promise<void> {
  try {
    const state = models.studentState();
    const { folder, tokenizer = null, steps = 0, taken = {} } = state.student ?? {};
    const log = folder?.files.get(RUNS_FILE);
    const opened = await keepOpened(state);
    await keepStudent({
      ...{ id: run, name: "student", origin: "updated", steps, taken, tokenizer, opened },
      shipped: state.shipped,
      ...{ log: log instanceof Blob ? log : null, files: null },
    });
  } catch {
    // Said at its end.
  }
}

/** Keeps a run's student after its step `done`: by the run's last checkpoint, or else by its own files. */
export async function keepTrained(run: string, done: number): Promise<void> {
  const state = models.studentState();
  const { student } = state;
  if (student === null) return;
  try {
    const { folder, tokenizer, steps, taken = {} } = student;
    const opened = await keepOpened(state);
    // It has just been written: reading all of it again would take as long.
    const newest = await newestStep(run).catch(() => null);
    const log = folder.files.get(RUNS_FILE);
    await keepStudent({
      ...{ id: run, name: folder.name, origin: "updated", steps, taken, tokenizer, opened },
      shipped: state.shipped,
      log: log instanceof Blob ? log : null,
      files: newest === done ? null : folder.files,
    });
    if (useStudentRun.getState().id === run) useKept.setState({ problem: null });
  } catch (error) {
    if (useStudentRun.getState().id === run) useKept.setState({ problem: refusal(error) });
  }
}

/** Keeps the student as it is where its run took further steps that it does not have: undone, cancelled or lost. */
export async function keepAsItIs(): Promise<void> {
  const { run, taken = {} } = models.studentState().student ?? {};
  // What is kept of a run that was removed would go with the next one that is.
  if (run !== undefined && run in taken && run in useRuns.getState().runs)
    await keepTrained(run, taken[run]!);
}

/** The student was saved elsewhere: nothing is lost with the page. */
export function studentSaved(): void {
  useKept.setState({ problem: null });
}

/** A student that is kept of a run of the page. */
export interface KeptStudentOf {
  kept: KeptStudent;
  folder: FolderFiles;
  /** After which of the run's steps; null where that is not known. */
  step: number | null;
}

/**
 * The student of a run of the page as it is kept; null where it is not.
 *
 * @throws InputError where its files are not as they were written
 */
export async function keptStudentOf(run: string): Promise<KeptStudentOf | null> {
  const kept = await keptStudent(run);
  if (kept === undefined) return null;
  if (kept.files !== null) return { kept, folder: withLog(kept, kept.files), step: kept.taken[run] ?? null };
  const checkpoint = await newestCheckpoint(run);
  return checkpoint && fromCheckpoint(kept, checkpoint);
}

/** All students that are kept of a run of the page, the newest first; those that are not as they were written are none. */
export async function keptStudentsOf(run: string): Promise<KeptStudentOf[]> {
  const kept = await keptStudent(run);
  if (kept === undefined) return [];
  const { whole } = await runCheckpoints(run);
  const students = whole.map((checkpoint) => fromCheckpoint(kept, checkpoint));
  if (kept.files === null) return students;
  const own = { kept, folder: withLog(kept, kept.files), step: kept.taken[run] ?? null };
  const all = [own, ...students.filter(({ step }) => step !== own.step)];
  return all.sort((a, b) => (b.step ?? Infinity) - (a.step ?? Infinity));
}

function fromCheckpoint(kept: KeptStudent, { state, folder }: RunCheckpoint): KeptStudentOf {
  return { kept, folder: withLog(kept, folder.files), step: state.step };
}

function withLog({ name, log }: KeptStudent, files: FolderFiles["files"]): FolderFiles {
  return { name, files: log === null ? files : new Map([...files, [RUNS_FILE, log]]) };
}

/** The tokenizer that was kept with a student; the shipped library's where none was kept. */
export const tokenizerOf = async ({ tokenizer, shipped = "sample" }: KeptStudent) =>
  tokenizer ?? models.shippedTokenizer(shipped);

async function openedAgain(id: string | null): Promise<Opened | null> {
  if (id === null) return null;
  const kept = await keptStudent(id);
  if (kept?.files == null) throw new InputError("the student that it was opened as is not kept any more");
  const { name, files, shared, origin, steps } = kept;
  const folder = shared === undefined ? { name, files } : await sharedModel(shared);
  const opened = { folder, tokenizer: await tokenizerOf(kept), origin, steps };
  openedIds.set(opened, id);
  return opened;
}

async function readState(run: string): Promise<ReturnType<typeof models.studentState> | null> {
  const found = await keptStudentOf(run);
  if (found === null) return null;
  const { kept, folder, step } = found;
  const taken = { ...kept.taken, ...(step === null ? {} : { [run]: step }) };
  const tokenizer = await tokenizerOf(kept);
  // It may have been kept at another step than that of the run's last whole checkpoint.
  const further = step === null ? 0 : step - (kept.taken[run] ?? 0);
  const student: Opened = { folder, tokenizer, origin: "updated", steps: kept.steps + further, taken, run };
  return { student, opened: await openedAgain(kept.opened), shipped: kept.shipped ?? "sample" };
}

async function restore(): Promise<void> {
  const run = sessionStorage.getItem(KEY);
  if (run === null) return;
  try {
    const student = await models.restoreStudent(readState(run));
    if (student === null) return;
    undoList.offer(
      `The trained student of your last visit (${countOf(student.steps, "optimizer step")}) is here again; Undo goes back to the one that was opened`,
      () => {
        checkAtRest("undo");
        return models.toOpenedStudent();
      },
      "student",
    );
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Gives the tab its student back, and notes which one it has for as long as the page lives. Returns the undo. */
export function followStudent(): () => void {
  useTakenBack.setState(rememberedAs(TAKEN_BACK, stepsSchema, {}, "tab"), true);
  void restore();
  const leaveTakenBack = useTakenBack.subscribe((steps) => {
    remember(TAKEN_BACK, JSON.stringify(steps), "tab");
    const { id } = useStudentRun.getState();
    if (id !== null && id in steps) void keepAsItIs();
  });
  const leave = useStudentRun.subscribe(({ id }) => {
    if (id === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, id);
    useKept.setState({ problem: null });
  });
  // What the browser keeps of a student goes with its run, whichever tab removes it.
  const leaveRuns = useRuns.subscribe(({ runs }, before) => {
    const { id } = useStudentRun.getState();
    if (id !== null && id in before.runs && !(id in runs))
      useKept.setState({ problem: "its run was removed" });
  });
  const ask = (event: BeforeUnloadEvent): void => {
    if (useKept.getState().problem !== null || getUi().training.status === "keeping") event.preventDefault();
  };
  addEventListener("beforeunload", ask);
  return () => {
    leave();
    leaveTakenBack();
    leaveRuns();
    removeEventListener("beforeunload", ask);
  };
}
