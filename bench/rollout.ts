/**
 * Rollouts: decisions per second of many episodes of made games in step with each other, beside a plain transformers loop
 * over the same prompts. Random weights and no end token, so that each reply has `--tokens` tokens; what they say would be
 * noise, so a random admissible command takes its place and the games go on.
 *
 *     npm run bench -- rollout [--model 1.7b --episodes 32 --decisions 8 --tokens 64 --size large]
 *
 * Without options: Qwen3-1.7B on a GPU, a model of toy size on a software adapter.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOM_SIZES } from "../src/core/environment/made-config.ts";
import { livePlay } from "../src/core/loop/live-task.ts";
import { play } from "../src/core/loop/play.ts";
import type { Environment, Sampler } from "../src/core/ports.ts";
import { seedOf, uniforms } from "../src/core/seeded.ts";
import { openFolder } from "../src/engine/native/node-folder.ts";
import { AlfworldEnvironment } from "../src/simulator/alfworld/environment.ts";
import { Game } from "../src/simulator/alfworld/game.ts";
import { makeGame } from "../src/simulator/alfworld/generate.ts";
import { openTokenizer, textCodec } from "../src/text/index.ts";
import { openAdapter, watchMemory } from "./support/device.ts";
import { numberOr, sizeNamed } from "./support/options.ts";
import { type BenchRow, printTable, runPeer } from "./support/peer.ts";
import { modelName } from "./support/qwen3-sizes.ts";
import { randomModel } from "./support/random-model.ts";

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    episodes: { type: "string" },
    decisions: { type: "string" },
    tokens: { type: "string" },
    size: { type: "string" },
    tokenizer: { type: "string", default: "public/sample/tokenizer" },
    "no-peer": { type: "boolean", default: false },
    peer: { type: "string", default: "bench/rollout_peer.py" },
  },
});

const { backend, toggles, operands } = await openAdapter(undefined);
const { software, description } = backend;
const name = options.model ?? (software ? "tiny" : "1.7b");
const config = sizeNamed(name);
const episodes = numberOr(options.episodes, software ? 2 : 32);
const decisions = numberOr(options.decisions, software ? 2 : 8);
const tokens = numberOr(options.tokens, software ? 4 : 64);
const sizeName = options.size ?? (software ? "small" : "large");
const size = ROOM_SIZES.find((known) => known === sizeName);
if (size === undefined) throw new Error(`--size: one of ${ROOM_SIZES.join(", ")}`);

const codec = textCodec(await openTokenizer(openFolder(options.tokenizer)));
const watch = watchMemory();
const model = await randomModel(backend, config, operands);
const games = Array.from({ length: episodes }, (_, seed) => {
  const { task, ...file } = makeGame(seed, size);
  return { task, game: new Game(file, task) };
});

/** What each episode's environment offers now. */
const offered = new Map<string, readonly string[]>();
/** Prompts of each round, and the time that the model took for it. */
const rounds: (readonly number[])[][] = [];
let sampling = 0;

function watched(episode: string, environment: Environment): Environment {
  const note = <T extends object>(turn: T): T => {
    if ("offered" in turn && turn.offered) {
      offered.set(episode, (turn.offered as { commands: readonly string[] }).commands);
    }
    return turn;
  };
  return {
    reset: async (task) => note(await environment.reset(task)),
    step: async (action) => note(await environment.step(action)),
    close: () => environment.close(),
  };
}

const sampler: Sampler = {
  async sample(requests) {
    rounds.push(requests.map(({ promptIds }) => promptIds));
    const start = performance.now();
    await model.generateAll(
      requests.map(({ promptIds, temperature, seed }) => ({
        promptIds,
        temperature,
        uniform: uniforms(seed),
        maxTokens: tokens,
      })),
    );
    sampling += performance.now() - start;
    return requests.map(({ id, seed }) => {
      const commands = offered.get(id)!;
      const command = commands[Math.floor(uniforms(seed)() * commands.length)]!;
      const responseIds = [
        ...codec.encode(`<think>Look around.</think><action>${command}</action>`),
        codec.endOfTurnId,
      ];
      return { id, responseIds, logprobs: new Float32Array(responseIds.length), stop: "stop" };
    });
  },
};

/** Plays all games for some decisions. @returns decisions made */
async function rollOut(most: number): Promise<number> {
  let made = 0;
  const tasks = games.map(({ task, game }, n) =>
    livePlay(
      {
        environment: "alfworld",
        task,
        open: async () => watched(`${n}`, new AlfworldEnvironment(() => game)),
        maxDecisions: most,
        maxTokens: tokens,
      },
      "evaluate",
      { episode: `${n}`, repetition: 0, seed: seedOf(task) },
    ),
  );
  await play(tasks, sampler, codec, (played) => {
    made += played.decisions.length;
  });
  return made;
}

// The first decisions make kernels and the cache.
await rollOut(2);
model.forgetPrefixes();
rounds.length = 0;
sampling = 0;
const start = performance.now();
const made = await rollOut(decisions);
const seconds = (performance.now() - start) / 1000;
const prompts = rounds.flat();
const memory = watch.stop();
model.dispose();
backend.dispose();

const pair = "rollout";
const what = `${episodes} episodes × ${decisions} decisions of ${tokens} tokens`;
const row: BenchRow = { what, tokens: made * tokens, seconds, pair, memory };
const scratch = mkdtempSync(join(tmpdir(), "gcopd-rollout-"));
const file = join(scratch, "rounds.json");
writeFileSync(file, JSON.stringify(rounds));
const peer = options["no-peer"]
  ? { note: "not run", rows: [] }
  : runPeer(options.peer, [`--model=${name}`, `--response=${tokens}`, `--rounds=${file}`]);
rmSync(scratch, { recursive: true });
const lengths = prompts.map(({ length }) => length).sort((a, b) => a - b);
console.log(
  `${modelName(name)} on ${description}${software ? " (software)" : ""}; toggles: ${toggles || "none"}; operands ` +
    `${operands}; prompts of ${lengths[0]} to ${lengths.at(-1)} tokens, ${lengths[lengths.length >> 1]} in the middle.\n` +
    `${made} decisions: ${(made / seconds).toPrecision(3)} per second; ${((100 * sampling) / 1000 / seconds).toFixed(1)} % of ` +
    "the time in the model, the rest in games, prompts and tokenizer.\n",
);
printTable([row], peer);
