/** Training on the worker: what it reads is sent, what it costs is measured, and the job is submitted. */
import { create } from "zustand";
import { InputError } from "../../core/errors.ts";
import type { RunWork } from "../../core/loop/index.ts";
import { wholeFile } from "../library/blob-folder.ts";
import { takeJob } from "../runs/follow-worker.ts";
import { namesHubModel } from "../runs/hub-models.ts";
import { newRunId, useRuns } from "../runs/runs-store.ts";
import type { WorkerPlan } from "../runs/worker-answers.ts";
import { worker } from "../runs/worker-client.ts";
import { libraryWorker } from "../workers/clients.ts";
import { modelFolder } from "./models.ts";
import { type ComposedConfig, composeConfig } from "./training-config.ts";
import { chosenEpisodes, runTitle } from "./training-data.ts";
import { setTrainingForm, trainingForm } from "./training-form.ts";

/** What is being sent or asked, in words, and what the last measured run will read. */
export const useSending = create<{ label: string | null; work: RunWork | null }>(() => ({
  label: null,
  work: null,
}));

/** What was sent under an id already: the choice that it was made from. */
const sent = new Map<string, string>();

/** @throws InputError for a config that is not valid, with its first problem */
function valid(composed: ComposedConfig): ComposedConfig {
  const [problem] = Object.entries(composed.problems);
  if (problem !== undefined) throw new InputError(problem[1], { key: problem[0] });
  return composed;
}

async function sendInputs({ send }: ComposedConfig, tell: (what: string) => void): Promise<void> {
  const { nextId: id, data } = trainingForm();
  const once = async (what: string, of: string, work: () => Promise<void>): Promise<void> => {
    if (sent.get(`${id} ${what}`) === of) return;
    tell(`Sending the ${what} to the worker`);
    await work();
    sent.set(`${id} ${what}`, of);
  };
  if (send.records) {
    const { library, episodes } = await chosenEpisodes(data);
    await once("records", JSON.stringify([library.id, episodes]), async () => {
      const blobs = await libraryWorker().recordLines(library.id, episodes);
      await worker.input(id, "episodes.jsonl", blobs.episodes);
      await worker.input(id, "sources.jsonl", blobs.sources);
    });
  }
  for (const role of ["teacher", "student"] as const) {
    if (!send[role]) continue;
    const folder = await modelFolder(role);
    const of = JSON.stringify([folder.name, [...folder.files].map(([name, blob]) => [name, blob.size])]);
    await once(role, of, async () => {
      for (const [name, file] of folder.files)
        if (/^[A-Za-z0-9][\w.-]*$/.test(name))
          await worker.input(id, `${role}/${name}`, await wholeFile(file));
    });
  }
}

/** Measures on the worker what the form's run will cost; with `probe` its time, too. */
export async function planOnWorker(
  tell: (what: string) => void,
  probe: boolean,
  signal: AbortSignal,
): Promise<WorkerPlan> {
  const composed = valid(composeConfig());
  await sendInputs(composed, tell);
  signal.throwIfAborted();
  const what = probe ? "Measuring, with a probe" : "Measuring";
  tell(
    namesHubModel(composed.written)
      ? `${what}; models of the hub that the worker does not have yet are downloaded first`
      : what,
  );
  return worker.plan(composed.written, probe, signal);
}

/** Submits the form's run; its folder is the one that the form showed. */
export async function startOnWorker(tell: (what: string) => void): Promise<string> {
  const composed = valid(composeConfig());
  const { nextId: id } = trainingForm();
  await sendInputs(composed, tell);
  tell("Submitting");
  const job = await worker.submit({
    kind: "train",
    id,
    title: runTitle(composed.config!),
    config: composed.written,
  });
  setTrainingForm({ nextId: newRunId("train") });
  takeJob(job);
  useRuns.setState({ latest: id });
  return id;
}
