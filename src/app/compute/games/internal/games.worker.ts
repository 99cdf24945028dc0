/** The games worker: `GamesService` behind comlink. */
import "../../../base/without-eval.ts";
import * as Comlink from "comlink";
import { madeTasks } from "../../../../simulator/made-games.ts";
import { installErrorTransfer } from "../../../base/worker/transfer.ts";
import { GamesService } from "./games-service.ts";

installErrorTransfer();

/** The service, with what the page alone asks of it. */
class GamesWorker extends GamesService {
  /** The tasks of games that were not made yet. */
  readonly madeTasks = madeTasks;

  /** Lets the compute worker call this one directly. There is one at a time: the one before is gone. */
  async connect(port: MessagePort): Promise<void> {
    await this.closeSessionsOf("compute");
    Comlink.expose(this, port);
  }
}

export type { GamesWorker };

Comlink.expose(new GamesWorker());
