import { describe, expect, it } from "vitest";
import fc from "../../../test/support/property.ts";
import { TASK_TYPES } from "../../core/environment/alfworld/task-types.ts";
import { Episode } from "./episode.ts";
import { Game } from "./game.ts";
import { makeGame } from "./generate.ts";
import { OptimalActions } from "./optimal.ts";

const after = (game: Game, commands: readonly string[]): Episode => {
  const episode = new Episode(game);
  for (const command of commands) episode.step(command);
  return episode;
};

/** Commands to the goal from where `path` leads, by breadth-first search; at most `limit`. */
function searched(game: Game, path: readonly string[], limit: number): number {
  let layer = [[...path]];
  const seen = new Set<string>();
  const key = (episode: Episode) =>
    episode
      .facts()
      .filter((fact) => !/^(?:not_|inspected)/.test(fact))
      .join(";");
  for (let distance = 0; distance <= limit; distance++) {
    const next: string[][] = [];
    for (const commands of layer) {
      const episode = after(game, commands);
      if (episode.won) return distance;
      if (seen.has(key(episode))) continue;
      seen.add(key(episode));
      for (const command of episode.admissible())
        if (!/^(?:look|help|inventory|examine|slice)/.test(command)) next.push([...commands, command]);
    }
    layer = next;
  }
  return Number.POSITIVE_INFINITY;
}

describe("optimal actions", () => {
  it("are those after which a breadth-first search needs one command less", () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.constantFrom(...TASK_TYPES),
        fc.array(fc.nat(1_000), { maxLength: 12 }),
        fc.integer({ min: 1, max: 2 }),
        (seed, type, picks, wanted) => {
          const game = new Game(makeGame(seed, "small", type), "made");
          const optimal = new OptimalActions(makeGame(seed, "small", type), new Episode(game));
          const path: string[] = [];
          const episode = new Episode(game);
          const step = (command: string) => {
            path.push(command);
            episode.step(command);
          };
          // Anywhere, and from there near the goal, where a search ends.
          for (const pick of picks) {
            const busy = episode
              .admissible()
              .filter((command) => !/^(?:go|look|help|inventory|examine)/.test(command));
            const from = pick % 3 === 0 || busy.length === 0 ? episode.admissible() : busy;
            if (!episode.won) step(from[pick % from.length]!);
          }
          while (!episode.won && optimal.at(episode).distance > wanted)
            step(optimal.at(episode).commands[0]!);
          const { commands, distance } = optimal.at(episode);
          expect(distance, path.join("; ")).toBe(searched(game, path, wanted));
          const nearer = episode.won
            ? []
            : episode
                .admissible()
                .filter((command) => searched(game, [...path, command], distance - 1) === distance - 1);
          expect(commands, path.join("; ")).toEqual(nearer);
        },
      ),
      { numRuns: 24 },
    );
  });

  it("win a game in as many commands as they say", () => {
    for (let seed = 0; seed < 24; seed++) {
      const made = makeGame(
        seed,
        seed % 2 === 0 ? "mini" : "small",
        undefined,
        seed % 2 === 0 ? 7 : undefined,
      );
      const episode = new Episode(new Game(made, made.task));
      const optimal = new OptimalActions(made, episode);
      const { distance } = optimal.at(episode);
      expect(distance, made.task).toBeLessThanOrEqual(made.walkthrough.length);
      for (let left = distance; left > 0; left--) {
        const { commands, distance: now } = optimal.at(episode);
        expect(now).toBe(left);
        episode.step(commands.at(-1)!);
      }
      expect(episode.won, made.task).toBe(true);
    }
  });
});
