import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { MemoryFolder } from "../../../test/memory-folder.ts";
import { modelFixture } from "../../../test/support/golden.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { DeviceError } from "../../core/errors.ts";
import { PAPER_SETTINGS, type ScoreRequest, type TrainItem } from "../../core/ports.ts";
import { uniforms } from "../../core/seeded.ts";
import { createNodeBackend } from "../native/node.ts";
import { openFolder } from "../native/node-folder.ts";
import { ModelScorer } from "../native/scorer.ts";
import { ModelTrainer } from "../native/trainer.ts";
import { Card } from "./card.ts";
import { Cards } from "./cards.ts";
import { CardsScorer } from "./cards-scorer.ts";
import { CardsTrainer } from "./cards-trainer.ts";
import type { CardLink, FromCard, ToCard } from "./protocol.ts";
import { scoringUnits } from "./share.ts";

const MODEL = modelFixture("qwen3-a");
const SETTINGS = { ...PAPER_SETTINGS, learningRate: 1e-3 };

/** Cards of this very process; messages travel as clones, later, as between processes. */
class LocalLink implements CardLink {
  #on: Parameters<CardLink["listen"]>[0] | null = null;
  readonly #card = new Card((message) => this.#later(message));

  #later(message: FromCard): void {
    const sent = structuredClone(message);
    setImmediate(() => this.#on?.message(sent));
  }
  send(message: ToCard): void {
    const sent = structuredClone(message);
    setImmediate(() => this.#card.receive(sent));
  }
  listen(on: Parameters<CardLink["listen"]>[0]): void {
    this.#on = on;
  }
  /** As when the process is killed. */
  die(why: string): void {
    const on = this.#on;
    this.#on = null;
    void this.#card.close();
    on?.ended(why);
  }
  end(): void {
    this.#on = null;
    void this.#card.close();
  }
}

// Finds the software driver where no other is chosen.
beforeAll(async () => void (await openGpu()));

let opened: Cards | null = null;
let links: LocalLink[] = [];
async function openCards(count: number, device: "cpu" | "webgpu" = "cpu"): Promise<Cards> {
  links = [];
  opened = await Cards.open({
    cards: Array.from({ length: count }, (_, card) => card),
    device,
    link: () => {
      const link = new LocalLink();
      links.push(link);
      return link;
    },
    slots: { bytes: 64 * 1024, perCard: 4 },
  });
  return opened;
}
afterEach(() => {
  opened?.dispose();
  opened = null;
});

function items(count: number, seed: number): TrainItem[] {
  const next = uniforms(seed);
  const ids = (n: number) => Array.from({ length: n }, () => Math.floor(next() * 1800));
  return Array.from({ length: count }, (_, n) => {
    const responseIds = ids(3 + Math.floor(next() * 6));
    return {
      episode: `e${Math.floor(n / 2)}`,
      decision: n % 2,
      promptIds: ids(10 + Math.floor(next() * 30)),
      responseIds,
      teacherLogprobs: responseIds.map(() => -8 * next()),
      rolloutLogprobs: n % 3 === 0 ? null : responseIds.map(() => -7.5 - 0.2 * next()),
      weight: 1 / (count * responseIds.length),
    };
  });
}

const requests = (count: number): ScoreRequest[] =>
  items(count, 5).map(({ promptIds, responseIds }, n) => ({ id: `r${n}`, promptIds, responseIds }));

async function saved(trainer: { save: ModelTrainer["save"] }): Promise<MemoryFolder> {
  const folder = new MemoryFolder("saved");
  await trainer.save(folder, { optimizer: true });
  return folder;
}

function sameFiles(a: MemoryFolder, b: MemoryFolder): boolean {
  const names = [...a.files.keys()];
  if (names.length !== b.files.size) return false;
  return names.every((name) => Buffer.from(a.files.get(name)!).equals(Buffer.from(b.files.get(name)!)));
}

function floats(folder: MemoryFolder, file: string): Float32Array {
  const bytes = Buffer.from(folder.files.get(file)!);
  const length = Number(bytes.readBigUInt64LE(0));
  return new Float32Array(Uint8Array.from(bytes.subarray(8 + length)).buffer);
}

describe("scoring on several cards", () => {
  it("gives what one card gives, in the order of the requests", async () => {
    const backend = await createNodeBackend("cpu");
    const one = await ModelScorer.open(backend, openFolder(MODEL));
    const expected = await one.score(requests(9));
    backend.dispose();
    const scorer = await CardsScorer.open(await openCards(3), MODEL);
    expect(scorer.info.adapter).toMatch(/^3 × /);
    const progress: number[] = [];
    const got = await scorer.score(requests(9), {
      onProgress: ({ done, total }) => progress.push(done / total),
    });
    expect(got.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    got.forEach(({ logprobs }, n) => {
      logprobs.forEach((value, i) => {
        expect(Math.abs(value - expected[n]!.logprobs[i]!)).toBeLessThan(1e-4);
      });
    });
    expect(progress.at(-1)).toBe(1);
    expect(await scorer.score([])).toEqual([]);
  });

  it("a card keeps nothing of one unit for the next, which any card may take", async () => {
    const scorer = await CardsScorer.open(await openCards(2), MODEL);
    const { forget, score } = ModelScorer.prototype;
    const seen: string[] = [];
    vi.spyOn(ModelScorer.prototype, "forget").mockImplementation(function (this: ModelScorer) {
      seen.push("forget");
      forget.call(this);
    });
    vi.spyOn(ModelScorer.prototype, "score").mockImplementation(function (this: ModelScorer, ...of) {
      seen.push("score");
      return score.apply(this, of);
    });
    const nine = requests(9);
    await scorer.score(nine);
    vi.restoreAllMocks();
    const units = scoringUnits(nine, 2);
    expect(units.length).toBeGreaterThan(2);
    expect(seen).toEqual(units.flatMap(() => ["forget", "score"]));
  });

  it("bad input of one card ends the work with its own line, and the cards can be used again", async () => {
    const scorer = await CardsScorer.open(await openCards(2), MODEL);
    const bad = [...requests(3), { id: "bad", promptIds: [99_999], responseIds: [1] }];
    await expect(scorer.score(bad)).rejects.toThrow(/token id 99999 .*not in the vocabulary/);
    expect(await scorer.score(requests(3))).toHaveLength(3);
  });

  it("a card that dies ends the work with its name, as a lost device", async () => {
    const scorer = await CardsScorer.open(await openCards(2), MODEL);
    links[1]!.send = () => links[1]!.die("SIGSEGV");
    const error: unknown = await scorer.score(requests(20)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DeviceError);
    expect((error as Error).message).toMatch(/^card 1 \(.+\): its process ended \(SIGSEGV\)$/);
    await expect(scorer.score(requests(2))).rejects.toThrow("card 1");
  });
});

describe.each([
  ["cpu", 2, 1e-6],
  ["cpu", 3, 1e-6],
  ["webgpu", 2, 1e-5],
] as const)("training on %s, %i cards", (device, count, tolerance) => {
  it("takes the steps that one card takes, within float noise, with the same reports", async () => {
    const batches = device === "cpu" ? [items(5, 1), items(4, 2), items(1, 3)] : [items(2, 1), items(1, 2)];
    const backend = await createNodeBackend(device);
    const one = await ModelTrainer.open(backend, openFolder(MODEL), { optimizer: "ignore" });
    const expected = [];
    for (const batch of batches) expected.push(await one.step(batch, SETTINGS));
    const oneSaved = await saved(one);
    backend.dispose();

    const trainer = await CardsTrainer.open(await openCards(count, device), MODEL, { optimizer: "ignore" });
    for (const [n, batch] of batches.entries()) {
      const report = await trainer.step(batch, SETTINGS);
      const wanted = expected[n]!;
      expect(report.step).toBe(n + 1);
      expect(report.tokens).toBe(wanted.tokens);
      expect(report.items.map(({ episode, decision }) => [episode, decision])).toEqual(
        batch.map(({ episode, decision }) => [episode, decision]),
      );
      expect(Math.abs(report.loss - wanted.loss)).toBeLessThan(1e-4);
      expect(Math.abs(report.gradNorm / wanted.gradNorm - 1)).toBeLessThan(1e-4);
    }
    expect(trainer.steps).toBe(batches.length);
    const cardsSaved = await saved(trainer);
    for (const file of ["model.safetensors", "optimizer.safetensors"]) {
      const [got, want] = [floats(cardsSaved, file), floats(oneSaved, file)];
      expect(got.length).toBe(want.length);
      let square = 0;
      got.forEach((value, i) => {
        square += (value - want[i]!) ** 2;
      });
      // AdamW turns float noise of a gradient near zero into a step of up to the learning rate.
      expect(Math.sqrt(square / got.length)).toBeLessThan(tolerance);
    }
  });
});

describe("training on several cards", () => {
  it("takes the divergence that one card takes", async () => {
    const batch = items(3, 4).map(({ responseIds, ...item }) => ({
      ...{ ...item, responseIds },
      teacherDistribution: Float32Array.from(
        { length: responseIds.length * 1880 },
        (_, i) => -((i * 7) % 11),
      ),
    }));
    const backend = await createNodeBackend("cpu");
    const one = await ModelTrainer.open(backend, openFolder(MODEL), { optimizer: "ignore" });
    const wanted = await one.step(batch, SETTINGS);
    const [whole] = await one.score([requests(1)[0]!], { distribution: true });
    backend.dispose();
    const trainer = await CardsTrainer.open(await openCards(2), MODEL, { optimizer: "ignore" });
    const report = await trainer.step(batch, SETTINGS);
    expect(report.loss).toBeCloseTo(wanted.loss, 4);
    expect(Math.abs(report.gradNorm / wanted.gradNorm - 1)).toBeLessThan(1e-4);
    expect(report.items.map(({ advantage }) => advantage.length)).toEqual(
      batch.map(({ responseIds }) => responseIds.length),
    );
    const [told] = await trainer.score([requests(1)[0]!], { distribution: true });
    expect(told!.distribution).toHaveLength(whole!.distribution!.length);
  });

  it("is the same bit for bit, time after time", async () => {
    const run = async () => {
      const cards = await openCards(3);
      const trainer = await CardsTrainer.open(cards, MODEL, { optimizer: "ignore" });
      for (const seed of [1, 2]) await trainer.step(items(5, seed), SETTINGS);
      const folder = await saved(trainer);
      cards.dispose();
      return Buffer.from(folder.files.get("model.safetensors")!).toString("base64");
    };
    expect(await run()).toBe(await run());
  });

  it("an error or an abort before the sum changes nothing; the next step is taken", async () => {
    const trainer = await CardsTrainer.open(await openCards(2), MODEL, { optimizer: "ignore" });
    const before = await saved(trainer);
    const bad = items(4, 1);
    bad[3] = { ...bad[3]!, weight: Number.NaN };
    await expect(trainer.step(bad, SETTINGS)).rejects.toThrow("not finite");
    const controller = new AbortController();
    const aborted = trainer.step(items(4, 1), SETTINGS, {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("stop now")),
    });
    await expect(aborted).rejects.toThrow("stop now");
    expect(sameFiles(await saved(trainer), before)).toBe(true);
    expect((await trainer.step(items(4, 1), SETTINGS)).step).toBe(1);
  });

  it("a sum that fails on one card leaves no trace: the next step is the one it would have been", async () => {
    const cards = await openCards(2);
    const trainer = await CardsTrainer.open(cards, MODEL, { optimizer: "ignore" });
    const before = await saved(trainer);
    const call = cards.call.bind(cards);
    cards.call = ((rank, method, of, options) =>
      method === "gradient" && rank === 1
        ? Promise.reject(new Error("card 1: no room"))
        : call(rank, method, of, options)) as typeof cards.call;
    await expect(trainer.step(items(4, 1), SETTINGS)).rejects.toThrow("card 1: no room");
    cards.call = call;
    expect(sameFiles(await saved(trainer), before)).toBe(true);
    const report = await trainer.step(items(4, 1), SETTINGS);
    cards.dispose();
    const other = await CardsTrainer.open(await openCards(2), MODEL, { optimizer: "ignore" });
    expect(await other.step(items(4, 1), SETTINGS)).toEqual(report);
  });

  it("after a card died while they sum, there is no further work", async () => {
    const trainer = await CardsTrainer.open(await openCards(2), MODEL, { optimizer: "ignore" });
    const send = links[1]!.send.bind(links[1]!);
    links[1]!.send = (message) => {
      if (message.type === "mail") links[1]!.die("SIGKILL");
      else send(message);
    };
    await expect(trainer.step(items(4, 1), SETTINGS)).rejects.toThrow("its process ended (SIGKILL)");
    await expect(trainer.score(requests(1))).rejects.toThrow("its process ended (SIGKILL)");
  });

  it.each([
    ["a student", ModelTrainer, CardsTrainer],
    ["a frozen model", ModelScorer, CardsScorer],
  ] as const)("%s samples what it samples on one card", async (_, OneCard, SeveralCards) => {
    const sample = (seed: number) => ({
      id: `s${seed}`,
      promptIds: [5, 6, 7],
      maxTokens: 5,
      temperature: 1,
      seed,
      stopIds: [],
      // Few of the model's rows, so that a card that drew from all of them would not go unnoticed.
      drawable: [[10, 20]] as const,
    });
    const backend = await createNodeBackend("cpu");
    const one = await OneCard.open(backend, openFolder(MODEL));
    const expected = await one.sample([1, 2, 3].map(sample));
    backend.dispose();
    for (const { responseIds } of expected) expect(responseIds.every((id) => id >= 10 && id < 20)).toBe(true);
    const model = await SeveralCards.open(await openCards(2), MODEL);
    expect(await model.sample([1, 2, 3].map(sample))).toEqual(expected);
    const forget = vi.spyOn(OneCard.prototype, "forget");
    model.forget();
    expect(await model.sample([1, 2, 3].map(sample))).toEqual(expected);
    expect(forget).toHaveBeenCalledTimes(2);
    forget.mockRestore();
  });
});
