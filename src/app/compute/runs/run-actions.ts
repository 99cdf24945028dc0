/** Stopping, cancelling, resuming and taking away a run, wherever it runs. */
import { create } from "zustand";
import { faultNotice } from "../../base/faults.ts";
import { navigate } from "../../data/navigate.ts";
import { undoList } from "../../data/undo.ts";
import { getUi, setUi } from "../store.ts";
import { studentTraining } from "../training/training.ts";
import { workerFollower } from "./follow-worker.ts";
import { pageRuns } from "./internal/page-runs.ts";
import { launches, takeLaunched } from "./launches.ts";
import type { Run } from "./run.ts";
import { dropTags } from "./run-tags.ts";
import { dropRun, getRuns } from "./runs-store.ts";
import { tellTabs } from "./tab-channel.ts";
import { worker } from "./worker-client.ts";

async function act(
  id: string,
  there: (id: string) => Promise<unknown>,
  onTarget: (id: string) => Promise<unknown>,
  here: (run: Run) => unknown,
): Promise<void> {
  const run = getRuns().runs[id];
  if (run === undefined) return;
  try {
    if (run.where === "worker") await there(id);
    else if (run.where === "target") await onTarget(id);
    else await here(run);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Asks a run to end after its present step. */
export const stopRun = (id: string): Promise<void> =>
  act(
    id,
    async () => workerFollower.takeJob(await worker.act(id, "stop")),
    async () => takeLaunched(await worker.actOnLaunched(id, "stop")),
    ({ stream }) => {
      if (stream === "other-tab") return tellTabs({ type: "ask", id, what: "stop" });
      return getUi().training.status === "running" ? studentTraining.stop() : undefined;
    },
  );

/** Ends a run at once: the present step is lost. */
export const cancelRun = (id: string): Promise<void> =>
  act(
    id,
    async () => workerFollower.takeJob(await worker.act(id, "cancel")),
    async () => takeLaunched(await worker.actOnLaunched(id, "cancel")),
    async ({ stream }) => {
      if (stream === "other-tab") return tellTabs({ type: "ask", id, what: "cancel" });
      if (getUi().training.status === "running") await studentTraining.stop();
      return studentTraining.stop();
    },
  );

/** Lets a run go on from its last checkpoint; one of the worker within other GiB of memory or hours, where they are given. */
export const resumeRun = (id: string, changes?: Parameters<typeof worker.resume>[1]): Promise<void> =>
  act(
    id,
    async () => workerFollower.takeJob(await worker.resume(id, changes)),
    async () => takeLaunched(await worker.resumeLaunched(id)),
    () => studentTraining.resume(id),
  );

/** Lets a run on a target go on there with other options, or on another one. */
export async function resumeLaunched(
  id: string,
  changes: Parameters<typeof worker.resumeLaunched>[1],
): Promise<void> {
  try {
    takeLaunched(await worker.resumeLaunched(id, changes));
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** Brings the results of a run on a target to the worker's disk. */
export async function fetchLaunched(id: string, checkpoints: boolean): Promise<void> {
  try {
    takeLaunched(await worker.fetchLaunched(id, checkpoints));
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

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
      await worker.removeLaunched(id);
      launches.forget(id);
      leave(id);
    },
    async () => {
      await pageRuns.remove(id);
      leave(id);
    },
  );

/** The run whose name is being written. */
export const useNaming = create<{ id: string | null }>(() => ({ id: null }));

/** Calls a run something else, where it is kept: here, or by the worker. */
export async function renameRun(id: string, title: string): Promise<void> {
  const before = getRuns().runs[id]?.title;
  const name = title.trim();
  if (before === undefined || name === "" || name === before) return;
  await rename(id, name);
  if (getRuns().runs[id]?.title === name)
    undoList.offer(`The run is now called “${name}”`, () => rename(id, before), `name of ${id}`);
}

const rename = (id: string, name: string): Promise<void> =>
  act(
    id,
    async () => workerFollower.takeJob(await worker.rename(id, name)),
    async () => takeLaunched(await worker.renameLaunched(id, name)),
    async () => {
      await pageRuns.rename(id, name);
      tellTabs({ type: "title", id, title: name });
    },
  );

function leave(id: string): void {
  dropTags(id);
  const { run, charted } = getUi().place;
  navigate({ run: run === id ? null : run, charted: charted.filter((each) => each !== id) });
}
