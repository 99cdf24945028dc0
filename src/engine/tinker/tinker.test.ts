import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { FakeTinker, type FakeTinkerOptions } from "../../../test/support/fake-tinker.ts";
import { modelFixture, readGolden } from "../../../test/support/golden.ts";
import { goldenItems, onPolicyItems } from "../../../test/support/golden-items.ts";
import { relativeError } from "../../../test/support/relative-error.ts";
import { PAPER_SETTINGS, type SampleRequest, type TrainItem } from "../../core/ports.ts";
import { Checkpoint, createReferenceBackend } from "../../tensor/index.ts";
import { ModelScorer, ModelTrainer } from "../native/index.ts";
import { createFolder, openFolder } from "../native/node-folder.ts";
import { Server } from "../remote/index.ts";
import { TinkerClient } from "./client.ts";
import { type TinkerOptions, TinkerTrainer } from "./index.ts";

const BASE = modelFixture("qwen3-a");
const golden = readGolden("qwen3-a/gradient.safetensors");
const ITEMS = goldenItems(golden);
const ON_POLICY = onPolicyItems(ITEMS);
/** Enough where two runs are compared, and the numbers of all decisions are checked elsewhere. */
const TWO = ITEMS.slice(0, 2);
const TWO_ON_POLICY = onPolicyItems(TWO);
const SETTINGS = { ...PAPER_SETTINGS, learningRate: 1e-4 };

const folder = mkdtempSync(join(tmpdir(), "gcopd-tinker-"));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;
const newFolder = () => join(folder, String(made++));

const fakes: FakeTinker[] = [];
afterEach(() => Promise.all(fakes.splice(0).map((fake) => fake.close())));

async function fakeOf(options: Partial<FakeTinkerOptions> = {}): Promise<FakeTinker> {
  const fake = await FakeTinker.start({ base: BASE, ...options });
  fakes.push(fake);
  return fake;
}

const serverOf = ({ url }: FakeTinker) => new Server(url, { pausesMs: [1, 1] });

const notes: string[] = [];
function trainerOf(
  fake: FakeTinker,
  more: Partial<TinkerOptions> = {},
  checkpoint: string | null = null,
  server = serverOf(fake),
) {
  const options = {
    ...{ baseModel: BASE, rank: 4, seed: 3, ownOptimizer: false, base: openFolder(BASE), merge: false },
    ...{ decisions: [], settings: SETTINGS },
    onNote: (note: string) => void notes.push(note),
    ...more,
  };
  return TinkerTrainer.open(server, checkpoint === null ? null : openFolder(checkpoint), options);
}

async function saved(trainer: TinkerTrainer, optimizer: boolean): Promise<string> {
  const path = newFolder();
  await trainer.save(createFolder(path), { optimizer });
  return path;
}

const largest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a, (value, n) => Math.abs(value - b[n]!)).reduce((most, each) => Math.max(most, each), 0);

describe("all weights, against our own engine", () => {
  it.each([
    ["a mean over sequences and tokens", { gradient: "mean" }],
    ["sums", { gradient: "sum" }],
  ] as const)("three steps where the server takes %s", async (_, options) => {
    const own = await ModelTrainer.open(createReferenceBackend(), openFolder(BASE));
    const fake = await fakeOf(options);
    const served = await trainerOf(fake, { rank: 0 });
    const [expected, found] = [await own.score(ITEMS.map(request)), await served.score(ITEMS.map(request))];
    for (const [n, { logprobs }] of found.entries())
      expect(largest(logprobs, expected[n]!.logprobs)).toBeLessThan(1e-4);
    // The norm is above the bound at first: the step is clipped. The second is not.
    for (const [items, settings] of [
      [ITEMS, SETTINGS],
      [ON_POLICY, { ...SETTINGS, maxGradNorm: 1e6, weightDecay: 0.1 }],
      [ITEMS, SETTINGS],
    ] as const) {
      const [want, got] = [await own.step(items, settings), await served.step(items, settings)];
      expect(got.step).toBe(want.step);
      expect(got.tokens).toBe(want.tokens);
      expect(got.loss).toBeCloseTo(want.loss, 4);
      expect(got.gradNorm / want.gradNorm).toBeCloseTo(1, 3);
      for (const [n, item] of got.items.entries()) {
        expect(largest(item.logprobs, want.items[n]!.logprobs)).toBeLessThan(1e-4);
        expect([...item.clipped]).toEqual([...want.items[n]!.clipped]);
      }
    }
    const path = newFolder();
    await own.save(createFolder(path), { optimizer: false });
    const [want, got] = [await weightsOf(path), await weightsOf(await saved(served, false))];
    for (const [name, start] of await weightsOf(BASE)) {
      const moved = (values: Float32Array) => values.map((value, n) => value - start[n]!);
      expect(relativeError(moved(got.get(name)!), moved(want.get(name)!)), name).toBeLessThan(1e-3);
    }
  });
});

describe("a LoRA adapter", () => {
  /** Adam that is nearly linear in the gradient, and one step of it. */
  const LINEAR = { ...SETTINGS, learningRate: 1, adamEpsilon: 1e6, maxGradNorm: 1e9 };

  it("its first step follows the golden gradient of the whole model, clipped tokens left out", async () => {
    const fake = await fakeOf();
    const trainer = await trainerOf(fake);
    const { loss } = await trainer.step(ITEMS, LINEAR);
    expect(loss).toBeCloseTo(golden.get("loss")![0]!, 5);
    const { factors } = await adapterOf(trainer);
    const name = "model.layers.0.self_attn.v_proj";
    const [a, b] = [factors.get(`${name}.A`)!, factors.get(`${name}.B`)!];
    const gradient = golden.get(`grad/${name}.weight`)!;
    const [rank, ins, outs] = [4, 64, 64];
    // From B = 0 its gradient is (alpha / r) · gradient · Aᵀ; the step is its negative over epsilon.
    const expected = new Float32Array(b.length);
    for (let out = 0; out < outs; out += 1)
      for (let k = 0; k < rank; k += 1)
        for (let n = 0; n < ins; n += 1)
          expected[out * rank + k]! -= ((32 / rank) * gradient[out * ins + n]! * a[k * ins + n]!) / 1e6;
    expect(relativeError(b, expected)).toBeLessThan(1e-3);
  });

  it("comes home as PEFT reads it, and merged gives the server's log-probabilities in our own engine", async () => {
    const fake = await fakeOf();
    const trainer = await trainerOf(fake, { merge: true });
    const before = await trainer.score(TWO.map(request));
    for (let n = 0; n < 2; n += 1) await trainer.step(TWO, { ...SETTINGS, learningRate: 1e-3 });
    const after = await trainer.score(TWO.map(request));
    expect(largest(after[0]!.logprobs, before[0]!.logprobs)).toBeGreaterThan(1e-2);
    const merged = await ModelScorer.open(createReferenceBackend(), openFolder(await saved(trainer, false)));
    for (const [n, { logprobs }] of (await merged.score(TWO.map(request))).entries())
      expect(largest(logprobs, after[n]!.logprobs)).toBeLessThan(1e-4);

    const { config } = await adapterOf(await trainerOf(fake));
    expect(config).toMatchObject({ peft_type: "LORA", r: 4, lora_alpha: 32 });
    // The server does not say it, and PEFT would guess.
    const modules = ["down", "gate", "k", "o", "q", "up", "v"].map((each) => `${each}_proj`);
    expect(config.target_modules).toEqual(modules);
  });

  async function adapterOf(trainer: TinkerTrainer) {
    const path = await saved(trainer, false);
    const factors = new Map<string, Float32Array>();
    for (const [name, { values }] of await tensorsOf(path, "adapter_model.safetensors")) {
      const [, module, factor] = /^base_model\.model\.(.*)\.lora_([AB])\.weight$/.exec(name)!;
      factors.set(`${module}.${factor}`, values);
    }
    const config = JSON.parse(readFileSync(join(path, "adapter_config.json"), "utf8"));
    return { factors, config };
  }
});

describe("checkpoints", () => {
  it("a new model goes on to the same numbers, on a server that was started again", async () => {
    const fake = await fakeOf();
    const trainer = await trainerOf(fake);
    await trainer.step(TWO, SETTINGS);
    const checkpoint = await saved(trainer, true);
    const whole = [await trainer.step(TWO_ON_POLICY, SETTINGS), await trainer.step(TWO, SETTINGS)];
    fake.restart();
    const again = await trainerOf(fake, {}, checkpoint);
    expect([await again.step(TWO_ON_POLICY, SETTINGS), await again.step(TWO, SETTINGS)]).toEqual(whole);
  });

  it("one that the server does not have ends the run with one line", async () => {
    const checkpoint = await saved(await trainerOf(await fakeOf()), true);
    const other = await fakeOf();
    await expect(trainerOf(other, {}, checkpoint)).rejects.toThrow(
      new RegExp(`^${checkpoint}: cannot go on: ${other.url} does not have tinker://\\S+, which \\S+ saved`),
    );
  });
});

describe("faults", () => {
  it.each(["/forward", "/create_session"])("a lost answer of %s is asked for again", async (route) => {
    const fake = await fakeOf({ fault: (asked, count) => (asked === route && count === 1 ? "lost" : null) });
    const trainer = await trainerOf(fake);
    expect((await trainer.score([request(ITEMS[0]!)]))[0]!.logprobs).toHaveLength(
      ITEMS[0]!.responseIds.length,
    );
  });

  it.each([
    ["is lost where the server would do it twice", false],
    ["is sent again where the server takes it for the same", true],
  ])("an update whose answer is lost %s", async (_, sameNumberIsSame) => {
    let lose = false;
    const fake = await fakeOf({
      sameNumberIsSame,
      fault: (route) => {
        if (!lose || route !== "/optim_step") return null;
        lose = false;
        return "lost";
      },
    });
    const trainer = await trainerOf(fake);
    lose = true;
    const step = trainer.step(TWO, SETTINGS);
    if (sameNumberIsSame) {
      const plain = await (await trainerOf(await fakeOf())).step(TWO, SETTINGS);
      expect(await step).toEqual(plain);
    } else {
      await expect(step).rejects.toMatchObject({
        name: "DeviceError",
        fault: "server",
        message: `${fake.url}/api/v1/optim_step: no answer: other side closed`,
      });
      // What was added would be the next model's gradient.
      const updates = fake.asked.filter((route) => route === "/optim_step").length;
      const before = fake.asked.length;
      trainer.dispose();
      await trainerOf(fake);
      expect(fake.asked.slice(before)).toContain("/unload_model");
      expect(fake.asked.filter((route) => route === "/optim_step").length).toBeGreaterThan(updates + 1);
      expect(fake.loaded).toBe(1);
    }
  });

  it.each([
    ["restart", "status 400: Model model_\\d+ not loaded \\(likely stale request from previous server\\)"],
    [{ status: 500, detail: "Internal Server Error" }, "status 500: Internal Server Error"],
  ] as const)("%j: the model is lost", async (fault, message) => {
    let now = false;
    const fake = await fakeOf({ fault: () => (now ? fault : null) });
    const trainer = await trainerOf(fake);
    now = true;
    await expect(trainer.score([request(ITEMS[0]!)])).rejects.toMatchObject({
      name: "DeviceError",
      message: expect.stringMatching(new RegExp(`^${fake.url}/api/v1/forward: ${message}$`)),
    });
  });

  it("a server that is gone is not waited for when its model is cleared up", async () => {
    const fake = await fakeOf({ fault: (route) => (leaves && route === "/unload_model" ? "gone" : null) });
    let leaves = false;
    const tries: string[] = [];
    const server = new Server(fake.url, { pausesMs: [1], onNote: (note) => tries.push(note) });
    const trainer = await trainerOf(fake, {}, null, server);
    leaves = true;
    trainer.dispose();
    await trainerOf(await fakeOf());
    expect(tries).toEqual([]);
    await expect(fetch(`${fake.url}/api/v1/healthz`)).rejects.toThrow("fetch failed");
  });

  it("a result that takes its time is polled until it is there", async () => {
    const fake = await fakeOf({ late: 2 });
    const client = await TinkerClient.open(serverOf(fake));
    const model = await client.createModel(BASE, 2, 1);
    expect(await model.save("here")).toBe(`tinker://${model.id}/weights/here`);
    client.close();
  });

  it("a future that the server does not know is a lost model, a refusal is final", async () => {
    const fake = await fakeOf();
    const client = await TinkerClient.open(serverOf(fake));
    const result = client.result("/forward", "999", z.unknown());
    await expect(result).rejects.toMatchObject({
      name: "DeviceError",
      message: `${fake.url}/api/v1/forward: status 404: Future not found`,
    });
    client.close();
    const refusing = await fakeOf({
      fault: (route) =>
        route === "/create_model" ? { status: 400, detail: "LoRA rank 9 must be between 1 and 8" } : null,
    });
    await expect(trainerOf(refusing)).rejects.toMatchObject({
      name: "InputError",
      message: `${refusing.url}/api/v1/create_model: status 400: LoRA rank 9 must be between 1 and 8`,
    });
  });
});

describe("the probe", () => {
  it("refuses a gradient that it does not know, and Adam's parameters that do not count", async () => {
    await expect(trainerOf(await fakeOf({ gradient: "mean of all tokens" }))).rejects.toThrow(
      /normalises gradients in a way that is not known here: .*another sequence 0\.667, .*expected 2, 1 or 0\.5/,
    );
    const fake = await fakeOf({ ownOptimizer: true, gradient: "sum" });
    await expect(trainerOf(fake)).rejects.toThrow(/tinker\.optimizer: sets Adam's parameters by itself/);
    const own = await ModelTrainer.open(createReferenceBackend(), openFolder(BASE));
    const served = await trainerOf(fake, { ownOptimizer: true, rank: 0 });
    for (const trainer of [own, served]) await trainer.step(ITEMS, SETTINGS);
    const [want, got] = [await own.score(ITEMS.map(request)), await served.score(ITEMS.map(request))];
    for (const [n, { logprobs }] of got.entries())
      expect(largest(logprobs, want[n]!.logprobs)).toBeLessThan(1e-4);
  });
});

describe("three steps at a learning rate of 0", () => {
  it.each<[string, Partial<FakeTinkerOptions>, Partial<TinkerOptions>, RegExp]>([
    [
      "updates of an adapter",
      { atRateZero: 1e-5 },
      {},
      /: three steps at a learning rate of 0 move the log-probabilities .* by \S+ nats, and no step by 0\.0: it changes the weights$/,
    ],
    ["updates of all weights", { atRateZero: 1e-5 }, { rank: 0 }, /: it changes the weights$/],
    ["scores that drift", { drift: 0.06 }, {}, /by 0\.24 nats, and no step by 0\.060: its scores drift$/],
    [
      "a normaliser that is another for longer sequences",
      { countsAtMost: 8 },
      {},
      /normalises gradients of the run's decisions otherwise than those of the probe: their norm is \S+ sent together, /,
    ],
  ])("refuse %s", async (_, faults, options, message) => {
    await expect(trainerOf(await fakeOf(faults), { decisions: TWO, ...options })).rejects.toThrow(message);
  });

  it("leave the run's numbers as they are, and are told of noise", async () => {
    const numbers = async (decisions: TinkerOptions["decisions"]) => {
      const trainer = await trainerOf(await fakeOf(), { decisions });
      return [await trainer.step(TWO, SETTINGS), await trainer.step(TWO_ON_POLICY, SETTINGS)];
    };
    expect(await numbers(TWO)).toEqual(await numbers([]));
    await trainerOf(await fakeOf({ noise: 0.06 }), { decisions: ITEMS.slice(0, 1) });
    expect(notes.at(-2)).toMatch(/warning: \S+: scores of the same decisions differ by 0\.060 nats/);
  });
});

describe("responses", () => {
  it.each([1, 0.5])(
    "have no id without a token at temperature %d, though the server has no masks",
    async (temperature) => {
      const trainer = await trainerOf(await fakeOf());
      const { promptIds } = ITEMS[0]!;
      const drawable: SampleRequest["drawable"] = [
        [0, 1200],
        [1862, 1863],
      ];
      const [drawn] = await trainer.sample([
        { ...{ id: "s", promptIds, maxTokens: 24, temperature, seed: 5 }, ...{ stopIds: [1862], drawable } },
      ]);
      expect(drawn!.responseIds.every((id) => id < 1200 || id === 1862)).toBe(true);
      expect(drawn!.responseIds).toHaveLength(24);
      const [scored] = await trainer.score([{ id: "s", promptIds, responseIds: drawn!.responseIds }]);
      expect(largest(drawn!.logprobs, scored!.logprobs)).toBeLessThan(1e-4);
    },
  );

  it.each([1, 0.5])("at temperature %d have the log-probabilities of temperature 1", async (temperature) => {
    const trainer = await trainerOf(await fakeOf());
    await trainer.step(TWO, { ...SETTINGS, learningRate: 1e-3 });
    const requests = [0, 1, 2].map(
      (n): SampleRequest => ({
        ...{ id: `s${n}`, promptIds: ITEMS[n]!.promptIds, maxTokens: 6, temperature, seed: 2 ** 32 - 1 - n },
        ...{ stopIds: [1862], drawable: [[0, 1880]] },
      }),
    );
    const drawn = await trainer.sample(requests);
    expect(drawn.map(({ id }) => id)).toEqual(["s0", "s1", "s2"]);
    const scored = await trainer.score(
      drawn.map(({ id, responseIds }, n) => ({ id, responseIds, promptIds: requests[n]!.promptIds })),
    );
    for (const [n, { logprobs }] of drawn.entries())
      expect(largest(logprobs, scored[n]!.logprobs)).toBeLessThan(1e-4);
  });
});

const request = ({ promptIds, responseIds, decision }: TrainItem) => ({
  ...{ id: String(decision), promptIds, responseIds },
});

async function tensorsOf(path: string, file: string) {
  const stored = await Checkpoint.openFile(openFolder(path), file);
  const tensors = new Map<string, { shape: readonly number[]; values: Float32Array }>();
  for (const [name, { shape }] of stored.tensors)
    tensors.set(name, { shape, values: await stored.read(name, shape) });
  return tensors;
}

async function weightsOf(path: string): Promise<Map<string, Float32Array>> {
  const tensors = await tensorsOf(path, "model.safetensors");
  return new Map([...tensors].map(([name, { values }]) => [name, values]));
}
