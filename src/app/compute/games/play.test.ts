import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { plannedSource } from "../../../core/loop/index.ts";
import type { Source } from "../../../core/record/schema.ts";
import { setUi } from "../store.ts";
import { makeGames, useGames } from "./games.ts";
import { GamesService } from "./games-service.ts";
import { playOn, undoDecision, usePlay } from "./play.ts";
import { RemoteEnvironment } from "./remote-environment.ts";

const here = vi.hoisted(() => ({ navigate: vi.fn(), games: {}, records: [] as object[] }));

vi.mock("../../data/navigate.ts", () => ({ navigate: here.navigate }));
vi.mock("../clients.ts", () => ({ gamesWorker: () => here.games }));
vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({ sources: async () => here.records, playedTask: async () => null }),
}));

let record: Source;

beforeEach(async () => {
  const service = new GamesService();
  const games = {
    make: service.make.bind(service),
    openSession: async (environment: string) => service.openSession(environment),
    reset: service.reset.bind(service),
    step: service.step.bind(service),
    closeSession: service.closeSession.bind(service),
  };
  here.games = games;
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
  await playOn(from(), 2);
  expect(here.navigate).toHaveBeenCalledWith({ view: "play" }, "push");
  expect(usePlay.getState()).toMatchObject({
    ...{ problem: null, draft: record.decisions[2]!.action, from: { position: 2 } },
    episode: { decisions: [{ by: "record" }, { by: "record" }] },
  });
  await undoDecision();
  expect(usePlay.getState()).toMatchObject({ from: null, episode: { decisions: [{ by: "record" }] } });
});

it("a record that does not repeat leaves an episode at its start, a line that says why, and no action of it", async () => {
  here.records = [
    {
      ...record,
      decisions: record.decisions.map((each, t) => (t === 1 ? { ...each, feedback: "A bell." } : each)),
    },
  ];
  await playOn(from(), 3);
  expect(usePlay.getState()).toMatchObject({
    ...{ from: null, draft: "", episode: { decisions: [] } },
    problem: "planner:16 cannot be played on from here: the replay differs in decision 1: feedback.",
  });
});

it("while a model plays, no record is played on, and the view stays", async () => {
  setUi({ playing: { label: "", stopping: false } });
  await playOn(from(), 2);
  expect(here.navigate).not.toHaveBeenCalled();
  expect(usePlay.getState()).toMatchObject({ waiting: null, episode: null });
});
