import { describe, expect, it } from "vitest";
import { PlainWorld } from "../../../test/support/plain-pddl.ts";
import fc from "../../../test/support/property.ts";
import { TASK_TYPES } from "../../core/environment/alfworld/task-types.ts";
import { ROOM_SIZES, type RoomSize } from "../../core/environment/made-config.ts";
import { sha256Hex } from "../../core/seeded.ts";
import { Episode } from "./episode.ts";
import { Game } from "./game.ts";
import { makeGame, splitOf } from "./generate.ts";
import { displayNames } from "./names.ts";

const open = (seed: number, size?: RoomSize) => {
  const made = makeGame(seed, size);
  return { made, game: new Game(made, made.task) };
};

describe("made games", () => {
  it.each(ROOM_SIZES)("are won by their walkthroughs, and not before: %s", (size) => {
    const count = { small: 200, medium: 24, large: 6, mini: 60 }[size];
    for (let seed = 0; seed < count; seed++) {
      const { made, game } = open(seed, size);
      const episode = new Episode(game);
      const offered = [episode.admissible().length];
      const won = made.walkthrough.map((command) => {
        const turn = episode.step(command);
        offered.push(episode.admissible().length);
        return turn.accepted && turn.won;
      });
      expect(won, `${made.task}: ${made.walkthrough.join("; ")}`).toEqual(
        made.walkthrough.map((_, at) => at === made.walkthrough.length - 1),
      );
      if (size === "small") {
        expect(Math.min(...offered), made.task).toBeGreaterThanOrEqual(12);
        expect(Math.max(...offered), made.task).toBeLessThanOrEqual(20);
      }
    }
  });

  it("have all six types by turns, ids of their own, and the task in the opening", () => {
    const games = [...TASK_TYPES.keys()].map((seed) => open(seed));
    expect(games.map(({ made }) => made.type)).toEqual(TASK_TYPES);
    for (const { made, game } of games) {
      expect(made.task).toBe(`made/small/${made.type}-${made.seed}`);
      expect(new Episode(game).opening().feedback).toMatch(/^You stand in .*\.\n\nYour task is to: .*\.$/);
    }
  });

  it("follow from the seed, and differ between seeds", () => {
    expect(makeGame(5)).toEqual(makeGame(5));
    const problems = Array.from({ length: 120 }, (_, i) => makeGame(6 * i + 1).pddl_problem);
    expect(new Set(problems).size).toBe(120);
  });

  it("of a world keep things where its habits say, and differ in their layouts", () => {
    const homes = (world?: number) => {
      const counts = new Map<string, number>();
      for (let seed = 0; seed < 240; seed++) {
        const { pddl_problem: problem } = makeGame(seed, "mini", undefined, world);
        const kind = /\(kind \?i (\w+)\)/.exec(problem)![1]!;
        const place = new RegExp(`\\(in ${kind}_bar_01 (\\w+)\\)`).exec(problem)![1]!;
        counts.set(`${kind} ${place}`, (counts.get(`${kind} ${place}`) ?? 0) + 1);
      }
      // How many targets lie in their kind's most frequent place.
      const most = new Map<string, number>();
      for (const [key, count] of counts) {
        const kind = key.split(" ")[0]!;
        most.set(kind, Math.max(most.get(kind) ?? 0, count));
      }
      return [...most.values()].reduce((sum, count) => sum + count, 0) / 240;
    };
    expect(homes(3)).toBeGreaterThan(0.65);
    expect(homes(3)).toBeLessThan(0.85);
    expect(homes()).toBeLessThan(0.4);
    expect(makeGame(5, "mini", undefined, 3)).toEqual(makeGame(5, "mini", undefined, 3));
    expect(makeGame(5, "mini", undefined, 3).task).toBe("made/mini/world-3/pick_clean_then_place_in_recep-5");
    expect(makeGame(5, "mini", undefined, 3).pddl_problem).not.toBe(
      makeGame(5, "mini", undefined, 4).pddl_problem,
    );
    const problems = Array.from(
      { length: 60 },
      (_, seed) => makeGame(seed, "mini", undefined, 3).pddl_problem,
    );
    expect(new Set(problems.map((problem) => problem.replace(/made-\d+/, ""))).size).toBe(60);
  });

  it("without a world are today's games bit for bit", () => {
    const digest = (games: unknown[]) => sha256Hex(JSON.stringify(games));
    const seeds = [0, 1, 2, 3, 4, 5];
    expect(digest(seeds.map((seed) => makeGame(seed)))).toBe(
      "fa1470c00b62eba3e791b2c0e9d7f76c1298ffc5285953a2996da912a2a11720",
    );
    expect(digest(seeds.map((seed) => makeGame(seed, "large")))).toBe(
      "726cda875445f0e8e9f14919d53cf997e38afe1e4feb9cc5fa11d57fe9f850c6",
    );
  });

  it("are split by ranges of seeds", () => {
    expect([0, 999_999, 1_000_000, 1_500_000, 2_000_000].map(splitOf)).toEqual([
      "train",
      "train",
      "valid",
      "test",
      null,
    ]);
  });

  it("a lamp goes on and off by one command", () => {
    const { made, game } = open(1);
    const episode = new Episode(game);
    for (const command of made.walkthrough) episode.step(command);
    const use = made.walkthrough.at(-1)!;
    expect(use).toMatch(/^use /);
    expect(episode.step(use)).toMatchObject({ feedback: expect.stringContaining("switch off"), won: false });
    expect(episode.step(use)).toMatchObject({ feedback: expect.stringContaining("switch on"), won: true });
  });
});

describe("the engine against a plain reading of the same PDDL", () => {
  /** How the made grammar types each action. */
  const templates = (grammar: string) =>
    new Map(
      [...grammar.matchAll(/action ([\w-]+) \{\s*template :: "([^"]*)"/g)].map(([, name, template]) => [
        name!,
        template!,
      ]),
    );

  it("commands, facts and the goal agree on random walks", () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.array(fc.nat(1_000), { minLength: 1, maxLength: 8 }), (seed, picks) => {
        const { made, game } = open(seed);
        const episode = new Episode(game);
        const plain = new PlainWorld(made.pddl_domain, made.pddl_problem);
        const types = new Map(game.task.objects.map((id, at) => [id, game.task.types[at]!]));
        const known = new Set(game.task.init.flatMap((atom) => [...game.task.atoms[atom]!.arguments]));
        const names = displayNames([...known].map((object) => game.task.objects[object]!));
        const template = templates(made.grammar);
        const printed = (fact: string) => {
          const [predicate, ...terms] = fact.split(" ");
          return `${predicate}(${terms.map((id) => `${names.get(id)}: ${types.get(id)}`).join(", ")})`;
        };
        const check = () => {
          const commands = new Map<string, { action: string; bound: Readonly<Record<string, string>> }>();
          for (const choice of plain.applicable()) {
            const { action, bound } = choice;
            // Going where one stands changes nothing, and is not a command.
            if (action === "go" && bound["?from"] === bound["?r"]) continue;
            const text = template
              .get(action)!
              .replace(/\{(\w+)\}/g, (_, name) => names.get(bound[`?${name}`]!)!);
            commands.set(text, choice);
          }
          expect(episode.admissible()).toEqual([...commands.keys()].sort());
          const facts = episode.facts().filter((fact) => !fact.startsWith("not_"));
          expect(facts).toEqual([...plain.facts].map(printed).sort());
          expect(episode.won).toBe(plain.won);
          return commands;
        };
        for (const pick of picks) {
          const commands = check();
          // Every other command is of the plan's kind, so that things are picked up and used.
          const busy = [...commands].filter(([text]) => !/^(?:go|look|help|inventory|examine)/.test(text));
          const from = pick % 2 === 0 && busy.length > 0 ? busy : [...commands];
          const [text, { action, bound }] = from[pick % from.length]!;
          expect(episode.step(text).accepted).toBe(true);
          plain.apply(action, bound);
        }
        check();
      }),
      { numRuns: 10 },
    );
  });
});
