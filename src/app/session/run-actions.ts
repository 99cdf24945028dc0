/** Stopping, cancelling, resuming and taking away a run, wherever it runs. */
import { create } from "zustand";
import { navigate } from "../place/navigate.ts";
import { takeJob } from "../runs/follow-worker.ts";
import type { Run } from "../runs/run.ts";
import { dropRun, getRuns } from "../runs/runs-store.ts";
import { tellTabs } from "../runs/tab-channel.ts";
import { worker } from "../runs/worker-client.ts";
import { getUi, setUi } from "../state/store.ts";
import { faultNotice } from "./faults.ts";
import { removePageRun, renamePageRun } from "./page-runs.ts";
import { resumeHere, stopTraining } from "./training.ts";
import { offerUndo } from "./undo.ts";

async function act(
  id: string,
  there: (id: string) => Promise<unknown>,
  here: (run: Run) => unknown,
): Promise<void> {
  const run = getRuns().runs[id];
  if (run === undefined) return;
  try {
    if (run.where === "worker") await there(id);
    else await here(run);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Asks a run to end after its present step. */
export const stopRun = (id: string): Promise<void> =>
  act(
    id,
    async () => takeJob(await worker.act(id, "stop")),
    ({ stream }) => {
      if (stream === "other-tab") return tellTabs({ type: "ask", id, what: "stop" });
      return getUi().training.status === "running" ? stopTraining() : undefined;
    },
  );

/** Ends a run at once: the present step is lost. */
export const cancelRun = (id: string): Promise<void> =>
  act(
    id,
    async () => takeJob(await worker.act(id, "cancel")),
    async ({ stream }) => {
      if (stream === "other-tab") return tellTabs({ type: "ask", id, what: "cancel" });
      if (getUi().training.status === "running") await stopTraining();
      return stopTraining();
    },
  );

/** Lets a run go on from its last checkpoint; one of the worker within other GiB of memory, where they are given. */
export const resumeRun = (id: string, limitGib?: number): Promise<void> =>
  act(
    id,
    async () => takeJob(await worker.resume(id, limitGib)),
    () => resumeHere(id),
  );

/** Takes an ended run away, with all that was kept of it. */
export const removeRun = (id: string): Promise<void> =>
  act(
    id,
    async () => {
      await worker.remove(id);
      dropRun(id);
      leave(id);
    },
    async () => {
      await removePageRun(id);
      leave(id);
    },
  );

/** The run whose name is being written. */
export const useNaming = create<{ id: string | null }>(() => ({ id: null }));

/** Calls a run something else, where it is kept: here, or on the worker. */
export async function renameRun(id: string, title: string): Promise<void> {
  const before = getRuns().runs[id]?.title;
  const name = title.trim();
  if (before === undefined || name === "" || name === before) return;
  await act(
    id,
    async () => takeJob(await worker.rename(id, name)),
    async () => {
      await renamePageRun(id, name);
      tellTabs({ type: "title", id, title: name });
    },
  );
  if (getRuns().runs[id]?.title === name)
    offerUndo(`The run is now called “${name}”`, () => renameRun(id, before), `name of ${id}`);
}

function leave(id: string): void {
  const { run, charted } = getUi().place;
  navigate({ run: run === id ? null : run, charted: charted.filter((each) => each !== id) });
}
