import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { DeviceError } from "../../../core/errors.ts";
import { beginEpisode, type LiveEpisode, livePlay } from "../../../core/loop/index.ts";
import { AlfworldEnvironment } from "../../../simulator/alfworld/environment.ts";
import { Game } from "../../../simulator/alfworld/game.ts";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import type { ComputeClient } from "../../compute/clients.ts";
import { usePlay } from "../../compute/games/play.ts";
import { getUi, setUi } from "../../compute/store.ts";
import { PlayPolicy } from "./play-policy.ts";

/** The worker's answers that are open. */
let respond: ReturnType<typeof vi.fn<ComputeClient["api"]["respond"]>>;
let models: Clients["models"];
let present: LiveEpisode;
let policy: PlayPolicy;

type Clients = ConstructorParameters<typeof PlayPolicy>[0];

beforeEach(async () => {
  vi.useFakeTimers();
  respond = vi.fn();
  const made = makeGame(6);
  const open = async () => new AlfworldEnvironment(() => new Game(made, made.task));
  const task = livePlay({ environment: "alfworld", task: made.task, open }, "evaluate", {
    ...{ episode: "e", repetition: 0, seed: 0 },
  });
  present = await beginEpisode({ task, opened: await task.open() });
  const client = fake<ComputeClient>({ api: fake<ComputeClient["api"]>({ respond }) });
  models = fake<Clients["models"]>({
    ensure: vi.fn(async () => client),
    endWorker: vi.fn(),
    stopWork: async (goesOn) => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      if (goesOn()) models.endWorker();
      return goesOn();
    },
  });
  policy = new PlayPolicy({
    models,
    player: fake<Clients["player"]>({ present, show: vi.fn() }),
    library: () => fake({}),
  });
});
afterEach(() => {
  vi.useRealTimers();
  usePlay.setState(usePlay.getInitialState());
});

it("a stop ends its own run: one that begins and is stopped within its grace has a grace of its own", async () => {
  const ends: (() => void)[] = [];
  respond.mockImplementation(
    () => new Promise((_, reject) => ends.push(() => reject(new DOMException("stopped", "AbortError")))),
  );
  const first = policy.start("student", true);
  await until(() => expect(ends).toHaveLength(1));
  void policy.stop();
  ends[0]!();
  await first;
  await vi.advanceTimersByTimeAsync(500);
  const second = policy.start("student", true);
  await until(() => expect(ends).toHaveLength(2));
  void policy.stop();
  await vi.advanceTimersByTimeAsync(1200);
  expect(models.endWorker).not.toHaveBeenCalled();
  expect(getUi().playing).toMatchObject({ stopping: true });
  await vi.advanceTimersByTimeAsync(600);
  expect(models.endWorker).toHaveBeenCalledOnce();
  await second;
  expect(getUi().playing).toBeNull();
});

it("the longest response is no longer than the environment's limit", async () => {
  usePlay.setState({ maxTokens: 1_000_000 });
  respond.mockRejectedValue(new DOMException("stopped", "AbortError"));
  await policy.start("student", false);
  const limit = present.task.maxTokens;
  expect(respond).toHaveBeenCalledWith(
    "student",
    expect.objectContaining({ task: expect.objectContaining({ maxTokens: limit }) }),
  );
});

it("to the end of the episode a model decides again and again, until it is stopped after a decision", async () => {
  respond.mockImplementation(async () => {
    if (respond.mock.calls.length === 3) void policy.stop();
    return { response: "Action: look" };
  });
  await policy.start("student", true);
  expect(present.decisions).toHaveLength(3);
  expect(getUi().playing).toBeNull();
  await policy.start("teacher", false);
  expect(present.decisions.map(({ by }) => by)).toEqual(["student", "student", "student", "teacher"]);
});

it("stopped before the model is asked, it is not asked, and its worker lives on", async () => {
  const opening = new Pending<ComputeClient>();
  vi.mocked(models.ensure).mockReturnValueOnce(opening.promise);
  const run = policy.start("student", true);
  const stopped = policy.stop();
  opening.resolve(fake<ComputeClient>({ api: fake<ComputeClient["api"]>({ respond }) }));
  await run;
  await vi.advanceTimersByTimeAsync(1500);
  await stopped;
  expect(respond).not.toHaveBeenCalled();
  expect(models.endWorker).not.toHaveBeenCalled();
});

it("while a model is at work none is asked; a failed device ends its worker, and a line says why", async () => {
  setUi({ liveRun: "r" });
  await policy.start("student", false);
  expect(usePlay.getState().problem).toContain("a model is at work");
  setUi({ liveRun: null });
  respond.mockRejectedValueOnce(new DeviceError("the device was lost", "lost"));
  await policy.start("student", false);
  expect(models.endWorker).toHaveBeenCalledOnce();
  expect(usePlay.getState().problem).toContain("the device was lost");
  expect([getUi().playing, present.decisions]).toEqual([null, []]);
});
