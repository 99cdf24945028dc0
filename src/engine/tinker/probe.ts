/** What a server does with gradients, learned on a model that is thrown away. */
import { InputError } from "../../core/errors.ts";
import type { AdamParams, TinkerModel } from "./client.ts";
import { type Datum, datumOf, type Sequence } from "./datum.ts";

/** How a server normalises the gradient of a step. */
export interface Normaliser {
  /** It divides by the number of sequences since the last step. */
  sequences: boolean;
  /** It divides each sequence's part by its number of response tokens. */
  tokens: boolean;
}

/** What a sequence's advantages are multiplied by so that the normaliser is undone, in a step of `sequences` sequences. */
export const divisorOf = (normaliser: Normaliser, sequences: number, tokens: number): number =>
  (normaliser.sequences ? sequences : 1) * (normaliser.tokens ? tokens : 1);

export interface Probed {
  normaliser: Normaliser;
  /** Whether an operation that is sent again with its number is the same one. */
  retries: boolean;
}

/**
 * A step that leaves everything as it is, so that its report tells the norm of the gradient: with a learning rate of 0
 * the weights stay, and with the largest beta below 1 of f32 the moments keep all but 2⁻²⁴ of themselves. Such a step
 * must take a small gradient, since the moments take in as much of it.
 */
export const MEASURING: AdamParams = {
  learning_rate: 0,
  beta1: 1 - 2 ** -24,
  beta2: 1 - 2 ** -24,
  eps: 1,
  weight_decay: 0,
};

/** Largest difference of a ratio of two norms to what it should be: servers may compute in bf16. */
const TOLERANCE = 0.05;
/** Whether two norms, or their ratios, are the same. */
export const near = (ratio: number, expected: number): boolean =>
  Math.abs(ratio - expected) <= TOLERANCE * expected;

/** Nats that a step with an immense epsilon may move a log-probability. */
const STILL = 0.1;

/** Log-probabilities of the responses, cut out of those of all tokens but the first. */
export async function scoreSequences(
  model: TinkerModel,
  sequences: readonly Sequence[],
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  const all = await model.forward(
    sequences.map((each) => datumOf(each)),
    signal,
  );
  return all.map((logprobs, n) => Float32Array.from(logprobs.slice(sequences[n]!.promptIds.length - 1)));
}

/**
 * Probes a new model, whose gradients are empty afterwards and whose weights are of no use any more.
 *
 * @param vocabulary ids that the model has, at least 16
 * @param ownOptimizer the server sets Adam's parameters by itself
 * @throws InputError when the gradient is not one that this client can undo the normaliser of, or Adam's parameters are
 * not those that were sent
 */
export async function probe(
  model: TinkerModel,
  vocabulary: number,
  ownOptimizer: boolean,
  signal?: AbortSignal,
): Promise<Probed> {
  const { server } = model.client;
  // What an earlier model of another client may have left.
  await model.step(MEASURING, signal);
  const ids = (count: number, factor: number) =>
    Array.from({ length: count }, (_, n) => 1 + ((n * factor) % (vocabulary - 1)));
  const first = { promptIds: ids(3, 5), responseIds: ids(4, 7) };
  const other = { promptIds: ids(4, 3), responseIds: ids(2, 11) };
  const longer = { ...first, responseIds: [...first.responseIds, ...ids(4, 3)] };
  const [before] = await scoreSequences(model, [first], signal);
  const padded = (values: number[]) => [...values, 0, 0, 0, 0];
  const logprobs = [...before!];
  const one = (advantage: number) => datumOf(first, { logprobs, advantages: logprobs.map(() => advantage) });
  const nothing = datumOf(other, { logprobs: [0, 0], advantages: [0, 0] });
  const normOf = async (...requests: Datum[][]): Promise<number> => {
    for (const data of requests) await model.addGradient(data, signal);
    return model.step(MEASURING, signal);
  };
  const norm = await normOf([one(1)]);
  const ratios = {
    "twice the advantage": (await normOf([one(2)])) / norm,
    "another sequence": (await normOf([one(1), nothing])) / norm,
    "another request": (await normOf([one(1)], [nothing])) / norm,
    "twice the tokens":
      (await normOf([
        datumOf(longer, { logprobs: padded(logprobs), advantages: padded(logprobs.map(() => 1)) }),
      ])) / norm,
  };
  const halves = (ratio: number) => near(ratio, 0.5);
  const sequences = ratios["another sequence"];
  if (
    !near(ratios["twice the advantage"], 2) ||
    !(near(sequences, 1) || halves(sequences)) ||
    !near(ratios["another request"], sequences) ||
    !(near(ratios["twice the tokens"], 1) || halves(ratios["twice the tokens"]))
  ) {
    const told = Object.entries(ratios).map(([what, ratio]) => `${what} ${ratio.toPrecision(3)}`);
    throw new InputError(
      `normalises gradients in a way that is not known here: ${told.join(", ")} times the norm of one sequence; expected 2, 1 or 0.5, the same, 1 or 0.5`,
      { file: server.base },
    );
  }
  const retries = await model.probeRetries(MEASURING, signal);
  await model.addGradient([one(1)], signal);
  await model.step({ ...MEASURING, learning_rate: ownOptimizer ? 0 : 0.1, eps: 1e12 }, signal);
  const [after] = await scoreSequences(model, [first], signal);
  if (after!.some((value, n) => !(Math.abs(value - logprobs[n]!) <= STILL)))
    throw new InputError(
      ownOptimizer
        ? "changes the weights at a learning rate of 0"
        : 'sets Adam\'s parameters by itself: those of `settings` would not count; `optimizer: "server"` leaves them and the clipping of gradients to it',
      { file: server.base, key: ownOptimizer ? "" : "tinker.optimizer" },
    );
  return {
    normaliser: { sequences: halves(sequences), tokens: halves(ratios["twice the tokens"]) },
    retries,
  };
}
