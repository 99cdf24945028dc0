/**
 * ALFWorld's games beside Python TextWorld on the same walks: opening, steps with the admissible commands, and the
 * locator. First all answers are compared.
 *
 *     pip install alfworld textworld[pddl]
 *     npm run bench -- alfworld [--seconds 2 --games 6 --peer-steps 30]
 *
 * Seconds are of the processor, so that other work on the machine does not count.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { uniforms } from "../src/core/seeded.ts";
import { sha256OfParts } from "../src/node/sha256.ts";
import { Episode } from "../src/simulator/alfworld/episode.ts";
import { Game, type GameFile, type OpenOptions } from "../src/simulator/alfworld/game.ts";
import { makeGame } from "../src/simulator/alfworld/generate.ts";
import { alfworldGame, LIVE } from "../test/support/alfworld-games.ts";
import { median } from "./support/median.ts";
import { runPeer } from "./support/peer.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "2" },
    games: { type: "string", default: "6" },
    "peer-steps": { type: "string", default: "30" },
    peer: { type: "string", default: "bench/alfworld_peer.py" },
  },
});
const SECONDS = Number(options.seconds);
const STEPS = Number(options["peer-steps"]);
/** Decisions of an episode. */
const EPISODE = 30;

const recorded = (name: string): GameFile => {
  const { pddl_problem } = JSON.parse(readFileSync(join(LIVE, "games", name), "utf8")) as GameFile;
  return alfworldGame(pddl_problem, "measure");
};
const sets: [name: string, files: GameFile[]][] = [
  ["made, small", Array.from({ length: Number(options.games) }, (_, seed) => makeGame(seed, "small"))],
  ["made, large", Array.from({ length: Number(options.games) }, (_, seed) => makeGame(seed, "large"))],
  ["ALFWorld's domain, bedroom", [recorded("made_pick_two_obj_and_place-47.tw-pddl")]],
  ["ALFWorld's domain, kitchen", [recorded("made_pick_heat_then_place_in_recep-33.tw-pddl")]],
];

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Work per second of the processor, over at least SECONDS of it. */
function rate(work: () => number): number {
  work();
  const start = cpuSeconds();
  let done = 0;
  while (cpuSeconds() - start < SECONDS) done += work();
  return done / (cpuSeconds() - start);
}

/** Random admissible commands, an episode per game. */
function walk(games: readonly Game[], each: (episode: Episode) => void): () => number {
  const uniform = uniforms(1);
  return () => {
    for (const game of games) {
      const episode = new Episode(game);
      for (let i = 0; i < EPISODE; i++) {
        const commands = episode.admissible();
        episode.step(commands[Math.floor(uniform() * commands.length)]!);
        each(episode);
      }
    }
    return games.length * EPISODE;
  };
}

const folder = mkdtempSync(join(tmpdir(), "gcopd-bench-"));
interface PeerRow {
  set: string;
  open: number;
  reset: number;
  step: number;
  states: number;
  equal: number;
}
try {
  const walks: object[] = [];
  const rows = sets.map(([set, files]) => {
    const opening: number[] = [];
    const open = (hash?: OpenOptions["hash"]) =>
      files.map((file) => {
        const start = cpuSeconds();
        const game = new Game(file, set, hash === undefined ? {} : { hash });
        opening.push(1000 * (cpuSeconds() - start));
        return game;
      });
    const games = open();
    for (let i = 0; i < 4; i++) open();
    const native = open(sha256OfParts);
    const path = join(folder, `${sets.findIndex(([name]) => name === set)}.tw-pddl`);
    writeFileSync(path, JSON.stringify(files[0]));
    const episode = new Episode(games[0]!);
    const uniform = uniforms(2);
    const states = [
      { feedback: episode.opening().feedback, admissible: episode.admissible(), won: episode.won },
    ];
    const commands = Array.from({ length: STEPS }, () => {
      const admissible = episode.admissible();
      const command = admissible[Math.floor(uniform() * admissible.length)]!;
      const { feedback, won } = episode.step(command);
      states.push({ feedback, admissible: episode.admissible(), won });
      return command;
    });
    walks.push({ set, game: path, commands, states });
    return {
      set,
      operators: games[0]!.task.operators.length,
      open: median(opening),
      steps: rate(walk(games, () => undefined)),
      keys: rate(walk(games, (one) => void one.key("task"))),
      nativeKeys: rate(walk(native, (one) => void one.key("task"))),
    };
  });
  const file = join(folder, "walks.json");
  writeFileSync(file, JSON.stringify(walks));
  const peer = runPeer<PeerRow>(options.peer, [file]);
  const whole = (value: number) => Math.round(value).toLocaleString("en");
  const head = [
    "game",
    "operators",
    "open, ms",
    "steps/s with admissible commands",
    "with the locator",
    "with Node's SHA-256",
    "TextWorld: open + reset, ms",
    "step, ms",
    "steps, ours / TextWorld",
    "equal states",
  ];
  console.log(`| ${head.join(" | ")} |\n| --- |${" ---: |".repeat(head.length - 1)}`);
  for (const { set, operators, open, steps, keys, nativeKeys } of rows) {
    const other = peer.rows.find((row) => row.set === set);
    const beside =
      other === undefined
        ? ["", "", "", ""]
        : [
            whole(1000 * (other.open + other.reset)),
            (1000 * other.step).toFixed(1),
            `${whole(steps * other.step)}×`,
            `${other.equal} of ${other.states}`,
          ];
    const ours = [whole(operators), open.toFixed(1), whole(steps), whole(keys), whole(nativeKeys)];
    console.log(`| ${[set, ...ours, ...beside].join(" | ")} |`);
  }
  console.log(`\nNode ${process.version}, one thread, ${cpus()[0]?.model.trim()}. TextWorld: ${peer.note}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
