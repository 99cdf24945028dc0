/** The workers as the drawing thread sees them; each starts when it is first asked for. */
import { type RemoteWorker, startedWhenAsked, startRemote } from "../base/worker/remote-worker.ts";
import type { NamedFile } from "../data/files/zip-archive.ts";
import type { GamesWorker } from "./games/internal/games.worker.ts";
import gamesScript from "./games/internal/games.worker.ts?worker&url";
import hubScript from "./hub/internal/hub.worker.ts?worker&url";
import type { HubService } from "./hub/internal/hub-service.ts";
import type { ArchiveApi } from "./models/internal/archive.worker.ts";
import archiveScript from "./models/internal/archive.worker.ts?worker&url";
import computeScript from "./worker/compute.worker.ts?worker&url";
import type { ComputeApi } from "./worker/compute-api.ts";

/** What they are asked and answer, for those outside of `compute/`. */
export type { ComputeChoice, DeviceFacts, OtherPlan } from "./worker/compute-service.ts";
export type { CellEvaluation, CellEvent } from "./worker/student-cell.ts";
export type { LiveTraining, TrainingPlan } from "./worker/training-run.ts";

const games = startedWhenAsked<GamesWorker>(gamesScript, "games");
export const gamesWorker = games.ask;

export const { ask: hubWorker } = startedWhenAsked<HubService>(hubScript, "hub");

/** A compute worker of its own; ending it stops whatever it does. */
export type ComputeClient = RemoteWorker<ComputeApi>;

export function startComputeWorker(): ComputeClient {
  const { api, end } = startRemote<ComputeApi>(computeScript, "compute");
  return {
    api,
    end: () => {
      end();
      // What it played in may be a process of the worker's host. A games worker that could not start has none.
      games
        .present()
        ?.closeSessionsOf("compute")
        .catch(() => undefined);
    },
  };
}

/** The files in a .zip, from a worker that lives as long as that takes. @throws InputError, as `unpackZip` */
export async function unpackArchive(archive: NamedFile): Promise<NamedFile[]> {
  const { api, end } = startRemote<ArchiveApi>(archiveScript, "archive");
  try {
    return await api.unpackZip(archive);
  } finally {
    end();
  }
}
