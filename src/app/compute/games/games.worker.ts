/** The games worker: `GamesService` behind comlink. */
import "../../base/without-eval.ts";
import * as Comlink from "comlink";
import { madeTasks } from "../../../simulator/made-games.ts";
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { GamesService } from "./games-service.ts";

installErrorTransfer();

const service = new GamesService();

const api = {
  tasks: service.tasks.bind(service),
  madeTasks,
  make: service.make.bind(service),
  open: service.open.bind(service),
  openSimulator: service.openSimulator.bind(service),
  atOnce: service.atOnce.bind(service),
  stopOpening: service.stopOpening.bind(service),
  closeGames: service.closeGames.bind(service),
  digest: service.digest.bind(service),
  plan: service.plan.bind(service),
  openSession: (environment: string) => service.openSession(environment),
  reset: service.reset.bind(service),
  step: service.step.bind(service),
  closeSession: service.closeSession.bind(service),
  verify: service.verify.bind(service),

  /** Closes the sessions of a compute worker that was ended. */
  closeComputeSessions: () => service.closeSessionsOf("compute"),

  /** Lets the compute worker call this one directly. There is one at a time: the one before is gone. */
  async connect(port: MessagePort): Promise<void> {
    await service.closeSessionsOf("compute");
    Comlink.expose(
      { ...api, openSession: (environment: string) => service.openSession(environment, "compute") },
      port,
    );
  },
};

export type GamesApi = typeof api;

Comlink.expose(api);
