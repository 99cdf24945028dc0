import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Pending } from "../../../../test/support/fake.ts";
import { InputError } from "../../../core/errors.ts";
import { plannedSource } from "../../../core/loop/index.ts";
import type { Source } from "../../../core/record/schema.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { gamesWorker } from "../clients.ts";
import { setUi } from "../store.ts";
import { makeGames, useGames } from "./games.ts";
import { GamesService } from "./internal/games-service.ts";
import { RemoteEnvironment } from "./internal/remote-environment.ts";
import { forgetWaiting, Player, usePlay } from "./play.ts";

const here = vi.hoisted(() => ({ navigate: vi.fn(), games: {}, records: [] as object[] }));

vi.mock("../../data/navigate.ts", () => ({ navigate: here.navigate }));
vi.mock("../clients.ts", () => ({ gamesWorker: () => here.games }));
vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({ tasks: { sources: async () => here.records, playedTask: async () => null } }),
}));

let record: Source;
let player: Player;
/** Holds or changes what the game answers to an action. */
let step: GamesService["step"];

beforeEach(async () => {
  const service = new GamesService();
  const games = {
    make: service.make.bind(service),
    openSession: async (environment: string) => service.openSession(environment),
    reset: service.reset.bind(service),
    step: (...asked: Parameters<GamesService["step"]>) => step(...asked),
    closeSession: service.closeSession.bind(service),
  };
  here.games = games;
  step = service.step.bind(service);
  player = new Player({ library: libraryWorker, games: gamesWorker });
  await makeGames("alfworld", { count: 1, seed: 6, size: "small" });
  const [game] = useGames.getState().tasks;
  const plan = await service.plan(game!);
  const planned = await plannedSource(new RemoteEnvironment(games, "alfworld"), game!, plan!, {
    ...{ source: "planner:16", repetition: 16, origin: { kind: "planner" } },
  });
  record = planned!;
  here.records = [record];
});

afterEach(() => {
  setUi({ playing: null });
  usePlay.setState(usePlay.getInitialState());
  here.navigate.mockClear();
});

const from = () => ({
  ...{ library: "l", environment: "alfworld", task: record.task },
  ...{ kind: "source" as const, id: "planner:16" },
});

it("plays a record on; taken back to before its decision, the episode is no longer one that goes on from it", async () => {
  await player.playOn(from(), 2);
  expect(here.navigate).toHaveBeenCalledWith({ view: "play" }, "push");
  expect(usePlay.getState()).toMatchObject({
    ...{ problem: null, draft: record.decisions[2]!.action, from: { position: 2 } },
    episode: { decisions: [{ by: "record" }, { by: "record" }] },
  });
  await player.undo();
  expect(usePlay.getState()).toMatchObject({ from: null, episode: { decisions: [{ by: "record" }] } });
});

it("a record that does not repeat leaves an episode at its start, a line that says why, and no action of it", async () => {
  here.records = [
    {
      ...record,
      decisions: record.decisions.map((each, t) => (t === 1 ? { ...each, feedback: "A bell." } : each)),
    },
  ];
  await player.playOn(from(), 3);
  expect(usePlay.getState()).toMatchObject({
    ...{ from: null, draft: "", episode: { decisions: [] } },
    problem: "planner:16 cannot be played on from here: the replay differs in decision 1: feedback.",
  });
});

it("while a model plays, no record is played on, and the view stays", async () => {
  setUi({ playing: { label: "", stopping: false } });
  await player.playOn(from(), 2);
  expect(here.navigate).not.toHaveBeenCalled();
  expect(usePlay.getState()).toMatchObject({ waiting: null, episode: null });
});

const game = () => ({ environment: "alfworld", task: record.task });
const played = () => usePlay.getState().episode?.decisions.map(({ action, by }) => [action, by]);

it("a press while the game is at work does nothing", async () => {
  await player.start(game());
  const [now, held] = [step, new Pending()];
  step = async (...asked) => {
    await held.promise;
    return now(...asked);
  };
  const first = player.act("look");
  await player.act("inventory");
  await player.reset();
  await player.undo();
  expect(usePlay.getState()).toMatchObject({ busy: true, before: [] });
  held.resolve();
  await first;
  expect(played()).toEqual([["look", "person"]]);
  expect(usePlay.getState().busy).toBe(false);
});

it("a fault leaves the episode as it was, and the next press works", async () => {
  await player.start(game());
  const now = step;
  step = () => {
    throw new InputError("the games are gone");
  };
  await player.act("look");
  expect(usePlay.getState()).toMatchObject({
    busy: false,
    problem: expect.stringContaining("games are gone"),
  });
  expect(played()).toEqual([]);
  step = now;
  await player.act("look");
  expect([played(), usePlay.getState().problem]).toEqual([[["look", "person"]], null]);
});

it("an episode that was played stays among the records when another begins; one without a decision does not", async () => {
  await player.start(game());
  await player.reset();
  await player.act("look");
  await player.reset();
  const records = player.records(usePlay.getState());
  expect(records.map(({ task, decisions }) => [task.episode, decisions.length])).toEqual([
    [expect.stringContaining("#played-2"), 1],
  ]);
});

it("where the decisions before the last do not repeat, the episode is over: its game is somewhere else", async () => {
  await player.start(game());
  await player.act("look");
  await player.act("inventory");
  const now = step;
  step = async (...asked) => ({ ...(await now(...asked)), feedback: "A bell." });
  await player.undo();
  expect(usePlay.getState()).toMatchObject({
    ...{ problem: expect.stringContaining("do not repeat"), busy: false },
    episode: { ended: { ended: "technical", complete: false } },
  });
  step = now;
  await player.act("look");
  expect(played()).toHaveLength(2);
  await player.undo();
  expect(usePlay.getState()).toMatchObject({ problem: null, episode: { ended: null } });
  expect(played()).toEqual([["look", "person"]]);
});

it("a record waits for its game, and begins once it is open; a forgotten one does not", async () => {
  const { tasks } = useGames.getState();
  useGames.setState({ tasks: [] });
  await player.playOn(from(), 1);
  await player.playWaiting();
  expect(usePlay.getState()).toMatchObject({ waiting: { id: "planner:16" }, episode: null });
  useGames.setState({ tasks });
  await player.playWaiting();
  expect(usePlay.getState()).toMatchObject({ waiting: null, from: { position: 1 } });
  expect(played()).toHaveLength(1);
  useGames.setState({ tasks: [] });
  await player.playOn(from(), 1);
  forgetWaiting();
  useGames.setState({ tasks });
  await player.playWaiting();
  expect(player.records(usePlay.getState())).toHaveLength(1);
});

it("asks before the page goes with decisions that are in no file", async () => {
  const page = new EventTarget();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  const leave = player.askBeforeLoss();
  const asks = (): boolean => {
    const closing = new Event("beforeunload", { cancelable: true });
    page.dispatchEvent(closing);
    return closing.defaultPrevented;
  };
  expect(asks()).toBe(false);
  await player.playOn(from(), 2);
  expect(asks()).toBe(true);
  player.markSaved();
  expect(asks()).toBe(false);
  await player.act(record.decisions[2]!.action!);
  expect(asks()).toBe(true);
  leave();
  expect(asks()).toBe(false);
  vi.unstubAllGlobals();
});
