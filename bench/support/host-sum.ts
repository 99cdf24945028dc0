/**
 * The sum of gradients over processes without any card: tensors in ordinary memory, so that what is measured is the way
 * through shared memory (and an addition in plain JavaScript, which a card does itself). Slots in one file, as they were
 * once, beside a file for each slot.
 */
import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { GradientSum, type SumMessage } from "../../src/engine/cards/gradient-sum.ts";
import { createSlotFiles, type SlotPlan, type SlotStore, Slots } from "../../src/engine/cards/slots.ts";
import { createReferenceBackend, type Tensor } from "../../src/tensor/index.ts";
import { median } from "./median.ts";

interface Variant {
  name: string;
  oneFile: boolean;
  bytes: number;
  perCard: number;
}

const MIB = 2 ** 20;
/** As many bytes of slots in each; the first is what there was before. */
const VARIANTS: readonly Variant[] = [
  { name: "one file, slots of 32 MiB", oneFile: true, bytes: 32 * MIB, perCard: 8 },
  { name: "one file, slots of 8 MiB", oneFile: true, bytes: 8 * MIB, perCard: 32 },
  { name: "a file a slot, 32 MiB", oneFile: false, bytes: 32 * MIB, perCard: 8 },
  { name: "a file a slot, 8 MiB", oneFile: false, bytes: 8 * MIB, perCard: 32 },
];

/** Qwen3-1.7B with every width a quarter: values of the tensors of each layer, then those of the embedding. */
function buckets(): number[][] {
  const [d, f, kv, layers, vocabulary] = [512, 1536, 256, 28, 151_936];
  const layer = [d, d * d, kv * d, kv * d, d * d, d, f * d, f * d, d * f];
  return [...Array.from({ length: layers }, () => layer), [vocabulary * d]];
}

/** Slots in one file. */
class OneFile implements SlotStore {
  private constructor(
    readonly plan: SlotPlan,
    private readonly file: FileHandle,
  ) {}
  static async open(plan: SlotPlan): Promise<OneFile> {
    return new OneFile(plan, await open(plan.path, "r+"));
  }
  async write(card: number, slot: number, bytes: Uint8Array): Promise<void> {
    await this.file.write(bytes, 0, bytes.length, this.#at(card, slot));
  }
  async read(card: number, slot: number, bytes: Uint8Array): Promise<void> {
    await this.file.read(bytes, 0, bytes.length, this.#at(card, slot));
  }
  #at(card: number, slot: number): number {
    return (card * this.plan.perCard + slot) * this.plan.bytes;
  }
}

type ToPart =
  | { type: "open"; rank: number; cards: number; plans: { plan: SlotPlan; oneFile: boolean }[] }
  | { type: "run"; variant: number; round: number }
  | { type: "mail"; from: number; round: number; message: SumMessage };
type FromPart =
  | { type: "ready" }
  | { type: "done"; milliseconds: number; digest: string }
  | { type: "mail"; to: number; round: number; message: SumMessage };

/** One process of the bench. */
export function serveHostSum(): void {
  const backend = createReferenceBackend();
  const post = (message: FromPart) => process.send?.(message);
  let [rank, cards] = [0, 1];
  let stores: SlotStore[] = [];
  const tensors: Tensor[][] = [];
  const values = Float32Array.from({ length: 4096 }, () => 0);
  const sums = new Map<number, GradientSum>();
  let variants: number[] = [];
  const sumOf = (round: number): GradientSum => {
    let sum = sums.get(round);
    if (sum === undefined) {
      const slots = stores[round % variants.length]!;
      const send = (to: number, message: SumMessage) => post({ type: "mail", to, round, message });
      sum = new GradientSum({ rank, cards, slots, format: "f32", send });
      sums.set(round, sum);
    }
    return sum;
  };
  const refill = (data: Float32Array) => {
    for (let at = 0; at < data.length; at += values.length)
      data.set(values.subarray(0, Math.min(values.length, data.length - at)), at);
  };
  const handle = async (message: ToPart) => {
    if (message.type === "mail") {
      sumOf(message.round).receive(message.from, message.message);
    } else if (message.type === "open") {
      ({ rank, cards } = message);
      for (let i = 0; i < values.length; i++) values[i] = Math.sin(i + 1000 * rank);
      stores = await Promise.all(
        message.plans.map(({ plan, oneFile }) => (oneFile ? OneFile.open(plan) : Slots.open(plan))),
      );
      variants = message.plans.map((_, i) => i);
      for (const sizes of buckets()) tensors.push(sizes.map((count) => backend.zeros([count])));
      post({ type: "ready" });
    } else {
      for (const t of tensors.flat()) {
        const length = t.shape[0]!;
        await backend.pieces.write(t, 0, length, "f32", "replace", async (bytes) =>
          refill(new Float32Array(bytes.buffer, bytes.byteOffset, length)),
        );
      }
      const began = performance.now();
      await sumOf(message.round).run(backend, async (add) => {
        for (const bucket of tensors) add(bucket);
      });
      const milliseconds = performance.now() - began;
      sums.delete(message.round);
      const hash = createHash("sha256");
      for (const t of tensors.flat())
        await backend.pieces.read(t, 0, t.shape[0]!, "f32", async (bytes) => void hash.update(bytes));
      post({ type: "done", milliseconds, digest: hash.digest("hex") });
    }
  };
  process.on("message", (message) => void handle(message as ToPart));
  process.on("disconnect", () => process.exit(0));
}

/** Measures the variants in turn, in the same processes, and prints a table. */
export async function benchHostSum(cards: number, rounds: number): Promise<void> {
  const plans = await Promise.all(
    VARIANTS.map(async ({ oneFile, bytes, perCard }) => {
      const plan = await createSlotFiles(cards, { bytes, perCard });
      if (!oneFile) return { plan, oneFile };
      const path = `${plan.path}-one`;
      writeFileSync(path, "");
      await Slots.unlink(plan);
      return { plan: { ...plan, path }, oneFile };
    }),
  );
  const parts: ChildProcess[] = [];
  try {
    const waiting: ((message: FromPart) => void)[] = [];
    const ended: ((why: string) => void)[] = [];
    for (let rank = 0; rank < cards; rank++) {
      const part = fork(process.argv[1]!, ["serve-sum"], {
        serialization: "advanced",
        env: { UV_THREADPOOL_SIZE: "16", ...process.env },
      });
      part.on("message", (value) => {
        const message = value as FromPart;
        if (message.type !== "mail") waiting[rank]!(message);
        else {
          const { to, round, message: mail } = message;
          const sent: ToPart = { type: "mail", from: rank, round, message: mail };
          parts[to]!.send(sent);
        }
      });
      part.on("exit", (code, signal) => ended[rank]?.(signal ?? `exit code ${code}`));
      parts.push(part);
    }
    const all = (ask: (rank: number) => ToPart) =>
      Promise.all(
        parts.map(
          (part, rank) =>
            new Promise<FromPart>((resolve, reject) => {
              waiting[rank] = resolve;
              ended[rank] = (why) => reject(new Error(`process ${rank} ended: ${why}`));
              part.send(ask(rank));
            }),
        ),
      );
    await all((rank) => ({ type: "open", rank, cards, plans }));
    const times = VARIANTS.map((): number[] => []);
    const digests = new Set<string>();
    for (let round = 0; round < VARIANTS.length * (rounds + 1); round++) {
      const variant = round % VARIANTS.length;
      let slowest = 0;
      for (const answer of await all(() => ({ type: "run", variant, round }))) {
        if (answer.type !== "done") throw new Error(`unexpected answer ${answer.type}`);
        slowest = Math.max(slowest, answer.milliseconds);
        digests.add(answer.digest);
      }
      // The first of each makes the slots' memory.
      if (round >= VARIANTS.length) times[variant]!.push(slowest);
    }
    if (digests.size !== 1) throw new Error("the sums differ between processes or variants");
    const bytes =
      4 *
      buckets()
        .flat()
        .reduce((a, b) => a + b, 0);
    console.log(
      `Sum of ${(bytes / 1e6).toFixed(0)} MB of f32 on each of ${cards} processes, median of ${rounds}, variants in turn; all sums equal bit for bit.\n`,
    );
    console.log("| slots | seconds | fastest | MB of gradients a second | beside the first |");
    console.log("| --- | ---: | ---: | ---: | ---: |");
    const first = median(times[0]!);
    for (const [i, { name }] of VARIANTS.entries()) {
      const time = median(times[i]!);
      const fastest = Math.min(...times[i]!);
      console.log(
        `| ${name} | ${(time / 1e3).toFixed(2)} | ${(fastest / 1e3).toFixed(2)} | ${(bytes / time / 1e3).toFixed(0)} | ${(first / time).toFixed(2)} |`,
      );
    }
  } finally {
    for (const part of parts) if (part.connected) part.disconnect();
    for (const { plan } of plans) rmSync(plan.path, { recursive: true, force: true });
  }
}
