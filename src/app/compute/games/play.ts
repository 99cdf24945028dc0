/** One episode at a time, played in the page: its game, a person's actions, and records that it goes on from. */

import { create } from "zustand";
import {
  beginEpisode,
  type LiveEpisode,
  livePlay,
  type OpenedTask,
  type PlayTask,
  type Progress,
  reply,
  resumeEpisode,
  unanswered,
} from "../../../core/loop/index.ts";
import type { Episode, EpisodeDecision, Source } from "../../../core/record/schema.ts";
import { describeFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { PresentContext, TaskModel, TaskName, TaskRef } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { gamesWorker } from "../clients.ts";
import { getUi } from "../store.ts";
import { gameOf, opensByItself } from "./games.ts";
import { RemoteEnvironment } from "./internal/remote-environment.ts";
import { type RecordRef, readRecord } from "./play-record.ts";
import { asSource, type PlayedHere, playedNow } from "./played-records.ts";

/** Who can decide in place of the user. */
export const POLICIES = ["student", "teacher", "evidence"] as const;
export type Policy = (typeof POLICIES)[number];

/** A record that is played on from one of its decisions. */
export interface PlayedFrom extends RecordRef {
  /** The decision from which it is not repeated any more. */
  position: number;
  record: Source | Episode;
}

interface Play {
  game: TaskName | null;
  /** As it is now: another object after every decision. */
  episode: Pick<LiveEpisode, "task" | "start" | "turn" | "decisions" | "ended"> | null;
  /** Episodes that were played before it, in this visit to the page. */
  before: readonly PlayedHere[];
  from: PlayedFrom | null;
  /** A record whose game must be opened first. */
  waiting: PlayedFrom | null;
  /** The action that is being written. */
  draft: string;
  /** Number of the episode in the seeds of its responses. */
  repetition: number;
  /** Longest response in tokens; the environment's limit where null. */
  maxTokens: number | null;
  policy: Policy;
  /** What the environment or the games worker is asked for. */
  busy: boolean;
  /** What went wrong last, in one line. */
  problem: string | null;
  /** What the teacher was shown for the last decision that it made under evidence. */
  context: (PresentContext & { decision: number }) | null;
  /** State graph of the present task; null while nothing is played. */
  graph: TaskModel | null;
}

export const usePlay = create<Play>(() => ({
  game: null,
  episode: null,
  before: [],
  from: null,
  waiting: null,
  draft: "",
  repetition: 0,
  maxTokens: null,
  policy: "student",
  busy: false,
  problem: null,
  context: null,
  graph: null,
}));

/** Decisions of no record. */
const NOTHING = "[]";

const set = usePlay.setState;
const get = usePlay.getState;

/** An open library that has the task, the shown one first; null where none has. */
export function libraryWith({ environment, task }: TaskName): TaskRef | null {
  const { libraries, library } = getUi();
  const all = libraries
    .map(({ summary }) => summary)
    .sort((a, b) => Number(b === library) - Number(a === library));
  const found = all.find(({ tasks }) =>
    tasks.some((each) => each.task === task && each.environment === environment),
  );
  return found === undefined ? null : { library: found.id, environment, task };
}

/** The game is at work, or a model plays it: nothing else can be done with it. */
export const isPlayBusy = (): boolean => get().busy || getUi().playing !== null;

/** Does something with what was played; what goes wrong is said beside the episode. */
export async function reportPlay(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    set({ problem: describeFault(error) });
  }
}

const page = { library: libraryWorker, games: gamesWorker };

/** The episode that is played in the page. */
export class Player {
  #live: LiveEpisode | null = null;
  /** Decisions of the records that were saved last. */
  #saved = NOTHING;
  /** Episodes that were begun; the number of the present one. */
  #played = 0;
  readonly #drawings = new Latest();

  constructor(private readonly clients: typeof page) {}

  /** The episode that is played now; null while none is. */
  get present(): LiveEpisode | null {
    return this.#live;
  }

  /** The present episode and those before it, as records; without those in which nothing was decided. */
  records({ before, episode }: Pick<Play, "before" | "episode">): PlayedHere[] {
    return episode === null || this.#live === null || this.#live.decisions.length === 0
      ? [...before]
      : [...before, playedNow(this.#live, this.#played)];
  }

  #decisions(): string {
    return JSON.stringify(this.records(get()).map(({ decisions }) => decisions));
  }

  /** All that was played so far is in files. */
  markSaved(): void {
    this.#saved = this.#decisions();
  }

  /** Has the browser ask before the page goes with decisions that are in no file. Returns the undo. */
  askBeforeLoss(): () => void {
    const ask = (event: BeforeUnloadEvent): void => {
      const played = this.#decisions();
      if (played !== NOTHING && played !== this.#saved) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }

  /** Shows the episode as it is now. */
  show(change: Partial<Play> = {}): void {
    if (this.#live !== null) {
      const { task, opened, start, turn, decisions, ended } = this.#live;
      // Others may need the simulator. Where the episode is taken up again, its environment starts again.
      if (ended !== null) void opened.environment.close();
      set({ episode: { task, start, turn, decisions: [...decisions], ended }, ...change });
    } else set({ episode: null, graph: null, ...change });
    void this.#drawGraph();
  }

  /** The graph of all that was played of the task here, with what an open library has of it. */
  async #drawGraph(): Promise<void> {
    const isLatest = this.#drawings.begin();
    const { game } = get();
    if (this.#live === null || game === null) return;
    const earlier = get().before.filter(
      ({ task }) => task.task === game.task && task.environment === game.environment,
    );
    const sources = [...earlier, playedNow(this.#live, this.#played)].map((each, n) => asSource(each, n));
    try {
      const graph = await this.clients.library().tasks.playedTask(libraryWith(game), sources);
      if (isLatest()) set({ graph });
    } catch (error) {
      if (isLatest()) set({ graph: null, problem: describeFault(error) });
    }
  }

  /** Does something with the environment, one thing at a time; what goes wrong is said in one line. */
  async #act(work: () => Promise<void>): Promise<void> {
    if (isPlayBusy()) return;
    set({ busy: true, problem: null });
    await reportPlay(work);
    set({ busy: false });
  }

  /** Starts an episode of an open game; the one before is kept among the records of this visit. */
  start(game: TaskName): Promise<void> {
    return this.#act(() => this.#begin(game, null));
  }

  /** The same game from its beginning. */
  async reset(): Promise<void> {
    const { game } = get();
    if (game !== null) await this.start(game);
  }

  async #begin(game: TaskName, from: PlayedFrom | null): Promise<void> {
    const before = this.records(get());
    const left = this.#live;
    this.#live = null;
    this.#played += 1;
    set({ game, before, from, waiting: null, draft: "", context: null });
    this.show();
    await left?.opened.environment.close();
    const { environment, task: name } = game;
    const open = async () => new RemoteEnvironment(this.clients.games(), environment);
    const task = livePlay({ environment, task: name, open }, "evaluate", {
      episode: `${name}#played-${this.#played}`,
      repetition: get().repetition,
      seed: 0,
    });
    const opened = await task.open();
    try {
      this.#live = from === null ? await beginEpisode({ task, opened }) : await repeated(task, opened, from);
      // Null again where the record does not repeat.
      const repeats = get().from;
      this.show({ draft: repeats?.record.decisions[repeats.position]?.action ?? "" });
    } catch (error) {
      await opened.environment.close();
      throw error;
    }
  }

  /** A person's action. */
  act(text: string): Promise<void> {
    const action = text.trim();
    return this.#act(async () => {
      const live = this.#live;
      if (live === null || live.ended !== null || action === "") return;
      await reply(live, action, { by: "person" });
      this.show({ draft: "" });
    });
  }

  /** Takes the last decision back: the others are played once more. */
  undo(): Promise<void> {
    return this.#act(async () => {
      const live = this.#live;
      if (live === null || live.decisions.length === 0) return;
      const { task, opened, start } = live;
      const decisions = live.decisions.slice(0, -1);
      const resumed = await resumeEpisode(task, opened, progressOf(start.observation, decisions));
      if ("unanswered" in resumed) {
        // The game is somewhere else than the episode.
        live.ended = unanswered(resumed);
        this.show({ problem: `The decisions before it do not repeat: ${resumed.unanswered}.` });
        return;
      }
      this.#live = resumed;
      const { from } = get();
      const isPastIt = from !== null && decisions.length < from.position;
      this.show({ draft: "", context: null, ...(isPastIt ? { from: null } : {}) });
    });
  }

  /** Plays a record of an open library on from one of its decisions; where its game is not open, it waits for it. */
  async playOn(ref: RecordRef, position: number): Promise<void> {
    if (isPlayBusy()) return;
    navigate({ view: "play" }, "push");
    await this.#act(async () => {
      const from = { ...ref, position, record: await readRecord(ref) };
      if (!(await opensByItself(ref))) set({ waiting: from });
      else await this.#begin({ environment: ref.environment, task: ref.task }, from);
    });
  }

  /** Goes on with the record that waits, once its game is open. */
  async playWaiting(): Promise<void> {
    const { waiting } = get();
    if (waiting === null || gameOf(waiting) === null) return;
    const { environment, task } = waiting;
    await this.#act(() => this.#begin({ environment, task }, waiting));
  }
}

export const player = new Player(page);

/** The record up to its decision; where it does not repeat, the episode begins from its start and a line says why. */
async function repeated(task: PlayTask, opened: OpenedTask, from: PlayedFrom): Promise<LiveEpisode> {
  const decisions = from.record.decisions
    .slice(0, from.position)
    .map((decision): EpisodeDecision => ({ ...decision, by: "record" }));
  const resumed = await resumeEpisode(task, opened, progressOf(from.record.initial_observation, decisions));
  if (!("unanswered" in resumed)) return resumed;
  set({ from: null, problem: `${from.id} cannot be played on from here: ${resumed.unanswered}.` });
  return beginEpisode({ task, opened });
}

const progressOf = (initialObservation: string, decisions: readonly EpisodeDecision[]): Progress => ({
  initialObservation,
  decisions,
  attempts: Array.from({ length: decisions.length + 1 }, () => []),
});

export function forgetWaiting(): void {
  set({ waiting: null });
}

export function setPlay(change: Partial<Pick<Play, "draft" | "repetition" | "maxTokens" | "policy">>): void {
  set(change);
}
