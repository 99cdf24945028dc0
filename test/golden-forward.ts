import type { Backend } from "../src/tensor/backend.ts";
import { normOffset, rotarySize } from "../src/tensor/config.ts";
import type { LanguageModel, Sequence } from "../src/tensor/index.ts";
import type { LayerActivations } from "../src/tensor/layer.ts";
import { layerForward } from "../src/tensor/layer.ts";
import type { Reach } from "../src/tensor/packed-rows.ts";
import { arrangeTensors, reachInPack } from "../src/tensor/passes.ts";
import { RopeTable } from "../src/tensor/rope-table.ts";
import type { Tensor } from "../src/tensor/tensor.ts";
import { GoldenFile } from "./golden-file.ts";
import { type Deviations, type Goldens, LOGIT, LOGPROB, Meter, withModel } from "./golden-meter.ts";

/** Most probable tokens that are compared. */
const TOP = 5;

/** Prompts in forward.safetensors. */
const PROMPTS = 6;

/** The prompts and responses of forward.safetensors. */
export async function forwardSequences(file: GoldenFile): Promise<Sequence[]> {
  const sequences: Sequence[] = [];
  for (let i = 0; i < PROMPTS; i++)
    sequences.push({
      promptIds: await file.numbers(`p${i}/prompt_ids`),
      responseIds: await file.numbers(`p${i}/response_ids`),
    });
  return sequences;
}

export async function checkForward(goldens: Goldens, model: string, folder: string): Promise<Deviations> {
  const meter = new Meter();
  const inputs = await GoldenFile.open(goldens.open(`goldens/${model}`), "forward.safetensors");
  const widened = folder !== model;
  const expected = widened
    ? await GoldenFile.open(goldens.open(`goldens/${model}`), "forward-bf16.safetensors")
    : inputs;
  const sequences = await forwardSequences(inputs);
  await withModel(goldens, folder, async (loaded) => {
    const results = await loaded.score(sequences);
    for (const [i, logprobs] of results.entries()) {
      meter.all("log-probability", logprobs, await expected.numbers(`p${i}/logprobs`), LOGPROB, `p${i}`);
      if (!widened)
        meter.all("log-probability", logprobs, await inputs.numbers(`p${i}/logprobs_f64`), LOGPROB, `p${i}`);
    }
  });
  return meter.worst;
}

/** Tokens of a decision that `checkDecisions` cuts out of a response. */
const CUT = 7;

/**
 * Each response cut into decisions, whose prompts are all that comes before: what they share is computed once, in one
 * pack, in several that take up a prefix kept by another, and once more from what a call before kept.
 */
export async function checkDecisions(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const file = await GoldenFile.open(goldens.open(`goldens/${model}`), "forward.safetensors");
  const decisions: (Sequence & { expected: number[]; place: string })[] = [];
  for (const [i, { promptIds, responseIds }] of (await forwardSequences(file)).entries()) {
    const logprobs = await file.numbers(`p${i}/logprobs`);
    for (let at = 0; at < responseIds.length; at += CUT)
      decisions.push({
        promptIds: [...promptIds, ...responseIds.slice(0, at)],
        responseIds: responseIds.slice(at, at + CUT),
        expected: logprobs.slice(at, at + CUT),
        place: `p${i} from ${at}`,
      });
  }
  await withModel(goldens, model, async (loaded) => {
    loaded.keepPrefixes(2 ** 30);
    for (const maxTokensPerPack of [4096, 950, 4096]) {
      let [given, computed] = [0, 0];
      const results = await loaded.score(decisions, {
        maxTokensPerPack,
        onComputed: (tokens) => {
          ({ given, computed } = tokens);
        },
      });
      if (computed > given / 4) throw new Error(`${computed} of ${given} tokens were computed`);
      for (const [i, { expected, place }] of decisions.entries())
        meter.all("log-probability", results[i]!, expected, LOGPROB, place);
    }
  });
  return meter.worst;
}

type Kept = Record<string, Tensor>;

/** What a layer leaves, by the names of the golden file. */
function namedActivations(a: LayerActivations): Kept {
  const { type, tensors } = a.mixer;
  const common = { input_norm: a.normed, post_norm: a.postNormed, mid: a.mid };
  if (type === "full_attention") {
    const { q, k, v, o } = tensors;
    return { ...common, q, k, v, attention: o };
  }
  const { q, k, z, o, gated, gates, mixed } = tensors;
  return { ...common, q, k, z, core: o, gated, gates, mixed };
}

/** A pack of one sequence that also leaves what the linear layers keep for decoding. */
function watchedReach(backend: Backend, tokens: number, kept: Kept): Reach {
  const vector = (data: number[]) => backend.fromArray(Uint32Array.from(data), [data.length]);
  const rows = Array.from({ length: tokens }, (_, i) => i);
  const keys = { start: vector(rows.map(() => 0)), end: vector(rows.map((i) => i + 1)) };
  const reach = reachInPack(backend, { keys, sequences: vector([0, tokens]) });
  return {
    ...reach,
    convolve: (x, w) => {
      const conv = reach.convolve(x, w);
      // The layer frees its own.
      kept["conv"] = backend.add(conv, backend.zeros(conv.shape));
      return conv;
    },
    recur: (q, k, v, gates) => {
      const [, heads, size] = v.shape as [number, number, number];
      kept["state"] = backend.zeros([1, heads, k.shape[2]!, size]);
      return backend.deltaRule(q, k, v, gates, vector([0, tokens]), kept["state"]);
    },
  };
}

/** Hidden rows through all layers with every intermediate, as the model itself computes them, and the logits. */
async function traceForward(
  { backend }: Goldens,
  model: LanguageModel,
  ids: readonly number[],
  rows: readonly number[],
): Promise<{ values: Map<string, Float32Array>; logits: Float32Array }> {
  const { config } = model;
  const w = arrangeTensors(config, model.parameters);
  const rope = new RopeTable(backend, rotarySize(config), config.ropeTheta, config.maxPositions);
  const tables = rope.tables(ids.length);
  const kept = new Map<string, Tensor>();
  const logits = backend.scope((keep) => {
    const vector = (data: readonly number[]) => backend.fromArray(Uint32Array.from(data), [data.length]);
    const places = { ...tables, positions: vector(ids.map((_, i) => i)) };
    let x = backend.embedding(w.embedding, vector(ids));
    kept.set("embed", keep(x));
    for (const [l, layer] of w.layers.entries()) {
      const watched: Kept = {};
      const reach = watchedReach(backend, ids.length, watched);
      const { y, activations } = layerForward(backend, config, layer, x, places, reach);
      for (const [name, t] of Object.entries({ ...watched, ...namedActivations(activations), out: y }))
        kept.set(`layer${l}/${name}`, keep(t));
      x = y;
    }
    const { y: normed } = backend.rmsNorm(x, w.finalNorm, config.normEpsilon, normOffset(config));
    kept.set("final_norm", keep(normed));
    return keep(backend.linear(backend.gatherRows(normed, vector(rows)), w.head));
  });
  const values = new Map<string, Float32Array>();
  for (const [name, t] of kept) {
    values.set(name, await backend.read(t));
    backend.free(t);
  }
  const result = await backend.read(logits);
  backend.free(logits);
  rope.dispose();
  return { values, logits: result };
}

export async function checkTrace(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const file = await GoldenFile.open(goldens.open(`goldens/${model}`), "trace.safetensors");
  const ids = await file.numbers("input_ids");
  await withModel(goldens, model, async (loaded) => {
    const { values, logits } = await traceForward(goldens, loaded, ids, [ids.length - 1]);
    const minus = (a: Float32Array, b: Float32Array) => a.map((value, i) => value - b[i]!);
    for (const name of file.names) {
      if (name === "input_ids") continue;
      const [place, part] = name.split("/");
      let actual = values.get(name);
      if (name === "last_logits") actual = logits;
      if (part === "mlp_out") actual = minus(values.get(`${place}/out`)!, values.get(`${place}/mid`)!);
      if (part === "g" || part === "beta")
        actual = values.get(`${place}/gates`)!.filter((_, i) => i % 2 === (part === "g" ? 0 : 1));
      // The rows before the present one: all but the first of the convolution's width.
      if (part === "conv_state") actual = values.get(`${place}/mixed`)!.slice(-file.count(name));
      if (part === "mixer_out") {
        const layer = Number(place!.slice("layer".length));
        const input = values.get(layer === 0 ? "embed" : `layer${layer - 1}/out`)!;
        actual = minus(values.get(`${place}/mid`)!, input);
      }
      if (actual === undefined) throw new Error(`no value for ${name}`);
      meter.all("intermediate", actual, await file.numbers(name), LOGIT, name);
    }
  });
  return meter.worst;
}

export async function checkLogits(goldens: Goldens, model: string): Promise<Deviations> {
  const meter = new Meter();
  const file = await GoldenFile.open(goldens.open(`goldens/${model}`), "forward.safetensors");
  const subset = await file.numbers("subset_ids");
  await withModel(goldens, model, async (loaded) => {
    const size = loaded.config.vocabularySize;
    const sequences = await forwardSequences(file);
    const scores = await loaded.scoreDistributions(sequences, { topK: TOP, entropy: true });
    for (const [i, { promptIds, responseIds }] of sequences.entries()) {
      const ids = [...promptIds, ...responseIds.slice(0, -1)];
      const { logits } = await traceForward(
        goldens,
        loaded,
        ids,
        responseIds.map((_, j) => promptIds.length - 1 + j),
      );
      const whole = file.names.includes(`p${i}/logits`);
      const expected = await file.numbers(whole ? `p${i}/logits` : `p${i}/logits_subset`);
      const sums = await file.numbers(`p${i}/logsumexp`);
      const entropies = [await file.numbers(`p${i}/entropy`), await file.numbers(`p${i}/entropy_f64`)];
      for (let j = 0; j < responseIds.length; j++) {
        const row = logits.subarray(j * size, (j + 1) * size);
        const columns = whole ? row : subset.map((id) => row[id]!);
        const stored = expected.slice(j * columns.length, (j + 1) * columns.length);
        meter.all("logit", columns, stored, LOGIT, `p${i} token ${j}`);
        const sum = Math.log(row.reduce((total, logit) => total + Math.exp(logit), 0));
        meter.within("logit", Math.abs(sum - sums[j]!), LOGIT, `p${i} logsumexp ${j}`);
        const entropy = row.reduce((total, logit) => total - Math.exp(logit - sum) * (logit - sum), 0);
        const { entropy: told, topIds, topLogprobs } = scores[i]!;
        for (const list of entropies)
          for (const value of [entropy, told![j]!])
            meter.within("entropy", Math.abs(value - list[j]!), LOGPROB, `p${i} entropy ${j}`);
        const most = Array.from(row).sort((a, b) => b - a);
        for (let t = 0; t < TOP; t++) {
          const [id, logprob] = [topIds![j * TOP + t]!, topLogprobs![j * TOP + t]!];
          meter.within("logit", Math.abs(row[id]! - most[t]!), LOGIT, `p${i} token ${j}, probable ${t}`);
          meter.within("logit", Math.abs(row[id]! - sum - logprob), LOGIT, `p${i} token ${j}, probable ${t}`);
        }
      }
    }
  });
  return meter.worst;
}
