/** A bigram model as the ports see one: small enough to check the loop's own arithmetic without a tensor library. */

import { limitPrompt } from "../../src/core/environment/prompt-limit.ts";
import { InputError } from "../../src/core/errors.ts";
import type { CheckpointState, CheckpointStore } from "../../src/core/loop/checkpoint.ts";
import type { TextCodec } from "../../src/core/loop/codec.ts";
import {
  responseDivergence,
  responseObjective,
  reverseKl,
  topReverseKl,
} from "../../src/core/objective/index.ts";
import type {
  EngineInfo,
  FolderReader,
  FolderWriter,
  SampleRequest,
  SampleResult,
  ScoreOptions,
  ScoreRequest,
  StepReport,
  StepSettings,
  Trainer,
  TrainItem,
} from "../../src/core/ports.ts";
import { uniforms } from "../../src/core/seeded.ts";

/** Ids are character codes minus 31, so printable ASCII is 1 … 95; 0 ends a turn. */
export const TOY_VOCABULARY = 96;

export const toyCodec: TextCodec = {
  encode: (text) => Array.from(text, (character) => character.charCodeAt(0) - 31),
  decode: (ids) => String.fromCharCode(...ids.map((id) => id + 31)),
  endOfTurnId: 0,
  endOfTurn: true,
  drawable: [[0, TOY_VOCABULARY]],
  prompt({ prompt, prompt_ids, earlier = [] }, environment, { episode, decision }) {
    const key = `${episode}, decisions[${decision}].prompt`;
    if (prompt_ids !== undefined) return limitPrompt(prompt_ids, environment, { key });
    if (prompt === undefined) throw new InputError("missing", { key });
    const turns = [...earlier.map(({ content }) => content), prompt];
    return limitPrompt([...turns.flatMap((turn) => [...toyCodec.encode(turn), 0]), 1], environment, { key });
  },
  responseIds({ response, response_ids }, _environment, { episode, decision }) {
    if (response_ids !== undefined) return response_ids;
    if (response === undefined)
      throw new InputError("missing", { key: `${episode}, decisions[${decision}].response` });
    return [...toyCodec.encode(response), 0];
  },
};

/** Logits [previous id, next id], trained by plain gradient descent with a momentum that stands for optimizer state. */
export class ToyModel implements Trainer {
  readonly info: EngineInfo;
  readonly logits: Float64Array;
  readonly momentum: Float64Array;
  steps = 0;
  disposed = false;

  constructor(seed: number, name = "toy") {
    const uniform = uniforms(seed);
    this.logits = Float64Array.from({ length: TOY_VOCABULARY ** 2 }, () => 2 * uniform() - 1);
    this.momentum = new Float64Array(this.logits.length);
    this.info = {
      model: name,
      device: "cpu",
      adapter: "toy",
      dtype: "f64",
      parameters: this.logits.length,
      vocabulary: TOY_VOCABULARY,
    };
  }

  static async open(folder: FolderReader): Promise<ToyModel> {
    const bytes = await folder.read("toy.bin", 0, await folder.size("toy.bin"));
    const values = new Float64Array(bytes.slice().buffer);
    const model = new ToyModel(0);
    model.steps = values[0]!;
    model.logits.set(values.subarray(1, 1 + model.logits.length));
    model.momentum.set(values.subarray(1 + model.logits.length));
    return model;
  }

  /** log softmax of one row. */
  row(previous: number): Float64Array {
    const row = this.logits.subarray(previous * TOY_VOCABULARY, (previous + 1) * TOY_VOCABULARY);
    const largest = Math.max(...row);
    const log = largest + Math.log(row.reduce((sum, x) => sum + Math.exp(x - largest), 0));
    return row.map((x) => x - log);
  }

  logprobs(promptIds: readonly number[], responseIds: readonly number[]): Float32Array {
    return Float32Array.from(
      responseIds,
      (id, i) => this.row(i === 0 ? promptIds.at(-1)! : responseIds[i - 1]!)[id]!,
    );
  }

  /** What it was asked for beside log-probabilities, call by call. */
  readonly scoreCalls: Pick<ScoreOptions, "topK" | "distribution">[] = [];

  async score(requests: readonly ScoreRequest[], { topK, distribution }: ScoreOptions = {}) {
    this.scoreCalls.push({ topK, distribution });
    return requests.map(({ id, promptIds, responseIds }) => {
      const rows = responseIds.map((_, i) => this.row(i === 0 ? promptIds.at(-1)! : responseIds[i - 1]!));
      const orders = rows.map((row) => [...row.keys()].sort((a, b) => row[b]! - row[a]!).slice(0, topK));
      return {
        id,
        logprobs: this.logprobs(promptIds, responseIds),
        ...(topK === undefined
          ? {}
          : {
              topIds: Uint32Array.from(orders.flat()),
              topLogprobs: Float32Array.from(orders.flatMap((ids, i) => ids.map((v) => rows[i]![v]!))),
            }),
        ...(distribution ? { distribution: Float32Array.from(rows.flatMap((row) => [...row])) } : {}),
      };
    });
  }

  async sample(requests: readonly SampleRequest[]): Promise<SampleResult[]> {
    return requests.map(({ id, promptIds, maxTokens, seed, stopIds }) => {
      const uniform = uniforms(seed);
      const responseIds: number[] = [];
      while (responseIds.length < maxTokens) {
        let left = uniform();
        const row = this.row(responseIds.at(-1) ?? promptIds.at(-1)!);
        let next = 0;
        while (next < TOY_VOCABULARY - 1 && left >= Math.exp(row[next]!)) left -= Math.exp(row[next++]!);
        responseIds.push(next);
        if (stopIds.includes(next)) break;
      }
      const stop = stopIds.includes(responseIds.at(-1)!) ? "stop" : "length";
      return { id, responseIds, logprobs: this.logprobs(promptIds, responseIds), stop };
    });
  }

  async step(items: readonly TrainItem[], settings: StepSettings): Promise<StepReport> {
    const gradient = new Float64Array(this.logits.length);
    let loss = 0;
    let tokens = 0;
    const reports = items.map((item) => {
      const logprobs = this.logprobs(item.promptIds, item.responseIds);
      const rollout = item.rolloutLogprobs ?? logprobs;
      const { teacherLogprobs, teacherTop, teacherDistribution, weight, masked } = item;
      const part = responseObjective(logprobs, teacherLogprobs, rollout, weight, settings.clip, item);
      tokens += logprobs.length;
      const kl = item.responseIds.map((id, i) => {
        const previous = i === 0 ? item.promptIds.at(-1)! : item.responseIds[i - 1]!;
        const row = this.row(previous);
        const at = <A extends { subarray(from: number, to: number): A; length: number }>(all: A): A => {
          const width = all.length / logprobs.length;
          return all.subarray(i * width, (i + 1) * width);
        };
        const divergence =
          teacherTop !== undefined
            ? topReverseKl(row, at(teacherTop.ids), at(teacherTop.logprobs))
            : teacherDistribution === undefined
              ? null
              : reverseKl(row, at(teacherDistribution));
        const counted = masked?.[i] === 1 ? 0 : weight;
        row.forEach((logprob, v) => {
          gradient[previous * TOY_VOCABULARY + v]! +=
            divergence === null
              ? part.coefficients[i]! * ((v === id ? 1 : 0) - Math.exp(logprob))
              : counted * divergence.slopes[v]!;
        });
        return divergence?.kl ?? null;
      });
      if (kl.every((each) => each !== null))
        Object.assign(part, { clipped: new Uint8Array(kl.length) }, responseDivergence(kl, weight, masked));
      loss += part.loss;
      return {
        episode: item.episode,
        decision: item.decision,
        logprobs,
        ratio: Float32Array.from(part.ratio),
        advantage: Float32Array.from(part.advantage),
        clipped: part.clipped,
      };
    });
    gradient.forEach((g, i) => {
      this.momentum[i] = settings.beta1 * this.momentum[i]! + g;
      this.logits[i]! -= settings.learningRate * this.momentum[i]!;
    });
    this.steps += 1;
    return { step: this.steps, loss, gradNorm: Math.hypot(...gradient), tokens, items: reports };
  }

  async save(writer: FolderWriter): Promise<void> {
    const values = Float64Array.from([this.steps, ...this.logits, ...this.momentum]);
    await writer.write("toy.bin", [new Uint8Array(values.buffer)]);
    await writer.commit();
  }

  dispose(): void {
    this.disposed = true;
  }
}

/** Rounds by what it has kept of the calls since its last update, as a device does that finds parts of earlier prompts. */
export function keeping(model: ToyModel): ToyModel {
  const { score, step } = model;
  let kept = 0;
  const forget = (): void => {
    kept = 0;
  };
  return Object.assign(model, {
    forget,
    score: async (...asked: Parameters<typeof score>) => {
      const results = await score.apply(model, asked);
      for (const { logprobs } of results) logprobs.set(logprobs.map((x) => x - 1e-3 * kept));
      kept += 1;
      return results;
    },
    step: (...asked: Parameters<typeof step>) => {
      forget();
      return step.apply(model, asked);
    },
  });
}

/** Checkpoints in memory; `fail` makes the next save die halfway. */
export class MemoryStore implements CheckpointStore {
  saved: { state: CheckpointState; files: Map<string, Uint8Array> }[] = [];
  fail = false;

  async latest() {
    const newest = this.saved.at(-1);
    if (newest === undefined) return null;
    const { files, state } = newest;
    return {
      state: structuredClone(state),
      folder: {
        name: `memory/step-${state.step}`,
        list: async () => [...files.keys()],
        size: async (file: string) => files.get(file)!.length,
        read: async (file: string, start: number, end: number) => files.get(file)!.subarray(start, end),
      },
    };
  }

  async save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void> {
    const files = new Map<string, Uint8Array>();
    let committed = false;
    await write({
      write: async (name, chunks) => {
        const parts: Uint8Array[] = [];
        // Copies: the writer may fill a chunk again.
        for await (const chunk of chunks) parts.push(chunk.slice());
        files.set(name, Uint8Array.from(Buffer.concat(parts)));
        if (this.fail) throw new Error("disk full");
      },
      commit: async () => {
        committed = true;
      },
      abort: async () => {},
    });
    if (!committed) throw new Error("not committed");
    this.saved.push({ state: structuredClone(state), files });
  }
}
