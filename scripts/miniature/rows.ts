/**
 * Training rows of the miniature's models: a prompt, with or without evidence, and a response. Every game of the teacher's
 * has a world of its own, so that no habit helps and only reading does; its target is what is sensible for one who knows
 * what the row tells. The student imitates what a noisy planner did in worlds that are not the library's either.
 *
 *     node scripts/run.mjs scripts/miniature/rows.ts --role teacher --from 0 --count 1000 --out rows.bin
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import type { TextCodec } from "../../src/core/loop/index.ts";
import type { Episode } from "../../src/core/record/schema.ts";
import { seedOf, uniforms } from "../../src/core/seeded.ts";
import { openFolder } from "../../src/engine/native/node-folder.ts";
import { openTokenizer, textCodec } from "../../src/text/index.ts";
import { CONTEXTS, type ContextName, contextsOf } from "./contexts.ts";
import { kindOf, mentions, sensibleCommands } from "./sensible.ts";
import { MiniatureTask, responseTo } from "./task.ts";

export const ROLES = ["teacher", "student"] as const;
export type Role = (typeof ROLES)[number];

/** Worlds from here on belong to training; the library's lie below. */
export const TRAINING_WORLDS = 1_000_000;
/** Worlds of the student's episodes. */
export const STUDENT_WORLDS = 500_000_000;

/** How often a teacher's row is read in each context. */
const SHARES: Readonly<Record<ContextName, number>> = {
  none: 0.4,
  "hindsight-only": 0.15,
  "minimum-prefix": 0.12,
  "success-only": 0.15,
  graph: 0.18,
};
/** Of the student's teacher: how often it errs. */
const STUDENT_NOISE = 0.25;
/** Decisions of one episode that become rows. */
const DECISIONS = 6;
/** How often a teacher's row is drawn from the decisions whose prompt names the target: what is searched for has to be recognised. */
const SEEN = 0.5;

export interface Row {
  context: ContextName;
  promptIds: readonly number[];
  responseIds: readonly number[];
}

/** The rows of one game. */
export async function rowsOf(
  role: Role,
  seed: number,
  codec: TextCodec,
  promptFile?: string,
  studentNoise = STUDENT_NOISE,
): Promise<Row[]> {
  const draw = uniforms(seedOf(`row|${role}|${seed}`));
  const below = (count: number) => Math.floor(draw() * count);
  if (role === "student") {
    const task = new MiniatureTask(seed, STUDENT_WORLDS + seed, promptFile);
    const { episode } = await task.episode(0, studentNoise, codec);
    return episode.decisions.map(({ prompt_ids, response_ids }) => ({
      context: "none",
      promptIds: prompt_ids!,
      responseIds: response_ids!,
    }));
  }
  const task = new MiniatureTask(seed, TRAINING_WORLDS + seed, promptFile);
  const noise = 0.25 + 0.4 * draw();
  const sources = await Promise.all(
    Array.from({ length: 1 + below(16) }, (_, k) => task.source(k, noise, { trusted: true })),
  );
  const { episode, optimal } = await task.episode(0, 0.2 + 0.6 * draw(), codec);
  const contexts = await contextsOf(episode, sources, codec);
  const kind = kindOf(episode.task_description);
  const stands = placesOf(episode);
  const decisions = episode.decisions.map((_, t) => t);
  const seen = decisions.filter((t) => mentions(codec.decode(episode.decisions[t]!.prompt_ids!), kind));
  return Array.from({ length: DECISIONS }, () => {
    const among = seen.length > 0 && draw() < SEEN ? seen : decisions;
    const t = among[below(among.length)]!;
    const context = drawn(draw());
    const { promptIds } = contexts(context, t);
    const commands = sensibleCommands({
      kind,
      places: task.places,
      at: stands[t]!,
      text: codec.decode(promptIds),
      optimal: optimal[t]!,
    });
    const action = commands[below(commands.length)]!;
    return {
      context,
      promptIds,
      responseIds: [...codec.encode(responseTo(action)), codec.endOfTurnId],
    };
  });
}

/** Where the player stands at each decision. */
function placesOf({ decisions }: Episode): (string | null)[] {
  let at: string | null = null;
  return decisions.map(({ feedback }) => {
    const before = at;
    at = /^You walk to the (.*?)\. /.exec(feedback)?.[1] ?? at;
    return before;
  });
}

function drawn(at: number): ContextName {
  let sum = 0;
  for (const context of CONTEXTS) {
    sum += SHARES[context];
    if (at < sum) return context;
  }
  return "graph";
}

/** A row in a file: context, tokens before the response, all tokens, and the ids; 16 bits each. */
export function packRow({ context, promptIds, responseIds }: Row): Uint16Array {
  const ids = [...promptIds, ...responseIds];
  return Uint16Array.from([CONTEXTS.indexOf(context), promptIds.length, ids.length, ...ids]);
}

const { values } = parseArgs({
  options: {
    role: { type: "string", default: "teacher" },
    from: { type: "string", default: "0" },
    count: { type: "string", default: "100" },
    /** How often the planner errs that the student imitates. */
    noise: { type: "string", default: String(STUDENT_NOISE) },
    seconds: { type: "string", default: "1000000" },
    miniature: { type: "string", default: "public/miniature" },
    out: { type: "string" },
  },
  strict: false,
});
if (values.out !== undefined) {
  const codec = textCodec(await openTokenizer(openFolder(`${values.miniature}/tokenizer`)));
  const file = openSync(String(values.out), "w");
  const from = Number(values.from);
  const until = performance.now() + 1000 * Number(values.seconds);
  let [rows, tokens, games] = [0, 0, 0];
  for (let seed = from; seed < from + Number(values.count) && performance.now() < until; seed++) {
    games++;
    for (const row of await rowsOf(
      values.role as Role,
      seed,
      codec,
      `${values.miniature}/prompt.json`,
      Number(values.noise),
    )) {
      const packed = packRow(row);
      writeSync(file, new Uint8Array(packed.buffer));
      rows++;
      tokens += packed[2]!;
    }
  }
  closeSync(file);
  console.log(`${values.out}: ${games} games, ${rows} rows, ${tokens} tokens`);
}
