import { describe, expect, test } from "vitest";
import { plannedSource } from "../../../../core/loop/index.ts";
import type { Source } from "../../../../core/record/schema.ts";
import { makeGame } from "../../../../simulator/alfworld/generate.ts";
import { madeText } from "../../../../simulator/made-games.ts";
import { makeCatalogue } from "../../../../simulator/webshop/made-catalogue.ts";
import type { TaskName } from "../../../data/model.ts";
import { GamesService } from "./games-service.ts";
import { type GameSessions, RemoteEnvironment } from "./remote-environment.ts";

const HOUSEHOLD = { count: 7, seed: 0, size: "small" } as const;
const SHOP = { count: 1, seed: 3, products: 12 };
const file = (path: string, value: unknown) => ({ path, file: new Blob([JSON.stringify(value)]) });

/** The service as another thread sees it: every answer comes later. */
function remote(service: GamesService): GameSessions {
  return {
    openSession: async (environment: string) => service.openSession(environment),
    reset: (session: number, task: string) => service.reset(session, task),
    step: (session: number, action: string) => service.step(session, action),
    closeSession: (session: number) => service.closeSession(session),
  };
}

/** The record of a task's plan, played over sessions. */
async function planRecord(service: GamesService, name: TaskName): Promise<Source> {
  const plan = await service.plan(name);
  const environment = new RemoteEnvironment(remote(service), name.environment);
  const record = await plannedSource(environment, name, plan!, {
    source: "plan",
    repetition: 0,
    origin: { kind: "planner" },
  });
  await environment.close();
  return record!;
}

describe("making", () => {
  test("household games take turns among the types; a game made twice is there once", async () => {
    const service = new GamesService();
    await service.make("alfworld", HOUSEHOLD);
    const tasks = await service.make("alfworld", { ...HOUSEHOLD, count: 2, seed: 6 });
    expect(tasks).toHaveLength(8);
    expect(new Set(tasks.map(({ type }) => type)).size).toBe(6);
    expect(tasks[0]).toEqual({
      environment: "alfworld",
      task: "made/small/pick_and_place_simple-0",
      type: "pick_and_place_simple",
    });
  });

  test("a shop has its goals as tasks", async () => {
    const tasks = await new GamesService().make("webshop", SHOP);
    expect(tasks).toHaveLength(12);
    expect(tasks[3]).toEqual({ environment: "webshop", task: "made/shop-3/goal3", type: null });
  });

  test.each([
    ["alfworld", HOUSEHOLD],
    ["webshop", { ...SHOP, count: 3 }],
  ] as const)("it can be stopped, %s", async (environment, made) => {
    const service = new GamesService();
    const making = service.make(environment, made, ({ done }) => {
      if (done === 1) service.stopOpening();
    });
    if (environment === "alfworld") service.stopOpening();
    await expect(making).rejects.toMatchObject({ name: "AbortError" });
    expect(service.tasks()).toEqual([]);
  });

  test("what cannot be made is named by its key", async () => {
    const service = new GamesService();
    await expect(service.make("alfworld", { ...HOUSEHOLD, count: 0 })).rejects.toThrow("count: ");
    await expect(service.make("alfworld", SHOP)).rejects.toThrow("does not apply to alfworld");
  });
});

describe("opening", () => {
  const { task: _, ...unnamed } = makeGame(0);

  test("a game of a folder is called by its path in it, and what lies beside it is left", async () => {
    const service = new GamesService();
    const tasks = await service.open([
      file("train/pick_and_place_simple-Book/game.tw-pddl", unnamed),
      file("train/pick_and_place_simple-Book/traj_data.json", {}),
    ]);
    expect(tasks).toEqual([
      {
        environment: "alfworld",
        task: "pick_and_place_simple-Book/game.tw-pddl",
        type: "pick_and_place_simple",
      },
    ]);
  });

  test("games and catalogues at once, beside those that are open", async () => {
    const service = new GamesService();
    await service.make("alfworld", HOUSEHOLD);
    const tasks = await service.open([
      file("game.tw-pddl", unnamed),
      file("shop.json", makeCatalogue({ seed: 0, products: 2 })),
    ]);
    expect(tasks.slice(HOUSEHOLD.count).map(({ task }) => task)).toEqual([
      "game.tw-pddl",
      "made/shop-0/goal0",
      "made/shop-0/goal1",
    ]);
  });

  test.each([
    ["no game", [file("notes.txt", 1)], "notes.txt: no game among it"],
    ["a broken game", [file("a.tw-pddl", { grammar: "" })], "a.tw-pddl, pddl_domain"],
    [
      "one task twice",
      [file("a.tw-pddl", makeGame(1)), file("b.tw-pddl", makeGame(1))],
      "b.tw-pddl: a.tw-pddl",
    ],
  ])("%s opens nothing", async (_name, files, message) => {
    const service = new GamesService();
    await service.make("webshop", SHOP);
    await expect(service.open(files)).rejects.toThrow(message);
    expect(service.tasks()).toHaveLength(12);
  });

  test("it says how far it is", async () => {
    const told: number[] = [];
    const files = Array.from({ length: 45 }, (_, seed) => file(`${seed}.tw-pddl`, makeGame(seed)));
    await new GamesService().open(files, ({ done }) => told.push(done));
    expect(told).toEqual([20, 40, 45]);
  });

  test("it can be stopped", async () => {
    const service = new GamesService();
    const opening = service.open([file("a.tw-pddl", makeGame(1)), file("b.tw-pddl", makeGame(2))]);
    service.stopOpening();
    await expect(opening).rejects.toMatchObject({ name: "AbortError" });
    expect(service.tasks()).toEqual([]);
  });
});

test("games of the same names are told apart, those of the same texts are not", async () => {
  const game = makeGame(3);
  const opened = async (...files: ReturnType<typeof file>[]) => {
    const service = new GamesService();
    await service.open(files);
    return service.digest("alfworld", [game.task]);
  };
  const service = new GamesService();
  await service.make("alfworld", { ...HOUSEHOLD, count: 2, seed: 3 });
  const made = await service.digest("alfworld", [game.task]);
  const text = madeText(game);
  expect(await opened({ path: "a.tw-pddl", file: new Blob([text]) })).toBe(made);
  expect(await opened(file("a.tw-pddl", { ...game, walkthrough: [] }))).not.toBe(made);
  expect(() => service.digest("alfworld", ["b"])).toThrow('the game of "b" (alfworld) is not open');

  await service.make("webshop", SHOP);
  const goals = (...n: number[]) => n.map((goal) => `made/shop-3/goal${goal}`);
  // A shop's goals are of one text.
  expect(await service.digest("webshop", goals(0, 5))).toBe(await service.digest("webshop", goals(7)));
});

describe("playing", () => {
  test("a plan wins, in a household and in a shop, and its record verifies", async () => {
    const service = new GamesService();
    await service.make("alfworld", HOUSEHOLD);
    const tasks = await service.make("webshop", SHOP);
    for (const name of [tasks[0]!, tasks.at(-1)!]) {
      const record = await planRecord(service, name);
      expect(record.outcome).toMatchObject({ success: true, verified: true });
      expect(await service.verify(record)).toBeNull();
    }
  });

  test("an altered record says where it differs", async () => {
    const service = new GamesService();
    const [name] = await service.make("alfworld", HOUSEHOLD);
    const record = await planRecord(service, name!);
    const decisions = record.decisions.map((each, t) => (t === 2 ? { ...each, feedback: "Nothing." } : each));
    expect(await service.verify({ ...record, decisions })).toBe("decision 2: feedback");
    const outcome = { ...record.outcome, success: false };
    expect(await service.verify({ ...record, outcome })).toBe("the outcome");
  });

  test("sessions do not disturb each other, and one goes from task to task", async () => {
    const service = new GamesService();
    const [first, second] = await service.make("alfworld", HOUSEHOLD);
    const [a, b] = [service.openSession("alfworld"), service.openSession("alfworld")];
    const start = await service.reset(a, first!.task);
    await service.reset(b, first!.task);
    await service.step(b, "inventory");
    expect(await service.reset(a, second!.task)).not.toEqual(start);
    expect(await service.reset(a, first!.task)).toEqual(start);
    await service.closeSession(a);
    await expect(service.step(a, "look")).rejects.toThrow(`no session ${a} is open`);
  });

  test("what a worker that was ended leaves open is closed; the page's sessions go on", async () => {
    const service = new GamesService();
    const [name] = await service.make("alfworld", HOUSEHOLD);
    const [left, own] = [service.openSession("alfworld", "compute"), service.openSession("alfworld")];
    await service.reset(left, name!.task);
    await service.reset(own, name!.task);
    await service.closeSessionsOf("compute");
    await expect(service.step(left, "look")).rejects.toThrow(`no session ${left} is open`);
    expect(await service.step(own, "look")).toMatchObject({ done: false });
  });

  test("a task whose game is not open is named", async () => {
    const service = new GamesService();
    const session = service.openSession("alfworld");
    await expect(service.reset(session, "elsewhere")).rejects.toThrow(
      'the game of "elsewhere" (alfworld) is not open',
    );
  });
});
