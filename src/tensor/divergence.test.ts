import { expect, test } from "vitest";
import { randomValues } from "../../test/random.ts";
import type { Sequence, TeacherTarget } from "./index.ts";
import { LanguageModel } from "./language-model.ts";
import type { Qwen3Config } from "./qwen3-config.ts";
import { createReferenceBackend } from "./reference/index.ts";

const V = 23;
const config: Qwen3Config = {
  architecture: "qwen3",
  vocabularySize: V,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headSize: 6,
  ropeTheta: 10_000,
  normEpsilon: 1e-6,
  tied: true,
  maxPositions: 40,
};

const sequences: Sequence[] = [
  { promptIds: [1, 2, 3], responseIds: [4, 5] },
  { promptIds: [6], responseIds: [] },
  { promptIds: [7], responseIds: [8, 9, 10, 11] },
];

function targets(k: number | null): TeacherTarget[] {
  return sequences.map(({ responseIds }, n) => {
    const count = responseIds.length;
    const weights = Float32Array.from(responseIds, (_, i) => (n === 0 && i === 1 ? 0 : 0.2 + 0.1 * i));
    const logprobs = randomValues(count * (k ?? V), 5 + n, 2);
    if (k === null) return { weights, logprobs };
    return {
      weights,
      logprobs,
      ids: Uint32Array.from({ length: count * k }, (_, i) => (7 * (i % k) + n) % V),
    };
  });
}

/** KL from the distributions that the model tells, in f64 and by the definition: nothing of the kernels' is used. */
async function plainLoss(model: LanguageModel, all: readonly TeacherTarget[]) {
  const scores = await model.scoreDistributions(sequences, { distribution: true });
  let loss = 0;
  const kls = scores.map(({ distribution }, n) => {
    const { weights, logprobs, ids } = all[n]!;
    const width = logprobs.length / weights.length;
    return [...weights].map((weight, i) => {
      const support = ids
        ? [...ids.subarray(i * width, (i + 1) * width)]
        : Array.from({ length: V }, (_, v) => v);
      const p = support.map((v) => Math.exp(distribution![i * V + v]!));
      const q = support.map((_, j) => Math.exp(logprobs[i * width + j]!));
      const [ownMass, teacherMass] = [p, q].map((x) => x.reduce((a, b) => a + b));
      const kl = p.reduce(
        (sum, share, j) => sum + (share / ownMass!) * Math.log(share / ownMass! / (q[j]! / teacherMass!)),
        0,
      );
      loss += weight * kl;
      return kl;
    });
  });
  return { loss, kls };
}

test.each([
  ["the teacher's 3 most probable tokens, tied head", 3, true],
  ["the whole vocabulary, tied head", null, true],
  ["the whole vocabulary, a head of its own", null, false],
])("a step's whole gradient by finite differences: %s", async (_, k, tied) => {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, { ...config, tied }, 7);
  const all = targets(k);
  const found = await model.backwardDivergence(sequences, all);
  const { kls } = await plainLoss(model, all);
  for (const [n, { kl, logprobs }] of found.entries()) {
    expect(kl).toHaveLength(sequences[n]!.responseIds.length);
    expect(logprobs).toHaveLength(kl.length);
    for (const [i, value] of kl.entries()) expect(value).toBeCloseTo(kls[n]![i]!, 5);
  }
  for (const [name, t] of model.parameters) {
    const values = await backend.read(t);
    const gradient = await backend.read(model.gradients.get(name)!);
    // Along the gradient itself and along one fixed direction: every element takes part in both.
    for (const direction of [gradient, randomValues(values.length, 3)]) {
      const norm = Math.hypot(...direction);
      const slope = gradient.reduce((sum, g, i) => sum + (g * direction[i]!) / norm, 0);
      const h = 1e-3;
      const at = async (step: number) => {
        backend.write(
          t,
          values.map((value, i) => value + (step * direction[i]!) / norm),
        );
        return (await plainLoss(model, all)).loss;
      };
      const numeric = ((await at(h)) - (await at(-h))) / (2 * h);
      backend.write(t, values);
      expect(Math.abs(numeric - slope), name).toBeLessThan(5e-3 * Math.max(0.05, Math.abs(slope)));
    }
  }
});

test("packing changes nothing, and nothing stays on the device", async () => {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, config, 7);
  const gradientsOf = async (maxTokensPerPack?: number) => {
    model.zeroGradients();
    await model.backwardDivergence(sequences, targets(null), maxTokensPerPack ? { maxTokensPerPack } : {});
    return Promise.all([...model.gradients.values()].map((t) => backend.read(t)));
  };
  const together = await gradientsOf();
  const before = backend.live();
  const apart = await gradientsOf(1);
  for (const [n, all] of together.entries())
    for (const [i, value] of all.entries()) expect(apart[n]![i]).toBeCloseTo(value, 5);
  expect(backend.live()).toEqual(before);
});

test("a teacher that is the student itself leaves no gradient; where all weights are 0 there is none either", async () => {
  const backend = createReferenceBackend();
  const model = LanguageModel.create(backend, config, 7);
  const scores = await model.scoreDistributions(sequences, { distribution: true });
  const own = targets(null).map(({ weights }, n) => ({ weights, logprobs: scores[n]!.distribution! }));
  const rest = targets(3).map((target) => ({ ...target, weights: target.weights.map(() => 0) }));
  for (const all of [own, rest]) {
    model.zeroGradients();
    const found = await model.backwardDivergence(sequences, all);
    for (const t of model.gradients.values())
      for (const value of await backend.read(t)) expect(Math.abs(value)).toBeLessThan(1e-7);
    for (const { kl } of found) for (const value of kl) expect(value > 0.01).toBe(all === rest);
  }
});

test("distributions agree with the log-probabilities of the sampled tokens, and sum to 1", async () => {
  const model = LanguageModel.create(createReferenceBackend(), config, 7);
  for (const [n, { logprobs, distribution }] of (
    await model.scoreDistributions(sequences, { distribution: true })
  ).entries())
    for (const [i, id] of sequences[n]!.responseIds.entries()) {
      const row = distribution!.subarray(i * V, (i + 1) * V);
      expect(row[id]).toBeCloseTo(logprobs[i]!, 5);
      expect(row.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 6);
    }
});

test("targets of another shape or vocabulary are refused", async () => {
  const model = LanguageModel.create(createReferenceBackend(), config, 7);
  const refused = async (n: number, changes: Partial<TeacherTarget>, k: number | null) => {
    const all = targets(k).map((target, at) => (at === n ? { ...target, ...changes } : target));
    return model.backwardDivergence(sequences, all).then(
      () => "taken",
      (error: Error) => error.message,
    );
  };
  expect(await refused(0, { logprobs: new Float32Array(2 * 24) }, null)).toBe(
    "new model: what the teacher told of sequence 1: 48 log-probabilities for 2 tokens over a vocabulary of 23",
  );
  expect(await refused(2, { ids: new Uint32Array(12).fill(23) }, 3)).toContain(
    "sequence 3: token id 23 is not in the vocabulary of 23",
  );
  expect(await refused(2, { weights: new Float32Array(3) }, 3)).toContain("3 weights for 4 tokens");
  expect(await refused(0, { ids: new Uint32Array(4), logprobs: new Float32Array(4) }, 3)).toContain(
    "the teacher told of some sequences more tokens a place than of others",
  );
});
