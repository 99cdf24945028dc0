import { describe, expect, it } from "vitest";
import { keeping, MemoryStore, ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { EPISODES, of, options } from "../../../test/support/toy-training.ts";
import { METHODS } from "../method/index.ts";
import { train } from "./train.ts";
import { actionSpan, type Watch, watchedDecision } from "./watched.ts";

const TRAINED = { trained: true, taskTrained: true };

it("finds the action's tokens where it is named last", () => {
  const pieces = ["open", " door", "? Yes", ": ", "op", "en ", "door", "<|end|>"];
  expect(actionSpan(pieces, "open door")).toEqual([4, 7]);
  expect(actionSpan(pieces, "Yes")).toEqual([2, 3]);
  for (const action of ["close door", "", null]) expect(actionSpan(pieces, action)).toBeNull();
  expect(actionSpan([], "x")).toBeNull();
});

it("finds an action between the tags, as the parsers read it", () => {
  const pieces = [
    "<thought>",
    "focus on it",
    "</thought>",
    "<action>",
    " Focus",
    "\non",
    " Apple",
    " </action>",
  ];
  expect(actionSpan(pieces, "focus on apple")).toEqual([4, 7]);
  // An action that is also a letter of a tag, and one that only the thought names.
  expect(actionSpan(["<action>", "n", "</action>"], "n")).toEqual([1, 2]);
  expect(actionSpan(pieces, "focus on it")).toBeNull();
  expect(actionSpan(["<action>", "look (up) a+b?", "</action>"], "look (up) a+b?")).toEqual([1, 2]);
});

it("counts the whole response where the action is not found in it, and says so", () => {
  const [episode] = EPISODES;
  const [first, ...rest] = episode!.decisions;
  const other = { ...episode!, decisions: [{ ...first!, action: "named nowhere" }, ...rest] };
  const of = (read: typeof other) => watchedDecision(read, 0, { codec: toyCodec, ...TRAINED });
  const { whole, span, request } = of(other);
  expect([whole, span]).toEqual([true, [0, request.responseIds.length]]);
  expect(of(episode!).whole).toBe(false);
});

/** Weights for which the student scores its rows before a step, and may then find what a look has kept. */
const READS_STUDENT = { kind: "step-divergence", epsilon: 1e-6, delta: 0.2 } as const;

describe("watched decisions in the loop", () => {
  const watch: Watch = {
    every: 4,
    decisions: [watchedDecision(EPISODES[0]!, 0, { codec: toyCodec, ...TRAINED })],
  };

  it("are looked at before the first step, every so many, and after the last; the numbers stay", async () => {
    const method = {
      ...METHODS.opd,
      stages: METHODS.opd.stages.map((stage) => ({ ...stage, epochs: 2, weights: READS_STUDENT })),
    };
    const openStudent = async () => keeping(new ToyModel(2));
    const [plain, watched] = [options({ method, openStudent }), options({ method, openStudent, watch })];
    await train(plain);
    await train(watched);
    const looks = of(watched.events, "held-out");
    expect(looks.map(({ step }) => step)).toEqual([0, 4, 6]);
    const [decision] = looks[0]!.decisions;
    const { episode, action } = { episode: EPISODES[0]!.episode, action: EPISODES[0]!.decisions[0]!.action };
    expect(decision).toEqual({
      episode,
      decision: 0,
      action,
      ...TRAINED,
      whole: false,
      logprob: expect.any(Number),
    });
    expect(looks[2]!.decisions[0]!.logprob).not.toBe(decision!.logprob);
    const metrics = (run: typeof plain) => of(run.events, "updated").map(({ metrics }) => metrics);
    expect(metrics(watched)).toEqual(metrics(plain));
  });

  it("are looked at again where a stopped run goes on, at the steps where that is due", async () => {
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    const looks: number[] = [];
    await train({
      ...options({ watch, checkpoints, stop: stop.signal }),
      onEvent: (event) => {
        if (event.type === "held-out") looks.push(event.step);
        if (event.type === "updated" && event.step === 3) stop.abort();
      },
    });
    expect(looks).toEqual([0, 3]);
    const again = options({ watch, checkpoints });
    await train(again);
    expect(of(again.events, "held-out").map(({ step }) => step)).toEqual([4, 6]);
  });

  it("refuses a decision that its episode does not have", () => {
    expect(() => watchedDecision(EPISODES[0]!, 99, { codec: toyCodec, ...TRAINED })).toThrow(
      /none with number 99/,
    );
  });
});
