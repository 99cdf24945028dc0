import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { beginEpisode, livePlay } from "../../../core/loop/index.ts";
import { AlfworldEnvironment } from "../../../simulator/alfworld/environment.ts";
import { Game } from "../../../simulator/alfworld/game.ts";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import { presentEpisode, usePlay } from "../../compute/games/play.ts";
import { models } from "../../compute/models/models.ts";
import { getUi } from "../../compute/store.ts";
import { playPolicy, stopPolicy } from "./play-policy.ts";

/** The worker's answers that are open. */
const asked = vi.hoisted(() => ({ respond: vi.fn(), abort: vi.fn() }));

vi.mock("../../compute/models/models.ts", async (original) => {
  const { Models } = await original<typeof import("../../compute/models/models.ts")>();
  const models = Object.create(Models.prototype);
  const client = async () => ({ api: asked });
  return { models: Object.assign(models, { worker: client, ensure: client, endWorker: vi.fn() }) };
});
vi.mock("../../compute/games/play.ts", async (original) => ({
  ...(await original<typeof import("../../compute/games/play.ts")>()),
  presentEpisode: vi.fn(),
}));

/** Ends what hangs. */
const WAIT = { timeout: 60_000 };

beforeEach(async () => {
  vi.useFakeTimers();
  asked.respond.mockReset();
  const made = makeGame(6);
  const open = async () => new AlfworldEnvironment(() => new Game(made, made.task));
  const task = livePlay({ environment: "alfworld", task: made.task, open }, "evaluate", {
    ...{ episode: "e", repetition: 0, seed: 0 },
  });
  vi.mocked(presentEpisode).mockReturnValue(await beginEpisode({ task, opened: await task.open() }));
});
afterEach(() => {
  vi.useRealTimers();
  usePlay.setState(usePlay.getInitialState());
});

it("a stop ends its own run: one that begins and is stopped within its grace has a grace of its own", async () => {
  const ends: (() => void)[] = [];
  asked.respond.mockImplementation(
    () => new Promise((_, reject) => ends.push(() => reject(new DOMException("stopped", "AbortError")))),
  );
  const first = playPolicy("student", true);
  await vi.waitFor(() => expect(ends).toHaveLength(1), WAIT);
  void stopPolicy();
  ends[0]!();
  await first;
  await vi.advanceTimersByTimeAsync(500);
  const second = playPolicy("student", true);
  await vi.waitFor(() => expect(ends).toHaveLength(2), WAIT);
  void stopPolicy();
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
  asked.respond.mockRejectedValue(new DOMException("stopped", "AbortError"));
  await playPolicy("student", false);
  const limit = presentEpisode()!.task.maxTokens;
  expect(asked.respond).toHaveBeenCalledWith(
    "student",
    expect.objectContaining({ task: expect.objectContaining({ maxTokens: limit }) }),
  );
});
