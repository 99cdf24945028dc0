/**
 * Writes the miniature's library: the noisy planner's K = 16 executions of each task of one world, verified by replay, and
 * student episodes with their optimal actions, and each game's walkthrough as a planner record.
 *
 *     node scripts/run.mjs scripts/miniature/library.ts [--student public/miniature/student]
 *     node scripts/run.mjs scripts/miniature/library.ts --noise 0.3
 *
 * Without a student's model the noisy planner plays in its place. `--noise` writes another library of the same tasks: its
 * executions, and a manifest that names the first library's files for everything else.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { evaluationEpisodes, play } from "../../src/core/loop/index.ts";
import type { Episode, Source } from "../../src/core/record/schema.ts";
import { ModelTrainer } from "../../src/engine/native/index.ts";
import { createNodeBackend, openFolder } from "../../src/engine/native/node.ts";
import { openTokenizer, textCodec } from "../../src/text/index.ts";
import { MiniatureTask, type OptimalAt } from "./task.ts";

/** The library's world, and the seeds of its tasks; those of unseen tasks follow. */
export const WORLD = 1;
export const TASKS = 96;
const REPETITIONS = 16;
/** How often the generator errs: its executions then solve 55 to 65 % of the tasks. */
export const NOISE = 0.57;

const { values } = parseArgs({
  options: {
    out: { type: "string", default: "public/miniature" },
    student: { type: "string" },
    noise: { type: "string" },
  },
});
const codec = textCodec(await openTokenizer(openFolder(`${values.out}/tokenizer`)));
const tasks = Array.from({ length: TASKS }, (_, seed) => new MiniatureTask(seed, WORLD));

const noise = values.noise === undefined ? NOISE : Number(values.noise);
if (!(noise >= 0 && noise <= 1))
  throw new Error(`--noise: expected a share from 0 to 1, received ${values.noise}`);
/** The end of the names of files that belong to another noise than the first library's. */
const suffix = values.noise === undefined ? "" : `-${Math.round(100 * noise)}`;

const sources: Source[] = [];
for (const task of tasks) for (let k = 0; k < REPETITIONS; k++) sources.push(await task.source(k, noise));

const lines = (records: readonly object[]) =>
  gzipSync(records.map((record) => `${JSON.stringify(record)}\n`).join(""), { level: 9 });
const covered = tasks.filter(({ task }) => sources.some((s) => s.task === task && s.outcome.success)).length;
const said =
  `${sources.length} sources, ${covered} of ${TASKS} tasks solved, ` +
  `${sources.filter(({ outcome }) => outcome.success).length} successes`;
writeFileSync(`${values.out}/sources${suffix}.jsonl.gz`, lines(sources));
const manifest = {
  title:
    suffix === ""
      ? "A miniature household world"
      : `A miniature household world, ${suffix.slice(1)} % random`,
  sources: `sources${suffix}.jsonl.gz`,
  episodes: "episodes.jsonl.gz",
  optimal: "optimal.jsonl.gz",
  plans: "plans.jsonl.gz",
  prompt: "prompt.json",
  tokenizer: "tokenizer",
  teacher: "teacher",
  student: "student",
  kept_out_tasks: [],
};
writeFileSync(`${values.out}/manifest${suffix}.json`, `${JSON.stringify(manifest, null, 2)}\n`);
if (suffix !== "") {
  console.log(said);
  process.exit(0);
}

writeFileSync(`${values.out}/plans.jsonl.gz`, lines(await Promise.all(tasks.map((task) => task.plan()))));
const episodes = values.student === undefined ? await planned() : await played(values.student);

writeFileSync(`${values.out}/episodes.jsonl.gz`, lines(episodes.map(({ episode }) => episode)));
writeFileSync(
  `${values.out}/optimal.jsonl.gz`,
  lines(
    episodes.flatMap(({ episode, optimal }) =>
      optimal.map((commands, decision) => ({
        task: episode.task,
        episode: episode.episode,
        decision,
        optimal: commands,
      })),
    ),
  ),
);
console.log(
  `${said}; ${episodes.length} episodes, ` +
    `${episodes.filter(({ episode }) => episode.outcome.success).length} successes, ` +
    `${episodes.reduce((sum, { optimal }) => sum + optimal.length, 0)} decisions`,
);
process.exit(0);

type Played = { episode: Episode; optimal: OptimalAt };

async function planned(): Promise<Played[]> {
  return Promise.all(tasks.map((task) => task.episode(0, NOISE, codec)));
}

/** Each task once, at the temperature of evaluation. */
async function played(student: string): Promise<Played[]> {
  const backend = await createNodeBackend("auto", { onNote: console.error });
  const policy = await ModelTrainer.open(backend, openFolder(student), { optimizer: "ignore" });
  const made: Played[] = [];
  const byTask = new Map(tasks.map((task) => [task.task, task]));
  const planned = evaluationEpisodes(
    tasks.map(({ live }) => live),
    { seeds: [0] },
  );
  const records = new Map(planned.map(({ how }) => [how.task, how.record]));
  await play(
    planned.map(({ how }) => how.task),
    policy,
    codec,
    async (one) => {
      const episode = await records.get(one.task)!(one);
      made.push({ episode, optimal: byTask.get(episode.task)!.optimalOf(episode.decisions) });
    },
  );
  policy.dispose();
  backend.dispose();
  const place = new Map(tasks.map(({ task }, n) => [task, n]));
  return made.sort((a, b) => place.get(a.episode.task)! - place.get(b.episode.task)!);
}
