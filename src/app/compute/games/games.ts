/** The games that are open in the page. They stay in their worker; here is the list of their tasks. */
import * as Comlink from "comlink";
import { create } from "zustand";
import type { MadeConfig, MadeEnvironment } from "../../../core/environment/made-config.ts";
import { InputError } from "../../../core/errors.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { describeFault, isAbort } from "../../base/faults.ts";
import type { TaskName } from "../../data/model.ts";
import { type ComputeClient, gamesWorker } from "../clients.ts";
import { models } from "../models/models.ts";
import type { GameTask } from "./find-games.ts";
import type { OnGames } from "./internal/games-service.ts";
import { checkSimulatorTasks, requireSimulator, simulatorSessions } from "./simulator.ts";

interface Games {
  /** The tasks of all open games, in the order of opening. */
  tasks: readonly GameTask[];
  /** How far an opening is; null while there is none. */
  opening: { label: string; done: number; total: number } | null;
  /** Why the last opening failed, in one line. */
  problem: string | null;
}

export const useGames = create<Games>(() => ({ tasks: [], opening: null, problem: null }));

/** The task among the open games; null where its game is not open. */
export function gameOf({ environment, task }: TaskName): GameTask | null {
  return (
    useGames.getState().tasks.find((each) => each.environment === environment && each.task === task) ?? null
  );
}

/** Makes games beside those that are open. @returns whether they are open now */
export function makeGames(environment: MadeEnvironment, made: MadeConfig): Promise<boolean> {
  return opening("Making games", (onProgress) => gamesWorker().make(environment, made, onProgress));
}

/** Opens tasks of the worker's ScienceWorld beside the open games. @returns whether they are open now */
export function openSimulatorTasks(choose: () => readonly string[]): Promise<boolean> {
  return opening("Opening tasks", async () => {
    const tasks = choose();
    checkSimulatorTasks(tasks);
    return gamesWorker().openSimulator(Comlink.proxy(simulatorSessions), tasks, requireSimulator().sha256);
  });
}

/**
 * Opens a task that needs no file: one of the worker's simulator.
 *
 * @returns whether it is open
 * @throws InputError where the simulator has no such task
 */
export async function opensByItself(name: TaskName): Promise<boolean> {
  if (gameOf(name) !== null) return true;
  if (name.environment !== "scienceworld") return false;
  if (await openSimulatorTasks(() => [name.task])) return true;
  throw openingProblem();
}

/** Why the last opening failed. */
export const openingProblem = (): InputError =>
  new InputError(useGames.getState().problem ?? "games are being opened: try again when they are there");

/** Opens ALFWorld's game files and WebShop's catalogues beside those that are open. @returns whether they are open now */
export function openGames(files: readonly PathFile[]): Promise<boolean> {
  return opening("Opening games", (onProgress) => gamesWorker().open([...files], onProgress));
}

export function stopOpeningGames(): void {
  if (useGames.getState().opening === null) return;
  // The opening says why a worker could not start.
  gamesWorker()
    .stopOpening()
    .catch(() => undefined);
}

/** Closes all games. */
export async function closeGames(): Promise<void> {
  await gamesWorker().closeGames();
  useGames.setState({ tasks: [], problem: null });
}

async function opening(label: string, read: (onProgress: OnGames) => Promise<GameTask[]>): Promise<boolean> {
  if (useGames.getState().opening !== null) return false;
  useGames.setState({ opening: { label, done: 0, total: 0 }, problem: null });
  const told: OnGames = ({ done, total }) => {
    // The last words of a worker may arrive after its answer.
    if (useGames.getState().opening !== null) useGames.setState({ opening: { label, done, total } });
  };
  try {
    useGames.setState({ tasks: await read(Comlink.proxy(told)) });
    return true;
  } catch (error) {
    useGames.setState({ problem: isAbort(error) ? `${label} was stopped.` : describeFault(error) });
    return false;
  } finally {
    useGames.setState({ opening: null });
  }
}

const connections = new WeakMap<ComputeClient, Promise<void>>();

/** The compute worker, connected with the games worker: its loops can play in the open games. */
export async function computeWithGames(): Promise<ComputeClient> {
  const client = await models.worker();
  let connected = connections.get(client);
  if (connected === undefined) {
    connected = (async () => {
      const { port1, port2 } = new MessageChannel();
      await gamesWorker().connect(Comlink.transfer(port1, [port1]));
      await client.api.connectGames(Comlink.transfer(port2, [port2]));
    })();
    connections.set(client, connected);
  }
  await connected;
  return client;
}
