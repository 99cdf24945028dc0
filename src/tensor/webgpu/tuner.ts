import { sha256Hex } from "../../core/seeded.ts";
import type { Backend } from "../backend.ts";
import type { AttentionShape, ProductShape, TuningShapes } from "../tuning-shapes.ts";
import { ATTENTION_SOURCES, matrixFitting } from "./attention-matrix.ts";
import type { Context } from "./context.ts";
import {
  accumulateTN,
  multiplyNN,
  multiplyNT,
  PRODUCT_SOURCES,
  productCandidates,
  unitOf,
} from "./matmul.ts";
import { MATRIX_SOURCE } from "./matmul-matrix.ts";
import type { GpuTensor } from "./memory.ts";
import {
  attentionClass,
  decide,
  type MatrixPass,
  type MatrixTiles,
  type ProductChoice,
  parseTuningFile,
  productClass,
  type TuningEntries,
  type TuningFile,
} from "./tuning.ts";

/** Where choices are kept from one run to the next, as text. */
export interface TuningStore {
  /** Null when nothing is kept yet. */
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
}

export interface TuningOptions {
  store?: TuningStore;
  /** One line for a person, when the store or a measurement fails: the fixed rules hold then. */
  onNote?: (note: string) => void;
  /** Measure on software adapters too, for which the fixed rules are known to be right: for tests. */
  force?: boolean;
  /** Seconds that `work` takes on the device, in place of measuring. */
  time?: (work: () => void) => Promise<number>;
}

/** Values of the tensors of one measurement: 1 GiB. */
const MOST_VALUES = 2 ** 28;
/** Seconds that one measurement goes on for, and the best of how many counts. */
const MEASURED = 0.01;
const ROUNDS = 3;
const MOST_REPEATS = 200;
/** Rows of a sequence in the pack that attention is measured on. */
const SEQUENCE = 2048;

interface TunerParts {
  context: Context;
  /** Adapter as it names itself. */
  description: string;
  operations: Pick<Backend<GpuTensor>, "attention" | "attentionBackward" | "fromArray" | "zeros" | "sync">;
  options: TuningOptions;
}

/** What the choices of an adapter depend on, but for the kernels. */
export function adapterKey(description: string, { features, software }: Context): string {
  return JSON.stringify({ description, software, ...features });
}

/** Of the text of all kernels among which there is a choice. */
export function kernelHash(): string {
  return sha256Hex([...PRODUCT_SOURCES, MATRIX_SOURCE, ...ATTENTION_SOURCES].join("\n")).slice(0, 16);
}

/**
 * `Backend.tune` on a device: measures, for each class of shapes that has no entry yet, the kernels that serve it on
 * scratch tensors of that class, and puts the fastest into `context.tuning`. Stored choices are read before the first
 * measurement, and written whole after the last.
 */
export function createTuner({ context, description, operations, options }: TunerParts) {
  const { memory, commands, tuning } = context;
  const { store, onNote } = options;
  const time = options.time ?? ((work: () => void) => timeOnDevice(context, operations.sync, work));
  const key = adapterKey(description, context);
  const kernels = kernelHash();
  let loaded = false;

  const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

  async function readStore(note: (note: string) => void): Promise<TuningFile> {
    const none: TuningFile = { format: 1, adapters: {} };
    try {
      const text = (await store?.read()) ?? null;
      return text === null ? none : parseTuningFile(text);
    } catch (error) {
      note(`The stored choices of kernels are ignored and measured again: ${reason(error)}`);
      return none;
    }
  }

  async function save(measured: TuningEntries): Promise<void> {
    if (!store) return;
    // Another process may have stored its own meanwhile: those hold, so that the cards of one host compute alike. What
    // is damaged was told of before.
    const file = await readStore(() => {});
    const before = file.adapters[key];
    const mine = before?.kernels === kernels ? before : { products: {}, attention: {} };
    const all: TuningEntries = {
      products: { ...measured.products, ...mine.products },
      attention: { ...measured.attention, ...mine.attention },
    };
    tuning.take(all);
    file.adapters[key] = { kernels, ...all };
    try {
      await store.write(`${JSON.stringify(file, null, 1)}\n`);
    } catch (error) {
      onNote?.(`The choices of kernels could not be stored: ${reason(error)}`);
    }
  }

  async function tuneProduct(shape: ProductShape): Promise<void> {
    const run = smaller(shape);
    const [wanted, measured] = [shape, run].map((s) => productClass(unitOf(context), s)) as [string, string];
    if (tuning.has(wanted)) return;
    const candidates = productCandidates(context, run);
    if (candidates.length < 2) return;
    const { form, m, n, k } = run;
    const before = tuning.product(unitOf(context), form, m, n, k);
    const make = (rows: number, columns: number) => operations.zeros([rows, columns]);
    const [a, b, c] = [
      form === "tn" ? make(k, m) : make(m, k),
      form === "nt" ? make(n, k) : make(k, n),
      make(m, n),
    ];
    const product = {
      a: { tensor: a, row: a.shape[1]! },
      b: { tensor: b, row: b.shape[1]! },
      c: { tensor: c, row: n },
      m,
      n,
      k,
    };
    const multiply = { nt: multiplyNT, nn: multiplyNN, tn: accumulateTN }[form];
    let found: ProductChoice | undefined;
    try {
      const times = [];
      for (const choice of candidates) {
        tuning.setProduct(measured, choice);
        times.push({ choice, seconds: await time(() => multiply(context, product)) });
      }
      found = decide(times);
    } finally {
      tuning.setProduct(measured, before);
      tuning.setProduct(wanted, found);
      for (const t of [a, b, c]) memory.free(t);
    }
  }

  async function tuneAttention({ queries: wantedQueries, heads, groups, size, backward }: AttentionShape) {
    const fit = Math.floor(MOST_VALUES / ((4 * heads + 4 * groups) * size));
    const queries = Math.min(wantedQueries, 2 ** Math.floor(Math.log2(Math.max(1, fit))));
    const passes: readonly MatrixPass[] = backward ? ["dq", "dkv"] : ["forward"];
    for (const pass of passes) {
      const wanted = attentionClass(pass, size, wantedQueries);
      const measured = attentionClass(pass, size, queries);
      if (tuning.has(wanted)) continue;
      const candidates = matrixFitting(context, pass, { queries, size });
      if (candidates.length < 2) continue;
      const before = tuning.attention(pass, size, queries);
      const rows = (value: (i: number) => number) =>
        operations.fromArray(
          Uint32Array.from({ length: queries }, (_, i) => value(i)),
          [queries],
        );
      const first = (i: number) => i - (i % SEQUENCE);
      const keys = { start: rows(first), end: rows((i) => i + 1) };
      const queryEnd = rows((i) => Math.min(queries, first(i) + SEQUENCE));
      const [q, k, v] = [heads, groups, groups].map((count) => operations.zeros([queries, count, size])) as [
        GpuTensor,
        GpuTensor,
        GpuTensor,
      ];
      const { o, lse } = operations.attention(q, k, v, keys);
      const work = backward
        ? () => {
            const { dq, dk, dv } = operations.attentionBackward(o, q, k, v, o, lse, keys, queryEnd);
            for (const t of [dq, dk, dv]) memory.free(t);
          }
        : () => {
            const made = operations.attention(q, k, v, keys);
            for (const t of [made.o, made.lse]) memory.free(t);
          };
      let found: MatrixTiles | undefined;
      try {
        const times = [];
        for (const choice of candidates) {
          tuning.setAttention(measured, choice);
          times.push({ choice, seconds: await time(work) });
        }
        found = decide(times);
      } finally {
        tuning.setAttention(measured, before);
        tuning.setAttention(wanted, found);
        for (const t of [keys.start, keys.end, queryEnd, q, k, v, o, lse]) memory.free(t);
      }
    }
  }

  return async function tune({ products, attention }: TuningShapes): Promise<void> {
    if (context.software && !options.force) return;
    if (!loaded) {
      loaded = true;
      const stored = (await readStore((note) => onNote?.(note))).adapters[key];
      if (stored?.kernels === kernels) tuning.take(stored);
    }
    // What failed before is not the measurements' fault.
    await operations.sync();
    const before = JSON.stringify(tuning.entries);
    try {
      for (const shape of products) await tuneProduct(shape);
      for (const shape of attention) await tuneAttention(shape);
    } catch (error) {
      commands.profile.cancel();
      // A lost device fails whoever asked; a refused scratch tensor is no reason to.
      await operations.sync();
      onNote?.(`Measuring kernels was given up, the fixed rules hold: ${reason(error)}`);
    }
    const { entries } = tuning;
    if (JSON.stringify(entries) !== before) await save(entries);
  };
}

/** With fewer rows, where the scratch tensors of a shape would be too large. */
function smaller(shape: ProductShape): ProductShape {
  let { m, k } = shape;
  const { form, n } = shape;
  const values = () => m * k + n * k + m * n;
  while (values() > MOST_VALUES && (form === "tn" ? k : m) > 64) {
    if (form === "tn") k = Math.ceil(k / 2);
    else m = Math.ceil(m / 2);
  }
  return { form, m, n, k };
}

/** By timestamps around passes where the device has them and nobody else is timing, else by the clock. */
async function timeOnDevice(
  { commands, features }: Context,
  sync: () => Promise<void>,
  work: () => void,
): Promise<number> {
  // Compiles.
  work();
  await sync();
  const clock = async (times: number): Promise<number> => {
    const begin = performance.now();
    for (let i = 0; i < times; i++) work();
    await sync();
    return (performance.now() - begin) / 1e3 / times;
  };
  const stamped = features.timestamps && !commands.profile.active;
  const byStamps = async (times: number): Promise<number> => {
    commands.flush();
    commands.profile.start("passes");
    for (let i = 0; i < times; i++) work();
    commands.flush();
    const kernels = await commands.profile.stop();
    return kernels.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1e3 / times;
  };
  const measure = stamped ? byStamps : clock;
  const repeats = Math.max(1, Math.min(MOST_REPEATS, Math.ceil(MEASURED / (await clock(1)))));
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < ROUNDS; i++) best = Math.min(best, await measure(repeats));
  return best;
}
