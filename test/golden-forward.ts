import type { Backend } from "../src/tensor/backend.ts";
import type { Qwen3Model, Sequence } from "../src/tensor/index.ts";
import { layerForward } from "../src/tensor/qwen3-layer.ts";
import { arrangeTensors } from "../src/tensor/qwen3-pass.ts";
import { RopeTable } from "../src/tensor/rope-table.ts";
import { GoldenFile } from "./golden-file.ts";
import { type Deviations, type Goldens, LOGIT, LOGPROB, Meter, withModel } from "./golden-meter.ts";

/** Prompts in forward.safetensors. */
const PROMPTS = 6;

async function forwardSequences(file: GoldenFile): Promise<Sequence[]> {
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

/** Hidden rows through all layers with every intermediate, as the model itself computes them, and the logits. */
async function traceForward(
  { backend }: Goldens,
  model: Qwen3Model,
  ids: readonly number[],
  rows: readonly number[],
): Promise<{ values: Map<string, Float32Array>; logits: Float32Array }> {
  const { config } = model;
  const w = arrangeTensors(config, model.parameters);
  const rope = new RopeTable(backend, config.headSize, config.ropeTheta, config.maxPositions);
  const tables = rope.tables(ids.length);
  const kept = new Map<string, ReturnType<Backend["zeros"]>>();
  const logits = backend.scope((keep) => {
    const vector = (data: readonly number[]) => backend.fromArray(Uint32Array.from(data), [data.length]);
    const keys = { start: vector(ids.map(() => 0)), end: vector(ids.map((_, i) => i + 1)) };
    const places = { ...tables, positions: vector(ids.map((_, i) => i)) };
    let x = backend.embedding(w.embedding, vector(ids));
    kept.set("embed", keep(x));
    for (const [l, layer] of w.layers.entries()) {
      const attend = (...[q, k, v]: Parameters<Parameters<typeof layerForward>[5]>) =>
        backend.attention(q, k, v, keys);
      const { y, activations: a } = layerForward(backend, config, layer, x, places, attend);
      const named = { input_norm: a.normed, q: a.q, k: a.k, v: a.v, attention: a.o, post_norm: a.postNormed };
      for (const [name, t] of Object.entries({ ...named, mid: a.mid, out: y }))
        kept.set(`layer${l}/${name}`, keep(t));
      x = y;
    }
    const { y: normed } = backend.rmsNorm(x, w.finalNorm, config.normEpsilon);
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
    for (const [i, { promptIds, responseIds }] of (await forwardSequences(file)).entries()) {
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
        for (const list of entropies)
          meter.within("entropy", Math.abs(entropy - list[j]!), LOGPROB, `p${i} entropy ${j}`);
      }
    }
  });
  return meter.worst;
}
