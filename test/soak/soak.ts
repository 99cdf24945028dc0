/**
 * Scoring and training over and over on one adapter while devices are lost and allocations fail in the middle of the
 * work. What has to hold: every run ends at the numbers of an undisturbed one, no step is lost, and no tensor, no buffer
 * and no device stays.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { DeviceError } from "../../src/core/errors.ts";
import { libraryContexts, recordedData, type TrainEvent, train } from "../../src/core/loop/index.ts";
import { METHODS } from "../../src/core/method/index.ts";
import { PAPER_SETTINGS, type ScoreRequest } from "../../src/core/ports.ts";
import { uniforms } from "../../src/core/seeded.ts";
import { ReopeningScorer } from "../../src/engine/native/index.ts";
import { openFolder } from "../../src/engine/native/node-folder.ts";
import { ModelScorer } from "../../src/engine/native/scorer.ts";
import { ModelTrainer } from "../../src/engine/native/trainer.ts";
import { createWebGpuBackend, type WebGpuBackend } from "../../src/tensor/index.ts";
import { loadTokenizer, textCodec } from "../../src/text/index.ts";
import { MemoryFolder } from "../memory-folder.ts";
import { collectGarbage, heldObjects } from "../support/garbage.ts";
import { tinyRecords } from "../support/tiny-records.ts";
import { MemoryStore } from "../support/toy-model.ts";
import { BufferCount, type FaultyDevice, openFaultyDevice } from "./faulty-device.ts";

/** From the root of the repository, where tests and programs run. */
const modelFixture = (name: string): string => resolve("test/fixtures/models", name);

export interface SoakOptions {
  gpu: GPU;
  seconds: number;
  seed: number;
  onLine?: (line: string) => void;
}

export interface SoakReport {
  seconds: number;
  rounds: number;
  trainingSteps: number;
  scoredRequests: number;
  losses: number;
  refusals: number;
  devices: number;
  /** Buffers that were made in all. */
  buffers: number;
  bytes: number;
  /** Buffers alive at the end, all devices given back, and devices that something still holds then. */
  left: { buffers: number; bytes: number; devices: number };
  /** Buffers of one device before its first and after its last round of scoring with refused allocations. */
  steady: { first: { buffers: number; bytes: number }; last: { buffers: number; bytes: number } };
  /** Memory of this process after the first round and at the end, all garbage collected. */
  memory: { first: ProcessMemory; last: ProcessMemory };
  /** What did not hold; empty when all is well. */
  faults: string[];
}

/** In MiB. */
export interface ProcessMemory {
  /** Resident, with what the C library has been given back and keeps. */
  process: number;
  /** Objects of JavaScript. */
  javascript: number;
  /** Array buffers, and what wrappers say that they hold. */
  external: number;
}

/** Runs rounds until the time is over; at least one. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const run = new Soak(options);
  return run.go();
}

class Soak {
  readonly #options: SoakOptions;
  readonly #uniform: () => number;
  readonly #count = new BufferCount();
  readonly #devices: WeakRef<GPUDevice>[] = [];
  readonly #ends: Promise<GPUDeviceLostInfo>[] = [];
  readonly #report: SoakReport;
  readonly #codec = textCodec(
    loadTokenizer({
      tokenizerJson: readFileSync(modelFixture("tokenizer/tokenizer.json"), "utf8"),
      tokenizerConfigJson: readFileSync(modelFixture("tokenizer/tokenizer_config.json"), "utf8"),
      file: "tokenizer",
    }),
  );

  constructor(options: SoakOptions) {
    this.#options = options;
    this.#uniform = uniforms(options.seed);
    const none = { buffers: 0, bytes: 0 };
    this.#report = {
      seconds: 0,
      rounds: 0,
      trainingSteps: 0,
      scoredRequests: 0,
      losses: 0,
      refusals: 0,
      devices: 0,
      buffers: 0,
      bytes: 0,
      left: { ...none, devices: 0 },
      steady: { first: none, last: none },
      memory: { first: memory(), last: memory() },
      faults: [],
    };
  }

  async go(): Promise<SoakReport> {
    const report = this.#report;
    const began = performance.now();
    const elapsed = () => (performance.now() - began) / 1000;
    await this.#rounds(elapsed);
    await Promise.all(this.#ends);
    report.left = { ...this.#count.live, devices: await heldObjects(this.#devices) };
    for (const [what, count] of Object.entries(report.left))
      this.#expect(count === 0, `${count} ${what} stayed`);
    report.buffers = this.#count.created;
    report.bytes = this.#count.createdBytes;
    report.memory.last = memory();
    report.seconds = elapsed();
    return report;
  }

  /** A function of its own, so that nothing in it holds a device when devices are counted. */
  async #rounds(elapsed: () => number): Promise<void> {
    const report = this.#report;
    const { seconds, onLine } = this.#options;
    const calmRun = await this.#train(false);
    const calmScores = await this.#scoreOnce();
    const steady = await this.#openSteady(calmScores);
    onLine?.(
      `undisturbed: ${calmRun.steps} steps, ${calmScores.length} responses, ${elapsed().toFixed(1)} s`,
    );
    do {
      report.rounds++;
      const run = await this.#train(true);
      this.#expect(run.steps === calmRun.steps, `${run.steps} steps instead of ${calmRun.steps}`);
      this.#expect(run.weights.equals(calmRun.weights), "the student differs from an undisturbed one");
      await this.#scoreDisturbed(calmScores);
      await steady.round();
      const used = memory();
      if (report.rounds === 1) report.memory.first = used;
      const { losses, refusals, trainingSteps } = report;
      const { buffers, bytes } = this.#count.live;
      onLine?.(
        `${elapsed().toFixed(0)} s: round ${report.rounds}, ${trainingSteps} steps, ${losses} losses, ` +
          `${refusals} refused allocations, ${buffers} buffers of ${mebibytes(bytes)} MiB alive, ` +
          `process ${used.process.toFixed(0)} MiB with ${used.javascript.toFixed(0)} MiB of objects` +
          `${report.faults.length > 0 ? `, ${report.faults.length} FAULTS` : ""}`,
      );
    } while (elapsed() < seconds && report.faults.length === 0);
    steady.close();
  }

  /** A whole training run. Disturbed, many of its steps are begun on a device that fails inside them, some twice. */
  async #train(disturbed: boolean): Promise<{ steps: number; weights: Buffer }> {
    const report = this.#report;
    const { sources, episodes } = tinyRecords();
    const openTeacher = () => ModelScorer.open(device.backend, openFolder(modelFixture("qwen3-b")));
    let device = await this.#open();
    let teacher = await openTeacher();
    const kept: number[] = [];
    const times = new Map<number, number>();
    const onEvent = (event: TrainEvent): void => {
      if (event.type === "checkpoint") kept.push(event.step);
      if (!disturbed) return;
      if (event.type === "updated") report.trainingSteps++;
      if (event.type === "fault") {
        if (event.fault === "lost") report.losses++;
        else report.refusals++;
      }
      if (event.type === "step") {
        const before = times.get(event.step) ?? 0;
        times.set(event.step, before + 1);
        device.faulty.calm();
        if (before < 2 && this.#uniform() < 0.6) this.#disturb(device.faulty);
      }
    };
    const { student, step } = await train({
      method: METHODS["gc-opd"],
      settings: { ...PAPER_SETTINGS, learningRate: 1e-4 },
      batchSize: 1,
      seed: 1,
      data: recordedData(episodes.slice(0, 2)),
      codec: this.#codec,
      teacher,
      reopen: async () => {
        teacher.dispose();
        this.#giveBack(device);
        device = await this.#open();
        teacher = await openTeacher();
        return teacher;
      },
      openStudent: (folder) =>
        ModelTrainer.open(device.backend, folder ?? openFolder(modelFixture("qwen3-a")), {
          optimizer: folder === null ? "ignore" : "require",
        }),
      contexts: libraryContexts({
        codec: this.#codec,
        sources: async (_, task) => sources.filter((source) => source.task === task),
      }),
      checkpoints: new MemoryStore(),
      fingerprint: {},
      onEvent,
    });
    device.faulty.calm();
    const saved = new MemoryFolder("student");
    await student.save(saved, { optimizer: true });
    student.dispose();
    teacher.dispose();
    this.#giveBack(device);
    this.#expect(
      kept.every((value, n) => value === n + 1),
      `checkpoints of the steps ${kept.join(", ")}`,
    );
    const weights = ["model", "optimizer"].map((name) => saved.files.get(`${name}.safetensors`)!);
    return { steps: step, weights: Buffer.concat(weights) };
  }

  /** Scoring on devices that are lost, or refuse memory, in the middle of it. */
  async #scoreDisturbed(expected: readonly Float32Array[]): Promise<void> {
    let device: Opened | null = null;
    const open = async () => {
      const opened = await this.#open();
      device = opened;
      const scorer = await ModelScorer.open(opened.backend, openFolder(modelFixture("qwen3-a")));
      const close = () => {
        opened.faulty.calm();
        scorer.dispose();
        this.#giveBack(opened);
      };
      // Two in a row at most: the scorer gives up after three.
      if (faults < 2) this.#disturb(opened.faulty);
      return { scorer, close };
    };
    let faults = 0;
    const scorer = await ReopeningScorer.open(open, {
      onFault: (fault) => {
        faults++;
        if (fault instanceof DeviceError && fault.fault === "lost") this.#report.losses++;
        else this.#report.refusals++;
      },
    });
    this.#same(await scorer.score(this.#requests), expected);
    (device as Opened | null)?.faulty.calm();
    scorer.dispose();
  }

  async #scoreOnce(): Promise<Float32Array[]> {
    const device = await this.#open();
    const scorer = await ModelScorer.open(device.backend, openFolder(modelFixture("qwen3-a")));
    const results = await scorer.score(this.#requests);
    scorer.dispose();
    this.#giveBack(device);
    return results.map(({ logprobs }) => logprobs);
  }

  /** One device that lives through the whole soak while allocations on it are refused. */
  async #openSteady(expected: readonly Float32Array[]) {
    const device = await this.#open();
    const scorer = await ModelScorer.open(device.backend, openFolder(modelFixture("qwen3-a")));
    const others = () => ({ ...this.#count.live });
    await scorer.score(this.#requests);
    const live = device.backend.live();
    const { steady } = this.#report;
    steady.first = others();
    const round = async () => {
      device.faulty.refuseAfter(1 + Math.floor(this.#uniform() * 8));
      const error: unknown = await scorer.score(this.#requests).then(
        () => null,
        (reason: unknown) => reason,
      );
      // Where every buffer was at hand, none was asked for.
      if (error !== null) {
        this.#report.refusals++;
        const memory = error instanceof DeviceError && error.fault === "memory";
        this.#expect(memory, `a refused allocation was told as: ${String(error)}`);
      }
      device.faulty.calm();
      this.#same(await scorer.score(this.#requests), expected);
      const now = device.backend.live();
      this.#expect(
        now.tensors === live.tensors && now.bytes === live.bytes,
        `${now.tensors - live.tensors} tensors of ${now.bytes - live.bytes} bytes stayed on one device`,
      );
      steady.last = others();
      // What refused buffers were replaced by is as much as there was, not more each time.
      this.#expect(
        steady.last.buffers <= steady.first.buffers + STEADY_SLACK,
        `buffers of one device grew from ${steady.first.buffers} to ${steady.last.buffers}`,
      );
    };
    const close = () => {
      scorer.dispose();
      this.#giveBack(device);
    };
    return { round, close };
  }

  readonly #requests: ScoreRequest[] = Array.from({ length: 6 }, (_, n) => ({
    id: `r${n}`,
    promptIds: Array.from({ length: 40 + 13 * n }, (_, i) => (7 * i + n) % 1800),
    responseIds: Array.from({ length: 8 }, (_, i) => (31 * i + n) % 1800),
  }));

  #disturb(faulty: FaultyDevice): void {
    if (this.#uniform() < 0.5) faulty.loseAfter(1 + Math.floor(this.#uniform() * 40));
    else faulty.refuseAfter(1 + Math.floor(this.#uniform() * 60));
  }

  async #open(): Promise<Opened> {
    this.#report.devices++;
    const faulty = await openFaultyDevice(this.#options.gpu, this.#count);
    this.#devices.push(new WeakRef(faulty.compute.device));
    this.#ends.push(faulty.compute.device.lost);
    return { faulty, backend: await createWebGpuBackend(faulty.compute) };
  }

  /** Its tensors must be gone before the device is. */
  #giveBack({ backend }: Opened): void {
    const { tensors, bytes } = backend.live();
    this.#expect(tensors === 0 && bytes === 0, `${tensors} tensors of ${bytes} bytes stayed`);
    backend.dispose();
  }

  #same(results: readonly { logprobs: Float32Array }[], expected: readonly Float32Array[]): void {
    this.#report.scoredRequests += results.length;
    const same = results.every(({ logprobs }, n) =>
      Buffer.from(logprobs.buffer).equals(Buffer.from(expected[n]!.buffer)),
    );
    this.#expect(same && results.length === expected.length, "scores differ from undisturbed ones");
  }

  #expect(holds: boolean, otherwise: string): void {
    if (!holds) this.#report.faults.push(otherwise);
  }
}

interface Opened {
  faulty: FaultyDevice;
  backend: WebGpuBackend;
}

/** Buffers of other sizes that a round may leave in the pool. */
const STEADY_SLACK = 64;

function memory(): ProcessMemory {
  collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { process: rss / 2 ** 20, javascript: heapUsed / 2 ** 20, external: external / 2 ** 20 };
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
