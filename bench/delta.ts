/**
 * The gated delta rule token by token and by chunks, forward and with gradients, in turns in one run; and how far they lie
 * apart. Head sizes of Qwen3.5-0.8B on a GPU (16 heads of 128), a few small heads on a software adapter.
 *
 *     npm run bench -- delta [--tokens 8192 --sequences 1 --heads 16 --size 128 --repeats 5]
 */
import { parseArgs } from "node:util";
import { createWebGpuBackend, type WebGpuBackend } from "../src/tensor/index.ts";
import { randomValues } from "../test/random.ts";
import { relativeError } from "../test/support/relative-error.ts";
import { openBestGpu } from "./support/device.ts";
import { median } from "./support/median.ts";
import { numberOr } from "./support/options.ts";

const { values: options } = parseArgs({
  options: {
    tokens: { type: "string" },
    sequences: { type: "string", default: "1" },
    heads: { type: "string" },
    size: { type: "string" },
    repeats: { type: "string", default: "5" },
  },
});

const FORMS = ["tokens", "chunks"] as const;

const gpu = await openBestGpu();
const backends = await Promise.all(FORMS.map((deltaForm) => createWebGpuBackend(gpu, { deltaForm })));
const { software, description } = backends[0]!;
const tokens = numberOr(options.tokens, software ? 1024 : 8192);
const heads = numberOr(options.heads, software ? 2 : 16);
const size = numberOr(options.size, software ? 64 : 128);
const sequences = Number(options.sequences);
const repeats = Number(options.repeats);

/** A call's inputs, like those of a layer, and the call forward and with gradients. */
function callsOn(b: WebGpuBackend) {
  const make = (seed: number, scale = 1) =>
    b.fromArray(randomValues(tokens * heads * size, seed, scale), [tokens, heads, size]);
  const unit = Math.sqrt(3 / size);
  const [q, k, v, dout] = [make(1, unit / Math.sqrt(size)), make(2, unit), make(3), make(5)];
  const gateValues = randomValues(tokens * heads * 2, 4).map((value, i) =>
    i % 2 === 0 ? -0.1 * Math.abs(value) : 0.5 + 0.45 * value,
  );
  const gates = b.fromArray(gateValues, [tokens, heads, 2]);
  const offsets = Uint32Array.from({ length: sequences + 1 }, (_, s) => Math.floor((s * tokens) / sequences));
  const ends = b.fromArray(offsets, [sequences + 1]);
  const { o, errors } = b.deltaRule(q, k, v, gates, ends);
  return {
    forward: () => b.deltaRule(q, k, v, gates, ends),
    backward: () => b.deltaRuleBackward(dout, q, k, v, gates, ends, o, errors),
  };
}

const calls = backends.map(callsOn);
console.log(`${description}: ${sequences} × ${tokens / sequences} tokens, ${heads} heads of ${size}, f32\n`);
console.log("| pass | token by token, ms | by chunks, ms | tokens / chunks | largest relative difference |");
console.log("| --- | ---: | ---: | ---: | ---: |");
for (const pass of ["forward", "backward"] as const) {
  const times: number[][] = [[], []];
  let results: Float32Array[][] = [];
  for (let n = 0; n <= repeats; n++) {
    results = [];
    for (const [i, b] of backends.entries()) {
      await b.sync();
      const began = performance.now();
      const made = Object.values(calls[i]![pass]());
      await b.sync();
      // The first one compiles.
      if (n > 0) times[i]!.push(performance.now() - began);
      if (n === repeats) results.push(await Promise.all(made.map((t) => b.read(t))));
      b.free(...made);
    }
  }
  const [one, chunks] = times.map(median) as [number, number];
  const apart = Math.max(...results[0]!.map((values, i) => relativeError(results[1]![i]!, values)));
  if (!(apart < 1e-4)) throw new Error(`the two forms differ by ${apart}`);
  console.log(
    `| ${pass} | ${one.toFixed(1)} | ${chunks.toFixed(1)} | ${(one / chunks).toFixed(2)} | ${apart.toExponential(1)} |`,
  );
}
for (const b of backends) b.dispose();
