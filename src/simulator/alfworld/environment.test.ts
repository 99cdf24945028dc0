import { expect, it } from "vitest";
import { InputError } from "../../core/errors.ts";
import { sha256OfParts } from "../../core/seeded.ts";
import { AlfworldEnvironment } from "./environment.ts";
import { Game } from "./game.ts";
import { alfworldGameSet } from "./game-set.ts";
import { makeGame } from "./generate.ts";

const made = makeGame(0);

function open(): AlfworldEnvironment {
  return new AlfworldEnvironment((task) => {
    if (task !== made.task) throw new InputError(`no game of ${task}`);
    return new Game(made, task);
  });
}

it("plays a game through the port, from the reset to the win", async () => {
  const environment = open();
  const start = await environment.reset(made.task);
  expect(start.feedback).toBe(`${start.observation}\n\nYour task is to: ${start.description}`);
  expect(start).toMatchObject({
    score: 0,
    done: false,
    success: false,
    state: { mode: "normal", options: {} },
  });
  for (const [at, command] of made.walkthrough.entries()) {
    const answer = await environment.step(command);
    const won = at === made.walkthrough.length - 1;
    expect(answer).toMatchObject({ status: "executed", score: won ? 1 : 0, done: won, success: won });
    expect(answer.observation).toBe(answer.feedback);
  }
  expect(await environment.reset(made.task)).toEqual(start);
});

it("a rejected action leaves state and offer as they are", async () => {
  const environment = open();
  const { state, offered } = await environment.reset(made.task);
  expect(await environment.step("fly away")).toMatchObject({ status: "rejected", state, offered });
});

it("a task without a game is refused", async () => {
  await expect(open().reset("another")).rejects.toThrow("no game of another");
});

it("keys are the same by WebCrypto, for episodes of one game at the same time", async () => {
  const texts = new Map([[made.task, { label: "made", read: async () => JSON.stringify(made) }]]);
  const keysOf = async (hash?: typeof sha256OfParts): Promise<string[][]> => {
    const games = alfworldGameSet(texts, hash === undefined ? {} : { hash });
    return Promise.all(
      [made.walkthrough, made.walkthrough.toReversed()].map(async (commands) => {
        const environment = games.open(made.task);
        const keys = [(await environment.reset(made.task)).state!.key];
        for (const command of commands) {
          const answer = await environment.step(command);
          if ("unanswered" in answer) throw new Error(answer.unanswered);
          keys.push(answer.state!.key);
        }
        return keys;
      }),
    );
  };
  const keys = await keysOf();
  expect(new Set(keys.flat()).size).toBeGreaterThan(made.walkthrough.length);
  expect(keys).toEqual(await keysOf(sha256OfParts));
});

it("keeps small games open, more than a batch of them, and asks again for one that could not be read", async () => {
  const reads = new Map<string, number>();
  const games = Array.from({ length: 100 }, (_, seed) => makeGame(seed, "mini"));
  let broken = true;
  const texts = new Map(
    games.map((game, n) => [
      game.task,
      {
        label: game.task,
        async read() {
          reads.set(game.task, (reads.get(game.task) ?? 0) + 1);
          if (n === 0 && broken) throw new InputError("cannot be read");
          return JSON.stringify(game);
        },
      },
    ]),
  );
  const set = alfworldGameSet(texts);
  await expect(set.plan!(games[0]!.task)).rejects.toThrow("cannot be read");
  broken = false;
  for (let round = 0; round < 2; round++) for (const { task } of games) await set.plan!(task);
  expect([...reads.values()]).toEqual([2, ...Array(99).fill(1)]);
});
