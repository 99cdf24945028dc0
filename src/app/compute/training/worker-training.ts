/** Training on the worker: what it reads is sent, what it costs is measured, and the job is submitted. */
import { create } from "zustand";
import { InputError } from "../../../core/errors.ts";
import type { RunWork } from "../../../core/loop/index.ts";
import { wholeFile } from "../../data/files/blob-folder.ts";
import { withTokenizer } from "../../data/files/model-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { gigabytes } from "../hub/hub.ts";
import { models } from "../models/models.ts";
import { takeJob } from "../runs/follow-worker.ts";
import { namesHubModel } from "../runs/hub-models.ts";
import { takeLaunched, useTargets } from "../runs/launches.ts";
import type { Run } from "../runs/run.ts";
import { getRuns, newRunId, useRuns } from "../runs/runs-store.ts";
import type { PlannedThere, WorkerPlan } from "../runs/worker-answers.ts";
import { worker } from "../runs/worker-client.ts";
import { type ComposedConfig, composeConfig } from "./training-config.ts";
import { recordsToSend, runTitle } from "./training-data.ts";
import { setTrainingForm, trainingForm } from "./training-form.ts";

/** What the start of a run is at, in words, how to end it, and what the last measured run will read. */
export const useSending = create<{
  label: string | null;
  cancel: (() => void) | null;
  work: RunWork | null;
}>(() => ({ label: null, cancel: null, work: null }));

/** What was sent under an id already: the choice that it was made from. */
const sent = new Map<string, string>();
/** Measuring and starting may want the same files: the second waits, and then finds them sent. */
let sending: Promise<unknown> = Promise.resolve();

/** @throws InputError for a config that is not valid, with its first problem */
function valid(composed: ComposedConfig): ComposedConfig {
  const [problem] = Object.entries(composed.problems);
  if (problem !== undefined) throw new InputError(problem[1], { key: problem[0] });
  return composed;
}

type Tell = (what: string) => void;

function sendInputs(composed: ComposedConfig, tell: Tell, signal: AbortSignal): Promise<void> {
  const mine = sending.then(() => sendMissing(composed, tell, signal));
  sending = mine.catch(() => undefined);
  return mine;
}

async function sendMissing({ send }: ComposedConfig, tell: Tell, signal: AbortSignal): Promise<void> {
  const form = trainingForm();
  const { nextId: id } = form;
  const once = async (what: string, of: string, files: () => Promise<[path: string, Blob][]>) => {
    signal.throwIfAborted();
    if (sent.get(`${id} ${what}`) === of) return;
    tell(`Reading the ${what}`);
    const all = await files();
    for (const [n, [path, blob]] of all.entries()) {
      signal.throwIfAborted();
      tell(`Sending the ${what} to the worker: file ${n + 1} of ${all.length}, ${gigabytes(blob.size)}`);
      await worker.input(id, path, blob, signal);
    }
    sent.set(`${id} ${what}`, of);
  };
  if (send.records) {
    const { library, names } = await recordsToSend(form);
    await once("records", JSON.stringify([library.id, names]), async () => {
      const { episodes, sources } = await libraryWorker().recordLines(library.id, names);
      const own: [string, Blob][] = episodes.size === 0 ? [] : [["episodes.jsonl", episodes]];
      return [...own, ["sources.jsonl", sources]];
    });
  }
  for (const role of ["teacher", "student"] as const) {
    if (!send[role]) continue;
    // Shipped models, and those whose tokenizer the user named, have none in their folder.
    const folder = withTokenizer(await models.folder(role), await models.tokenizer(role));
    const of = JSON.stringify([folder.name, [...folder.files].map(([name, blob]) => [name, blob.size])]);
    await once(role, of, () =>
      Promise.all(
        [...folder.files]
          .filter(([name]) => /^[A-Za-z0-9][\w.-]*$/.test(name))
          .map(async ([name, file]): Promise<[string, Blob]> => [`${role}/${name}`, await wholeFile(file)]),
      ),
    );
  }
}

/** Measures on the worker what the form's run will cost; with `probe` its time, too. */
export async function planOnWorker(tell: Tell, probe: boolean, signal: AbortSignal): Promise<WorkerPlan> {
  const composed = valid(composeConfig());
  await sendInputs(composed, tell, signal);
  signal.throwIfAborted();
  const what = probe ? "Measuring, with a probe" : "Measuring";
  tell(
    namesHubModel(composed.written)
      ? `${what}; models of the hub that the worker does not have yet are downloaded first`
      : what,
  );
  // What is asked of the target's device is not asked of the worker's.
  const { cards: _cards, device: _device, ...anywhere } = composed.written;
  return worker.plan(trainingForm().where === "target" ? anywhere : composed.written, probe, signal);
}

/** What the form's run will cost as its target measures it, or did before with `kept`. */
export async function planOnTarget(
  tell: Tell,
  how: { kept: boolean },
  signal: AbortSignal,
): Promise<PlannedThere> {
  const composed = valid(composeConfig());
  await sendInputs(composed, tell, signal);
  signal.throwIfAborted();
  const { target } = trainingForm();
  // A probe is waited for by sbatch.
  const { slurmrestd, scheduler } = useTargets.getState().targets[target] ?? {};
  const probe = slurmrestd === undefined && scheduler !== "kubernetes";
  if (!how.kept) tell(`Measuring on the target${probe ? ", with a probe" : ""}; it may wait in a queue`);
  return worker.planThere(target, composed.written, { ...how, probe }, signal);
}

/**
 * A run of the worker that has this config already, whatever became of it; what is sent into the folder of a run is the
 * same under its id.
 */
export function runWithSameConfig(
  written: Record<string, unknown>,
  id: string,
  runs: Readonly<Record<string, Run>>,
): Run | null {
  const text = (config: Record<string, unknown>, own: string): string =>
    JSON.stringify(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1))).replaceAll(own, "ID");
  // What was sent before this visit is not known: such a run is asked about.
  const sentOther = (other: string): boolean =>
    ["records", "teacher", "student"].some((what) => {
      const [mine, theirs] = [sent.get(`${id} ${what}`), sent.get(`${other} ${what}`)];
      return mine !== undefined && theirs !== undefined && mine !== theirs;
    });
  const wanted = text(written, id);
  return (
    Object.values(runs).find(
      (run) => run.where === "worker" && text(run.config, run.id) === wanted && !sentOther(run.id),
    ) ?? null
  );
}

/**
 * Submits the form's run; its folder is the one that the form showed. One that has the config of an earlier run is
 * submitted only where `again` says so.
 *
 * @returns its id; null where it was not wanted again
 */
export async function startOnWorker(
  tell: Tell,
  again: (run: Run) => boolean,
  signal: AbortSignal,
): Promise<string | null> {
  const composed = valid(composeConfig());
  const { nextId: id, where, target, name } = trainingForm();
  await sendInputs(composed, tell, signal);
  const before = runWithSameConfig(composed.written, id, getRuns().runs);
  if (where === "worker" && before !== null && !again(before)) return null;
  signal.throwIfAborted();
  tell("Submitting: the worker checks the config");
  const started =
    where === "target"
      ? await launchOn(target, composed.written, name.trim())
      : await submitJob(id, runTitle(composed.config!), composed.written);
  setTrainingForm({ nextId: newRunId("train"), name: "" });
  useRuns.setState({ latest: started });
  return started;
}

async function submitJob(id: string, title: string, config: Record<string, unknown>): Promise<string> {
  takeJob(await worker.submit({ kind: "train", id, title, config }));
  return id;
}

async function launchOn(target: string, config: Record<string, unknown>, name: string): Promise<string> {
  const launched = await worker.launch(target, config, name === "" ? undefined : name);
  takeLaunched(launched);
  return launched.id;
}

/** The launch of the form's run as a script, and the bytes that go with it; what the page has itself is sent first. */
export async function scriptOfLaunch(
  tell: Tell,
  signal: AbortSignal,
): Promise<{ script: string; bytes: number }> {
  const composed = valid(composeConfig());
  await sendInputs(composed, tell, signal);
  return worker.script(trainingForm().target, composed.written);
}
