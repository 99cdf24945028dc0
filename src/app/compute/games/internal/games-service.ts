/**
 * Games that are open in the page, and their environments. A session is one environment, by its number: what plays in it
 * lives in the page or in another worker. ScienceWorld runs in Java, behind the worker's API.
 */
import { environmentRules } from "../../../../core/environment/environment.ts";
import {
  type MadeConfig,
  type MadeEnvironment,
  madeSchema,
} from "../../../../core/environment/made-config.ts";
import { InputError } from "../../../../core/errors.ts";
import { replayDifference } from "../../../../core/loop/index.ts";
import type { Environment, EnvironmentAnswer, EnvironmentStart, NoAnswer } from "../../../../core/ports.ts";
import { describeIssue } from "../../../../core/record/describe-issue.ts";
import type { Episode, Source } from "../../../../core/record/schema.ts";
import { alfworldGameSet, GAME_ENDING, gamesByTask } from "../../../../simulator/alfworld/game-set.ts";
import { type GameSet, type GameText, textsDigest } from "../../../../simulator/game-set.ts";
import { madeGames, madeGameText, madeShops } from "../../../../simulator/made-games.ts";
import { shopGameSet } from "../../../../simulator/webshop/game-set.ts";
import type { NamedBlob } from "../../../data/files/path-files.ts";
import type { TaskName } from "../../../data/model.ts";
import type { GameTask } from "../find-games.ts";
import { SimulatorEnvironment, type SimulatorSessions } from "./simulator-environment.ts";

/** Whose a session is: the page's, or the compute worker's, which can be ended in the middle of one. */
export type SessionOwner = "page" | "compute";

/** One environment: of any task of its kind, one after the other. */
interface Session {
  owner: SessionOwner;
  environment: string;
  /** The task that it was reset to, with what plays it; null before. */
  played: { task: string; in: Environment } | null;
}

export type OnGames = (progress: { done: number; total: number }) => void;

const keyOf = ({ environment, task }: TaskName): string => JSON.stringify([environment, task]);

const SILENT: OnGames = () => undefined;

export class GamesService {
  /** Task → the set that holds it, in the order of opening. */
  readonly #tasks = new Map<string, { name: TaskName; set: GameSet }>();
  readonly #sessions = new Map<number, Session>();
  #lastSession = 0;
  #opening: AbortController | null = null;
  #simulator: SimulatorSessions | null = null;

  /** The tasks of all open games. */
  tasks(): GameTask[] {
    return [...this.#tasks.values()].map(({ name }) => ({
      ...name,
      type: environmentRules(name.environment).taskType(name.task),
    }));
  }

  /**
   * Makes games beside those that are open; a game of the same task takes the place of the one before.
   *
   * @throws InputError for what cannot be made, naming the key
   */
  async make(
    environment: MadeEnvironment,
    made: MadeConfig,
    onProgress: OnGames = SILENT,
  ): Promise<GameTask[]> {
    return this.#open(onProgress, async (told) => {
      checkMadeConfig(made);
      if (environment === "webshop") {
        const shops = madeShops(made).map(madeGameText);
        return [
          await shopGameSet(
            shops.map(({ label, read }, n) => ({
              label,
              read: async () => {
                await pause();
                told(n, shops.length);
                return read();
              },
            })),
          ),
        ];
      }
      return [alfworldGameSet(new Map(madeGames(made).map((each) => [each.task, madeGameText(each)])))];
    });
  }

  /**
   * Opens ALFWorld's games (`.tw-pddl`) and WebShop's catalogues (`.json`) among files. In a folder with games, a `.json`
   * is something that lies beside them. Tasks of a folder are called by their path in it.
   *
   * @throws InputError for a file that cannot be read, two games of one task, and files without any game; nothing new is
   * open then
   */
  open(files: readonly NamedBlob[], onProgress: OnGames = SILENT): Promise<GameTask[]> {
    const inFolder = files.some(({ path }) => path.includes("/"));
    const named = inFolder ? inTopFolder(files) : files.map((each) => ({ ...each, name: each.path }));
    const games = named.filter(({ name }) => name.endsWith(GAME_ENDING));
    const shops =
      inFolder && games.length > 0 ? [] : named.filter(({ name }) => name.toLowerCase().endsWith(".json"));
    const total = games.length + shops.length;
    return this.#open(onProgress, async (told) => {
      if (total === 0)
        throw new InputError(
          `no game among ${files.length === 1 ? "it" : "these files"}; expected ALFWorld's games (${GAME_ENDING}) or WebShop's catalogues (.json)`,
          { file: files[0]?.path ?? "" },
        );
      const text = ({ name, path, file }: (typeof named)[number]) => ({
        name,
        label: path,
        read: () => file.text(),
      });
      const sets: GameSet[] = [];
      if (games.length > 0)
        sets.push(alfworldGameSet(await gamesByTask(games.map(text), (done) => told(done, total))));
      if (shops.length > 0) sets.push(await shopGameSet(shops.map(text)));
      return sets;
    });
  }

  /**
   * Opens tasks of the worker's simulator beside the open games.
   *
   * @param sha256 of the simulator, which stands for its games
   */
  openSimulator(sessions: SimulatorSessions, tasks: readonly string[], sha256: string): GameTask[] {
    this.#simulator = sessions;
    const text: GameText = { label: "the worker's simulator", read: async () => sha256 };
    this.#take({
      environment: "scienceworld",
      tasks,
      open: (_, isWatched = false) => new SimulatorEnvironment(sessions, { isPatient: !isWatched }),
      plan: (task) => sessions.plan(task),
      textOf: () => text,
    });
    return this.tasks();
  }

  /**
   * How many environments of a kind can be opened at the same time now.
   *
   * @throws InputError where the worker's simulators are all in use
   */
  async atOnce(environment: string): Promise<number> {
    if (environment !== "scienceworld" || this.#simulator === null) return Number.POSITIVE_INFINITY;
    const free = await this.#simulator.free();
    if (free > 0) return free;
    throw new InputError(
      "all ScienceWorld simulators of the worker are in use: end an episode or a run that plays in one",
    );
  }

  /** Ends an opening or making that is under way; it rejects with an AbortError and opens nothing. */
  stopOpening(): void {
    this.#opening?.abort(new DOMException("the opening was stopped", "AbortError"));
  }

  /** Closes all games. Sessions in them go on. */
  closeGames(): void {
    this.#tasks.clear();
  }

  /** Actions that solve a task, where its game has them. */
  async plan(name: TaskName): Promise<readonly string[] | null> {
    return this.#found(name).set.plan(name.task);
  }

  /** Distinguishes the games of some tasks from others of the same names. @throws InputError for one that is not open */
  digest(environment: string, tasks: readonly string[]): Promise<string> {
    return textsDigest(tasks.map((task) => this.#found({ environment, task }).set.textOf(task)));
  }

  /** A new environment. @returns the number of its session */
  openSession(environment: string, owner: SessionOwner = "page"): number {
    this.#lastSession += 1;
    this.#sessions.set(this.#lastSession, { owner, environment, played: null });
    return this.#lastSession;
  }

  /** @throws InputError for a task whose game is not open */
  async reset(session: number, task: string): Promise<EnvironmentStart> {
    const of = this.#session(session);
    if (of.played?.task !== task) {
      const { set } = this.#found({ environment: of.environment, task });
      await of.played?.in.close();
      // Of a session that was closed meanwhile, nobody would close what is opened now.
      this.#session(session);
      of.played = { task, in: set.open(task, of.owner === "page") };
    }
    return of.played.in.reset(task);
  }

  async step(session: number, action: string): Promise<EnvironmentAnswer | NoAnswer> {
    const { played } = this.#session(session);
    if (played === null) throw new Error("step before reset");
    return played.in.step(action);
  }

  async closeSession(session: number): Promise<void> {
    const of = this.#sessions.get(session);
    this.#sessions.delete(session);
    await of?.played?.in.close();
  }

  /** Closes what an owner that is gone has left open. */
  async closeSessionsOf(owner: SessionOwner): Promise<void> {
    const left = [...this.#sessions].filter(([, session]) => session.owner === owner);
    await Promise.all(left.map(([number]) => this.closeSession(number)));
  }

  /**
   * Plays a record of an open game once more.
   *
   * @returns the first difference, or null where all repeats, as `replayDifference`
   */
  async verify(record: Source | Episode): Promise<string | null> {
    const environment = this.#found(record).set.open(record.task, true);
    try {
      return await replayDifference(record, environment);
    } finally {
      await environment.close();
    }
  }

  #session(session: number): Session {
    const of = this.#sessions.get(session);
    if (of === undefined) throw new Error(`no session ${session} is open`);
    return of;
  }

  #found(name: TaskName) {
    const found = this.#tasks.get(keyOf(name));
    if (found === undefined)
      throw new InputError(`the game of ${JSON.stringify(name.task)} (${name.environment}) is not open`);
    return found;
  }

  #take(set: GameSet): void {
    for (const task of set.tasks) {
      const name = { environment: set.environment, task };
      this.#tasks.set(keyOf(name), { name, set });
    }
  }

  async #open(
    onProgress: OnGames,
    read: (told: (done: number, total: number) => void) => Promise<GameSet[]>,
  ): Promise<GameTask[]> {
    const controller = new AbortController();
    this.#opening = controller;
    try {
      const sets = await read((done, total) => {
        controller.signal.throwIfAborted();
        if (total <= 20 || done % 20 === 0 || done === total) onProgress({ done, total });
      });
      await pause();
      controller.signal.throwIfAborted();
      for (const set of sets) this.#take(set);
      return this.tasks();
    } finally {
      if (this.#opening === controller) this.#opening = null;
    }
  }
}

/** Lets the worker hear that it is to stop. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** @throws InputError naming the key at fault */
function checkMadeConfig(made: MadeConfig): void {
  const issue = madeSchema.safeParse(made).error?.issues[0];
  if (issue === undefined) return;
  const { key, message } = describeIssue(issue, made);
  throw new InputError(message, { key });
}

/** Files with their paths in the folder that was picked, without its own name. */
function inTopFolder(files: readonly NamedBlob[]): (NamedBlob & { name: string })[] {
  return files.map((each) => ({ ...each, name: each.path.split("/").slice(1).join("/") || each.path }));
}
