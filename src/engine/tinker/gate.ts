/** What must hold before a run's first step: three steps at a learning rate of 0 leave everything as it is. */
import { InputError } from "../../core/errors.ts";
import type { StepSettings } from "../../core/ports.ts";
import { TOLD_ABOVE } from "../remote/calibration.ts";
import type { AdamParams, TinkerModel } from "./client.ts";
import { datumOf, requestParts, type Sequence } from "./datum.ts";
import { divisorOf, type Normaliser, near, scoreSequences } from "./probe.ts";

/** Adam's parameters of a step, as the API names them. */
export const adamOf = ({
  learningRate,
  beta1,
  beta2,
  adamEpsilon,
  weightDecay,
}: StepSettings): AdamParams => ({
  learning_rate: learningRate,
  beta1,
  beta2,
  eps: adamEpsilon,
  weight_decay: weightDecay,
});

/** Nats beyond twice what scores differ by without a step: more is not noise. */
const STEADY = 1e-4;

/**
 * Takes three steps of the same decisions at a learning rate of 0, with the run's own parameters of Adam, on a model that
 * is thrown away: its moments are not those of the run. The steps differ in how the decisions are sent (together, each in
 * a request of its own, and cut where their gradient ends), which the normaliser, undone, must not change.
 *
 * @returns nats by which the server's scores of the same decisions differ without a step
 * @throws InputError that says what moved
 */
export async function gate(
  model: TinkerModel,
  normaliser: Normaliser,
  decisions: readonly Sequence[],
  settings: StepSettings,
  signal?: AbortSignal,
): Promise<number> {
  if (decisions.length === 0) return 0;
  const { server } = model.client;
  const score = async (): Promise<Float32Array[]> => {
    const parts: Float32Array[][] = [];
    for (const part of requestParts(decisions)) parts.push(await scoreSequences(model, part, signal));
    return parts.flat();
  };
  const start = await score();
  const noise = apart(await score(), start);
  const halves = decisions.map(({ promptIds, responseIds }) => ({
    promptIds,
    responseIds: responseIds.slice(0, Math.ceil(responseIds.length / 2)),
  }));
  let last = start;
  const adam = { ...adamOf(settings), learning_rate: 0 };
  /** One step on the first half of each response. @returns the gradient's norm */
  const step = async (
    requests: readonly (readonly number[])[],
    sent: readonly Sequence[],
  ): Promise<number> => {
    for (const places of requests) {
      const data = places.map((place) => {
        const { length } = halves[place]!.responseIds;
        const { responseIds } = sent[place]!;
        const each =
          divisorOf(normaliser, decisions.length, responseIds.length) / (decisions.length * length);
        const padded = (values: ArrayLike<number>) =>
          responseIds.map((_, n) => (n < length ? values[n]! : 0));
        return datumOf(sent[place]!, {
          logprobs: padded(start[place]!),
          advantages: padded(new Float64Array(length).fill(each)),
        });
      });
      await model.addGradient(data, signal);
    }
    const norm = await model.step(adam, signal);
    last = await score();
    return norm;
  };
  const places = decisions.map((_, n) => n);
  const together = requestParts(decisions.map((each, n) => ({ ...each, n }))).map((part) =>
    part.map(({ n }) => n),
  );
  const norms = {
    together: await step(together, decisions),
    "one by one": await step(
      places.map((place) => [place]),
      decisions,
    ),
    "without the rest of the responses": await step(together, halves),
  };
  // One that is off by chance is not off again.
  const moved = Math.min(apart(last, start), apart(await score(), start));
  if (!(moved <= 2 * noise + STEADY))
    throw new InputError(
      `three steps at a learning rate of 0 move the log-probabilities of the same decisions by ${moved.toPrecision(2)} nats, and no step by ${noise.toPrecision(2)}: ${noise > TOLD_ABOVE ? "its scores drift" : "it changes the weights"}`,
      { file: server.base },
    );
  if (!Object.values(norms).every((norm) => near(norm, norms.together)))
    throw new InputError(
      `normalises gradients of the run's decisions otherwise than those of the probe: their norm is ${Object.entries(
        norms,
      )
        .map(([how, norm]) => `${norm.toPrecision(3)} sent ${how}`)
        .join(", ")}; expected the same`,
      { file: server.base },
    );
  return noise;
}

/** The largest difference, in nats; NaN where one is none. */
function apart(found: readonly Float32Array[], expected: readonly Float32Array[]): number {
  return Math.max(
    0,
    ...found.map((logprobs, n) =>
      logprobs.reduce((most, each, t) => Math.max(most, Math.abs(each - expected[n]![t]!)), 0),
    ),
  );
}
