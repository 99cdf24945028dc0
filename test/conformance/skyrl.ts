/**
 * Holds the fake server of the tests to a real SkyRL, and the client to both:
 * `npm run conformance -- skyrl --python VENV/bin/python`. The environment: `pip install torch 'skyrl[tinker,jax]==0.3.0'
 * 'tinker==0.24.1'`. It trains a fixture model on a CPU.
 */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { main } from "../../src/cli/main.ts";
import { PAPER_SETTINGS, type SampleRequest, type TrainItem } from "../../src/core/ports.ts";
import { createFolder, openFolder } from "../../src/engine/native/node-folder.ts";
import { Server } from "../../src/engine/remote/index.ts";
import { TinkerTrainer } from "../../src/engine/tinker/index.ts";
import { adapterDifferences, largestDifference, readAdapter } from "../support/adapters.ts";
import { FakeTinker } from "../support/fake-tinker.ts";
import { readGolden } from "../support/golden.ts";
import { goldenItems, onPolicyItems } from "../support/golden-items.ts";
import { RealSkyrl } from "../support/real-skyrl.ts";
import { tinyRecords } from "../support/tiny-records.ts";

const { python } = parseArgs({ options: { python: { type: "string" } } }).values;
if (python === undefined) {
  console.error("usage: npm run conformance -- skyrl --python VENV/bin/python");
  process.exit(2);
}

const fixture = (name: string): string => resolve("test/fixtures/models", name);
const root = mkdtempSync(join(tmpdir(), "gcopd-skyrl-"));
const model = join(root, "model");
cpSync(fixture("qwen3-a"), model, { recursive: true });
for (const file of ["tokenizer.json", "tokenizer_config.json"])
  cpSync(join(fixture("tokenizer"), file), join(model, file));

const RANK = 8;
/** At the paper's learning rate: at a hundred times of it the tiny model amplifies the rounding of f32 from step to step. */
const SETTINGS = PAPER_SETTINGS;
const ITEMS = goldenItems(readGolden("qwen3-a/gradient.safetensors", resolve("test/fixtures/models")));
const ON_POLICY = onPolicyItems(ITEMS);
const STEPS = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? ITEMS : ON_POLICY));

let failed = 0;
async function holds(what: string, check: () => Promise<string>): Promise<void> {
  const began = performance.now();
  try {
    const told = await check();
    console.log(`ok      skyrl: ${what}: ${told} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  skyrl: ${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

let made = 0;
async function saved(trainer: TinkerTrainer, optimizer: boolean): Promise<string> {
  const path = join(root, `saved-${made++}`);
  await trainer.save(createFolder(path), { optimizer });
  return path;
}

const trainerAt = (url: string, checkpoint: string | null = null) =>
  TinkerTrainer.open(new Server(url), checkpoint === null ? null : openFolder(checkpoint), {
    ...{ baseModel: model, rank: RANK, seed: 7, ownOptimizer: false, base: openFolder(model), merge: false },
    ...{ decisions: ITEMS.slice(0, 3), settings: SETTINGS },
    onNote: (note) => console.log(`        ${note}`),
  });

const request = ({ promptIds, responseIds, decision }: TrainItem) => ({
  id: String(decision),
  promptIds,
  responseIds,
});

async function scores(trainer: TinkerTrainer): Promise<number[]> {
  return (await trainer.score(ITEMS.map(request))).flatMap(({ logprobs }) => [...logprobs]);
}

const few = (value: number) => value.toExponential(1);

/** What a conversation's answers look like: their status, keys and kinds of values, with lists by their first entry. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])];
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, each]) => [key, shape(each)]),
  );
}

/** Every operation and refusal that the client knows, in plain requests. */
async function conversation(url: string): Promise<Record<string, unknown>> {
  const told: Record<string, unknown> = {};
  const ask = async (route: string, body?: object) => {
    const response = await fetch(`${url}/api/v1${route}`, {
      method: body === undefined ? "GET" : "POST",
      ...(body === undefined
        ? {}
        : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
    });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  const run = async (name: string, route: string, body?: object) => {
    const asked = await ask(route, body);
    told[name] = shape(asked);
    const id: unknown = asked.json?.request_id;
    if (typeof id !== "string") return { ...asked.json };
    const future = await ask("/retrieve_future", { request_id: id });
    told[`${name}, its future`] = shape(future);
    if (future.status !== 200) told[`${name}, refused`] = future.json.detail.replace(/model_\w+/g, "MODEL");
    return { ...asked.json, ...future.json };
  };
  const datum = {
    model_input: { chunks: [{ type: "encoded_text", tokens: [5, 6, 7] }] },
    loss_fn_inputs: {
      ...{ target_tokens: { data: [6, 7, 8] }, weights: { data: [0, 1, 1] } },
      ...{ logprobs: { data: [0, -7, -7] }, advantages: { data: [0, 1, -1] } },
    },
  };
  const { loss_fn_inputs } = datum;
  const scored = {
    ...datum,
    loss_fn_inputs: { target_tokens: loss_fn_inputs.target_tokens, weights: loss_fn_inputs.weights },
  };
  const adam_params = { learning_rate: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0 };
  await run("health", "/healthz");
  await run("capabilities", "/get_server_capabilities");
  const { session_id } = await run("session", "/create_session", {
    tags: [],
    user_metadata: {},
    sdk_version: "0",
  });
  await run("heartbeat", "/session_heartbeat", { session_id });
  const { model_id } = await run("model", "/create_model", {
    ...{ session_id, base_model: model, lora_config: { rank: RANK, seed: 1 } },
  });
  await run("forward", "/forward", {
    model_id,
    seq_id: 0,
    forward_input: { data: [scored], loss_fn: "cross_entropy" },
  });
  await run("gradient", "/forward_backward", {
    ...{ model_id, seq_id: 1, forward_backward_input: { data: [datum], loss_fn: "importance_sampling" } },
  });
  await run("step", "/optim_step", { model_id, seq_id: 2, adam_params });
  const { path } = await run("save", "/save_weights", { model_id, seq_id: 3, path: "s" });
  await run("export", "/save_weights_for_sampler", { model_id, seq_id: 4, path: "e" });
  const { sampling_session_id } = await run("sampler", "/save_weights_for_sampler", {
    ...{ model_id, seq_id: 5, sampling_session_seq_id: 0 },
  });
  await run("sample", "/asample", {
    ...{
      sampling_session_id,
      seq_id: 0,
      num_samples: 1,
      prompt: { chunks: [{ type: "encoded_text", tokens: [5, 6] }] },
    },
    sampling_params: { max_tokens: 3, temperature: 1, top_p: 1, top_k: -1, seed: 1, stop: [1862] },
  });
  const other = await run("second model", "/create_model", {
    ...{ session_id, base_model: model, lora_config: { rank: RANK, seed: 2 } },
  });
  await run("load", "/load_weights", { model_id: other.model_id, path, optimizer: true, seq_id: 0 });
  await run("load of what is not there", "/load_weights", {
    ...{ model_id: other.model_id, path: "tinker://model_x/weights/s", optimizer: true, seq_id: 1 },
  });
  for (const id of [model_id, other.model_id]) await run("unload", "/unload_model", { model_id: id });
  await run("step of an unloaded model", "/optim_step", { model_id, seq_id: 9, adam_params });
  told["unknown future"] = await ask("/retrieve_future", { request_id: "999999" });
  return told;
}

const skyrl = await RealSkyrl.start(python, model, join(root, "server"));
const fakes: FakeTinker[] = [];
try {
  await holds("the fake's answers have the real one's keys, kinds and messages", async () => {
    const plain = await FakeTinker.start({ base: model });
    fakes.push(plain);
    const [real, fake] = [await conversation(skyrl.url), await conversation(plain.url)];
    const told = (all: Record<string, unknown>, name: string) => JSON.stringify(all[name]);
    const other = [...new Set([...Object.keys(real), ...Object.keys(fake)])].filter(
      (name) => told(real, name) !== told(fake, name),
    );
    const lines = other.map(
      (name) => `${name}: the fake ${told(fake, name)}, the real one ${told(real, name)}`,
    );
    assert.equal(lines.length, 0, lines.join("; "));
    return `${Object.keys(real).length} answers`;
  });

  const trainer = await trainerAt(skyrl.url);
  const start = await readAdapter(await saved(trainer, false));
  const fake = await FakeTinker.start({ base: model, adapter: start });
  fakes.push(fake);
  const copy = await trainerAt(fake.url);
  let checkpoint = "";

  await holds("log-probabilities of the untrained model", async () => {
    const most = largestDifference(await scores(trainer), await scores(copy));
    assert.ok(most < 1e-4, `largest difference ${most}`);
    return `largest difference ${few(most)} nats`;
  });

  await holds(
    `${STEPS.length} steps, clipped gradients among them, against the fake's own gradient and AdamW`,
    async () => {
      let [logprobs, norms] = [0, 0];
      const bounds: number[] = [];
      for (const [n, items] of STEPS.entries()) {
        if (n === STEPS.length / 2) checkpoint = await saved(trainer, true);
        const [real, own] = [await trainer.step(items, SETTINGS), await copy.step(items, SETTINGS)];
        assert.equal(real.step, n + 1);
        bounds.push(real.gradNorm);
        norms = Math.max(norms, Math.abs(real.gradNorm / own.gradNorm - 1));
        for (const [item, { logprobs: told }] of real.items.entries())
          logprobs = Math.max(logprobs, largestDifference(told, own.items[item]!.logprobs));
      }
      const found = adapterDifferences(
        await readAdapter(await saved(trainer, false)),
        await readAdapter(await saved(copy, false)),
        start,
      );
      const told =
        `log-probabilities ${few(logprobs)} nats, gradient norms ${few(norms)} relative (${Math.min(...bounds).toFixed(1)} to ${Math.max(...bounds).toFixed(1)}), ` +
        `adapter ${few(found.weights)} relative, its movement ${few(found.moved)}`;
      assert.ok(logprobs < 1e-4 && norms < 1e-3 && found.weights < 1e-3, told);
      return told;
    },
  );

  const ended = await scores(trainer);

  await holds("responses have the log-probabilities of a second reading", async () => {
    const asked = [1, 0.5].map(
      (temperature): SampleRequest => ({
        ...{
          id: String(temperature),
          promptIds: ITEMS[0]!.promptIds,
          maxTokens: 12,
          temperature,
          seed: 2 ** 32 - 1,
        },
        ...{ stopIds: [1862], drawable: [[0, 1880]] },
      }),
    );
    const drawn = await trainer.sample(asked);
    const again = await trainer.score(
      drawn.map(({ id, responseIds }) => ({ id, responseIds, promptIds: ITEMS[0]!.promptIds })),
    );
    const most = Math.max(...drawn.map(({ logprobs }, n) => largestDifference(logprobs, again[n]!.logprobs)));
    assert.ok(most < 1e-4, `largest difference ${most}`);
    return `${drawn.map(({ responseIds }) => responseIds.length).join(" and ")} tokens, largest difference ${few(most)} nats`;
  });

  await holds(
    "after kill -9 of server and engine the model is lost, and a new one goes on from the checkpoint",
    async () => {
      await skyrl.kill();
      await skyrl.startAgain();
      const lost = await trainer.score([request(ITEMS[0]!)]).then(
        () => assert.fail("it was scored"),
        (error: unknown) => error,
      );
      assert.ok(lost instanceof Error && lost.name === "DeviceError", String(lost));
      trainer.dispose();
      const again = await trainerAt(skyrl.url, checkpoint);
      for (const items of STEPS.slice(STEPS.length / 2)) await again.step(items, SETTINGS);
      const most = largestDifference(await scores(again), ended);
      again.dispose();
      assert.ok(most < 1e-2, `largest difference ${most}`);
      return `${lost.message}; five steps from the checkpoint end within ${few(most)} nats`;
    },
  );

  await holds("gcopd train: two epochs over a kill of the server are those without one", async () => {
    const { sources, episodes } = tinyRecords();
    for (const [name, each] of Object.entries({ "sources.jsonl": sources, "episodes.jsonl": episodes }))
      writeFileSync(join(root, name), each.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const config = join(root, "train.json");
    writeFileSync(
      config,
      JSON.stringify({
        ...{
          library: "sources.jsonl",
          episodes: "episodes.jsonl",
          teacher: fixture("qwen3-b"),
          student: model,
        },
        ...{ batch_size: 2, device: "cpu", tokenizer: model },
        tinker: { url: skyrl.url, lora_rank: RANK },
      }),
    );
    const metrics = (out: string) => {
      const lines = readFileSync(join(root, out, "metrics.jsonl"), "utf8")
        .trimEnd()
        .split("\n");
      return new Map(
        lines.map((line) => JSON.parse(line)).map(({ step, loss }): [number, number] => [step, loss]),
      );
    };
    assert.equal(await main(["train", "--config", config, "--out", join(root, "whole")]), 0);
    const whole = metrics("whole");
    const killing = (async () => {
      // Once its first checkpoint is there.
      while (!readFileSyncOr(join(root, "killed", "events.jsonl")).includes('"checkpoint"'))
        await new Promise((done) => setTimeout(done, 20));
      await skyrl.kill();
      await skyrl.startAgain();
    })();
    assert.equal(await main(["train", "--config", config, "--out", join(root, "killed")]), 0);
    await killing;
    const faults = readFileSyncOr(join(root, "killed", "events.jsonl"))
      .split("\n")
      .filter((line) => line.includes('"fault"'));
    assert.ok(faults.length > 0, "the kill came too late");
    const killed = metrics("killed");
    const most = Math.max(...[...whole].map(([step, loss]) => Math.abs(loss - killed.get(step)!)));
    const [one, two] = [
      await readAdapter(join(root, "whole", "student")),
      await readAdapter(join(root, "killed", "student")),
    ];
    const found = adapterDifferences(two, one, start);
    assert.ok(most < 1e-3 && found.weights < 1e-3, `losses ${most}, adapter ${found.weights}`);
    return `${whole.size} steps, ${faults.length} faults, losses within ${few(most)}, adapter ${few(found.weights)} relative`;
  });
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  await Promise.all(fakes.map((each) => each.close()));
  await skyrl.kill();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
}

function readFileSyncOr(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
