/** The workers as the drawing thread sees them; each starts when it is first asked for. */
import * as Comlink from "comlink";
import { startWorker } from "../base/worker/start-worker.ts";
import { installErrorTransfer } from "../base/worker/transfer.ts";
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

installErrorTransfer();

let games: Comlink.Remote<GamesWorker> | null = null;

export function gamesWorker(): Comlink.Remote<GamesWorker> {
  games ??= Comlink.wrap<GamesWorker>(startWorker(gamesScript, "games"));
  return games;
}

let hub: Comlink.Remote<HubService> | null = null;

export function hubWorker(): Comlink.Remote<HubService> {
  hub ??= Comlink.wrap<HubService>(startWorker(hubScript, "hub"));
  return hub;
}

/** A compute worker of its own; ending it stops whatever it does. */
export interface ComputeClient {
  api: Comlink.Remote<ComputeApi>;
  end(): void;
}

export function startComputeWorker(): ComputeClient {
  const worker = startWorker(computeScript, "compute");
  const api = Comlink.wrap<ComputeApi>(worker);
  const end = (): void => {
    worker.terminate();
    // What it played in may be a process of the worker's host.
    void games?.closeSessionsOf("compute");
  };
  return { api, end };
}

/** The files in a .zip, from a worker that lives as long as that takes. @throws InputError, as `unpackZip` */
export async function unpackArchive(archive: NamedFile): Promise<NamedFile[]> {
  const worker = startWorker(archiveScript, "archive");
  try {
    return await Comlink.wrap<ArchiveApi>(worker).unpackZip(archive);
  } finally {
    worker.terminate();
  }
}
