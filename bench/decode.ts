/**
 * Decoding beside transformers on the same card: one sequence and many that advance together, each behind a prompt. Random
 * weights and tokens, greedy. First the ids are compared with those of one sequence decoded alone, a token at a time.
 *
 *     npm run bench -- decode [--model 1.7b --counts 1,32 --prompt 2048 --tokens 128 --repeats 3 --format int4]
 *
 * With `--top-k 20` or `--top-p 0.9` tokens are drawn at T = 0.4 within these bounds, in place of the most probable one.
 * Without options: Qwen3-1.7B on a GPU, a model of toy size on a software adapter.
 */
import { parseArgs } from "node:util";
import type { KernelTime } from "../src/tensor/index.ts";
import { openAdapter, watchMemory } from "./support/device.ts";
import { median } from "./support/median.ts";
import { formatOr, numberOr, sizeNamed } from "./support/options.ts";
import { type BenchRow, printTable, runPeer } from "./support/peer.ts";
import { printProfile } from "./support/profile.ts";
import { modelName } from "./support/qwen3-sizes.ts";
import { randomModel } from "./support/random-model.ts";
import { decodingTimes, randomPrompts, seeded } from "./support/random-work.ts";

const { values: options } = parseArgs({
  options: {
    model: { type: "string" },
    counts: { type: "string" },
    prompt: { type: "string" },
    tokens: { type: "string" },
    repeats: { type: "string" },
    compute: { type: "string" },
    format: { type: "string" },
    "top-k": { type: "string" },
    "top-p": { type: "string" },
    profile: { type: "boolean", default: false },
    "no-peer": { type: "boolean", default: false },
    "no-check": { type: "boolean", default: false },
    peer: { type: "string", default: "bench/decode_peer.py" },
  },
});

const { backend, toggles, operands } = await openAdapter(options.compute);
const { software } = backend;
const name = options.model ?? (software ? "tiny" : "1.7b");
const config = sizeNamed(name);
const counts = (options.counts ?? (software ? "1,4" : "1,32")).split(",").map(Number);
const prompt = numberOr(options.prompt, software ? 24 : 2048);
const tokens = numberOr(options.tokens, software ? 8 : 128);
const repeats = numberOr(options.repeats, software ? 1 : 3);
const format = formatOr(options.format, operands);

const watch = watchMemory();
const model = await randomModel(backend, config, format);
const bounds = {
  ...(options["top-k"] === undefined ? {} : { topK: Number(options["top-k"]) }),
  ...(options["top-p"] === undefined ? {} : { topP: Number(options["top-p"]) }),
};
const bounded = Object.keys(bounds).length > 0;
const requests = randomPrompts(config, {
  prompt,
  maxTokens: tokens,
  temperature: bounded ? 0.4 : 0,
  ...bounds,
});

const rows: BenchRow[] = [];
const profiles: { what: string; times: KernelTime[] }[] = [];
for (const count of counts) {
  const what = `${count} × ${tokens} tokens behind ${prompt}`;
  const seconds: number[] = [];
  for (let i = 0; i <= repeats; i++) {
    const times = await decodingTimes(model, requests(count));
    if (i > 0) seconds.push(times.tokens / 1000);
    console.error(`${what}: prompt ${times.prompt.toFixed(0)} ms, tokens ${times.tokens.toFixed(0)} ms`);
  }
  rows.push({ what, tokens: count * (tokens + 1), seconds: median(seconds), pair: `count ${count}` });
  if (options.profile) {
    const given = requests(count);
    await model.generateAll(given.map((request) => ({ ...seeded(request), maxTokens: 1 })));
    backend.startProfile();
    await model.generateAll(given.map((request) => ({ ...seeded(request), maxTokens: 16 })));
    profiles.push({ what: `${what}, first 16`, times: await backend.stopProfile() });
  }
}
const checks: string[] = [];
for (const count of options["no-check"] ? [] : counts) {
  const given = requests(count);
  const together = await model.generateAll(given.map(seeded));
  const compared = Math.min(count, 4);
  let [same, first, apart] = [0, tokens, 0];
  for (let n = 0; n < compared; n++) {
    const { promptIds, ...rest } = seeded(given[n]!);
    const alone = await model.generate(promptIds, rest);
    const differs = alone.ids.findIndex((id, i) => id !== together[n]!.ids[i]);
    if (differs < 0) same++;
    else first = Math.min(first, differs);
    apart = Math.max(apart, Math.abs(alone.logprobs[0]! - together[n]!.logprobs[0]!));
  }
  checks.push(
    `${count} together: ${same} of ${compared} have the ids that decoding alone gives, the first ${first} tokens of each agree; ` +
      `the first log-probabilities are ${apart.toExponential(1)} apart.`,
  );
}
rows[0]!.memory = watch.stop();
const { description } = backend;
model.dispose();
backend.dispose();
const sizes = { model: name, context: prompt, response: tokens, repeats };
const peerOptions = [
  ...Object.entries(sizes).map(([key, value]) => `--${key}=${value}`),
  ...Object.entries(bounds).map(([key, value]) => `--${key === "topK" ? "top-k" : "top-p"}=${value}`),
];
const peer = options["no-peer"]
  ? { note: "not run", rows: [] }
  : runPeer(options.peer, [...peerOptions, `--counts=${counts.join(",")}`]);
for (const line of checks) console.log(line);
for (const { what, times } of profiles) printProfile(what, times);
console.log(
  `\n${modelName(name)} on ${description}${software ? " (software)" : ""}; toggles: ${toggles || "none"}; weights ` +
    `${format}, operands ${operands}; ` +
    `${bounded ? `T 0.4, ${JSON.stringify(bounds)}` : "greedy"}; median of ${repeats}; prompts computed before.\n`,
);
printTable(rows, peer);
