import { describe, expect, it } from "vitest";
import { MemoryStore, ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { DeviceError, InputError } from "../errors.ts";
import { METHODS } from "../method/index.ts";
import { PAPER_SETTINGS } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { freshData, recordedData } from "./data.ts";
import type { TrainEvent } from "./events.ts";
import type { OpenedTask } from "./play.ts";
import { openRecorded } from "./recorded-environment.ts";
import { type TeacherContexts, type TrainOptions, train } from "./train.ts";

const SETTINGS = { ...PAPER_SETTINGS, learningRate: 0.5 };

function episode(id: string, responses: string[], rollout?: number): Episode {
  return {
    format: "gcopd.episode.v1",
    environment: "scienceworld",
    task: `task-${id}`,
    episode: id,
    task_description: "Do it.",
    initial_observation: "A room.",
    decisions: responses.map((response, t) => ({
      observation: t === 0 ? "A room." : "Done.",
      state: null,
      action: response,
      binding: null,
      status: "executed",
      feedback: "Done.",
      score: 0,
      gap_before: false,
      prompt: `${id} ${t}>`,
      response,
      ...(rollout === undefined ? {} : { rollout_logprobs: Array(response.length + 1).fill(rollout) }),
    })),
    final_state: null,
    outcome: { complete: true, success: false, score: 0, ended: "horizon", verified: true },
  };
}

const EPISODES = ["a", "b", "c", "d", "e"].map((id, n) =>
  episode(id, ["go", "take it", "wait"].slice(0, 1 + (n % 3))),
);

/** The same tasks, in an environment that answers every action. */
const TASKS = EPISODES.map((recorded) => ({
  episode: recorded.episode,
  environment: recorded.environment,
  task: recorded.task,
  maxDecisions: 2,
  maxTokens: 4,
  open: async () => patient(recorded.episode),
  parse: (response: string) => response,
  seedText: ({ decision, policyVersion }: { decision: number; policyVersion: number }) =>
    `${recorded.task}|${decision}|${policyVersion}`,
}));

function patient(id: string): OpenedTask {
  const turn = {
    ...{ observation: "A room.", feedback: "Done.", offered: null, state: null },
    ...{ score: 0, done: false, success: false },
  };
  return {
    environment: {
      reset: async () => ({ ...turn, description: "Do it." }),
      step: async () => ({ ...turn, status: "executed" }),
      close: async () => {},
    },
    prompt: (_start, _turn, history) => ({ message: `${id} ${history.length}>`, earlier: [] }),
    malformed: () => ({ ...turn, status: "malformed" }),
  };
}

/** Tasks over their recordings: what a student draws that was not trained on them is never recorded. */
const RECORDINGS = TASKS.map((task, n) => ({
  ...task,
  open: async () => openRecorded(EPISODES[n]!),
}));
const ROLLOUT = { temperature: 1, seed: 3 };

/** Evidence that the bigram model can see: another last token before the response. */
const contexts: TeacherContexts = async (_, evidence) => (_decision, promptIds) => ({
  promptIds: evidence.kind === "none" ? promptIds : [...promptIds, 40],
  successReference: evidence.kind !== "none",
  failureReference: false,
  backReferences: false,
});

function options(overrides: Partial<TrainOptions> = {}): TrainOptions & { events: TrainEvent[] } {
  const events: TrainEvent[] = [];
  return {
    method: METHODS["gc-opd"],
    settings: SETTINGS,
    batchSize: 2,
    seed: 7,
    data: recordedData(EPISODES),
    codec: toyCodec,
    teacher: new ToyModel(1, "teacher"),
    openStudent: async (folder) => (folder === null ? new ToyModel(2) : ToyModel.open(folder)),
    contexts,
    checkpoints: null,
    fingerprint: {},
    onEvent: (event) => {
      events.push(event);
    },
    events,
    ...overrides,
  };
}

const of = <T extends TrainEvent["type"]>(events: TrainEvent[], type: T) =>
  events.filter((event): event is Extract<TrainEvent, { type: T }> => event.type === type);

describe("the loop", () => {
  it("runs the schedule: each episode once an epoch, the last batch smaller, vanilla before evidence", async () => {
    const run = options();
    const result = await train(run);
    expect(result).toMatchObject({ step: 6, finished: true });
    const steps = of(run.events, "step");
    expect(steps.map(({ units }) => units.length)).toEqual([2, 2, 1, 2, 2, 1]);
    for (const stage of [0, 1]) {
      const units = steps.filter((event) => event.stage === stage).flatMap((event) => event.units);
      expect(units.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    }
    const scored = of(run.events, "scored");
    expect(scored.map(({ successReferences }) => successReferences > 0)).toEqual([
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(run.events[0]).toMatchObject({ type: "start", steps: 6, resumedFrom: null });
    expect(run.events.at(-1)).toMatchObject({ type: "done", step: 6 });
  });

  it("takes different tasks into a batch where there are enough, and says where there are not", async () => {
    // Three tasks; the first has three episodes.
    const episodes = [...EPISODES.slice(0, 3), episode("a2", ["go"]), episode("a3", ["go"])].map((each) => ({
      ...each,
      task: `task-${each.episode[0]}`,
    }));
    const enough = options({ data: recordedData(episodes) });
    await train(enough);
    for (const { units, repeatedTasks } of of(enough.events, "step")) {
      expect(repeatedTasks).toBe(0);
      expect(new Set(units.map((unit) => unit[0])).size).toBe(units.length);
    }
    expect(of(enough.events, "epoch").map(({ repeating }) => repeating)).toEqual([0, 0]);
    const tooFew = options({ data: recordedData(episodes), batchSize: 3 });
    await train(tooFew);
    expect(of(tooFew.events, "epoch")).toMatchObject([{ batches: 2, repeating: 1 }, { repeating: 1 }]);
    expect(
      of(tooFew.events, "step")
        .map(({ repeatedTasks }) => repeatedTasks)
        .sort(),
    ).toEqual([0, 0, 1, 1]);
  });

  it("takes another order in another epoch and with another seed", async () => {
    const order = async (seed: number) => {
      const run = options({ seed });
      await train(run);
      return of(run.events, "step").flatMap(({ units }) => units);
    };
    const [first, second] = [await order(7), await order(8)];
    expect(first.slice(0, 5)).not.toEqual(first.slice(5));
    expect(first).not.toEqual(second);
    expect(await order(7)).toEqual(first);
  });

  it("says how p_old is known; without a record every ratio is 1 and nothing is clipped", async () => {
    const run = options();
    await train(run);
    for (const { rolloutPolicy } of of(run.events, "scored")) expect(rolloutPolicy).toBe("current");
    for (const { metrics } of of(run.events, "updated")) {
      expect(metrics.rolloutKl).toBe(0);
      expect(metrics.clipFraction).toBe(0);
    }
    const recorded = options({ data: recordedData(EPISODES.map((e) => episode(e.episode, ["go"], -1))) });
    await train(recorded);
    for (const { rolloutPolicy } of of(recorded.events, "scored")) expect(rolloutPolicy).toBe("recorded");
    for (const { metrics } of of(recorded.events, "updated")) expect(metrics.rolloutKl).toBeGreaterThan(0);
  });

  it("raises Σ w A log p with the advantages held", async () => {
    const student = new ToyModel(2);
    const teacher = new ToyModel(1);
    const items = EPISODES.flatMap((e) =>
      e.decisions.map((decision) => {
        const { ids: prompt } = toyCodec.prompt(decision, e.environment, {});
        const response = toyCodec.responseIds(decision, "alfworld", {});
        const before = student.logprobs(prompt, response);
        const advantage = teacher.logprobs([...prompt, 40], response).map((q, i) => q - before[i]!);
        return { prompt, response, advantage };
      }),
    );
    const alignment = (model: ToyModel) =>
      items.reduce((sum, { prompt, response, advantage }) => {
        return sum + model.logprobs(prompt, response).reduce((part, p, i) => part + p * advantage[i]!, 0);
      }, 0);
    const before = alignment(student);
    const graphOnly = { ...METHODS["gc-opd"], stages: METHODS["gc-opd"].stages.slice(1) };
    await train(options({ method: graphOnly, openStudent: async () => student }));
    expect(alignment(student)).toBeGreaterThan(before);
  });

  it("lr 0 changes nothing", async () => {
    const student = new ToyModel(2);
    await train(options({ settings: { ...SETTINGS, learningRate: 0 }, openStudent: async () => student }));
    expect(student.logits).toEqual(new ToyModel(2).logits);
    expect(student.steps).toBe(6);
  });
});

describe("stop and resume", () => {
  it.each([1, 2, 3, 4, 5])("a run stopped after step %i goes on to the same numbers", async (at) => {
    const whole = await train(options());
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    const first = options({ checkpoints, stop: stop.signal });
    const onEvent = first.onEvent;
    first.onEvent = (event) => {
      onEvent?.(event);
      if (event.type === "updated" && event.step === at) stop.abort();
    };
    expect(await train(first)).toMatchObject({ step: at, finished: false });
    expect(first.events.at(-1)).toMatchObject({ type: "stopped", step: at });
    const second = options({ checkpoints });
    const result = await train(second);
    expect(result).toMatchObject({ step: 6, finished: true });
    expect(second.events[0]).toMatchObject({ type: "start", resumedFrom: at });
    expect((result.student as ToyModel).logits).toEqual((whole.student as ToyModel).logits);
    expect((result.student as ToyModel).momentum).toEqual((whole.student as ToyModel).momentum);
  });

  it("a checkpoint that could not be written leaves the one before, and the student is freed", async () => {
    const checkpoints = new MemoryStore();
    let student: ToyModel | undefined;
    const run = options({
      checkpoints,
      openStudent: async () => {
        student = new ToyModel(2);
        return student;
      },
    });
    run.onEvent = (event) => {
      if (event.type === "updated" && event.step === 3) checkpoints.fail = true;
    };
    await expect(train(run)).rejects.toThrow("disk full");
    expect(student?.disposed).toBe(true);
    expect((await checkpoints.latest())?.state.step).toBe(2);
  });

  it("makes checkpoints as often as asked, and always at a stop and at the end", async () => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints, checkpointEvery: 4 }));
    expect(checkpoints.saved.map(({ state }) => state.step)).toEqual([4, 6]);
    const stop = new AbortController();
    const stopped = new MemoryStore();
    await train(
      options({
        checkpoints: stopped,
        checkpointEvery: 4,
        stop: stop.signal,
        onEvent: (event) => event.type === "updated" && event.step === 2 && stop.abort(),
      } as Partial<TrainOptions>),
    );
    expect(stopped.saved.map(({ state }) => state.step)).toEqual([2]);
  });

  it.each([
    [{ position: { stage: 9, epoch: 0, batch: 0 } }, "position.stage: expected less than the run's 2 stages"],
    [{ position: { stage: 0, epoch: 2, batch: 0 } }, "position.epoch: expected at most the stage's 1 epochs"],
    [{ position: { stage: 0, epoch: 0, batch: 3 } }, "position.batch: expected less than 3, received 3"],
    [{ position: { stage: 0, epoch: 1, batch: 1 } }, "position.batch: expected less than 1, received 1"],
    [{ step: 5 }, "step: expected at most 2, the batches before its position, received 5"],
  ])("refuses a checkpoint that is not in its schedule: %j", async (changes, message) => {
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    const first = options({ checkpoints, stop: stop.signal });
    first.onEvent = (event) => {
      if (event.type === "updated" && event.step === 2) stop.abort();
    };
    await train(first);
    Object.assign(checkpoints.saved.at(-1)!.state, changes);
    await expect(train(options({ checkpoints }))).rejects.toThrow(message);
    await expect(train(options({ checkpoints }))).rejects.toThrow(InputError);
  });

  it("tells of damaged checkpoints that it passed over", async () => {
    class Damaged extends MemoryStore {
      override async latest() {
        const found = await super.latest();
        return found && { ...found, damaged: [{ name: "step-9", reason: "x is missing" }] };
      }
    }
    const checkpoints = new Damaged();
    await train(options({ checkpoints }));
    const again = options({ checkpoints });
    await train(again);
    expect(again.events.map(({ type }) => type)).toEqual(["start", "damaged", "done"]);
    expect(again.events[1]).toMatchObject({ step: 6, checkpoint: "step-9", reason: "x is missing" });
  });

  it("a finished run is not run again", async () => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints }));
    const again = options({ checkpoints });
    expect(await train(again)).toMatchObject({ step: 6, finished: true });
    expect(of(again.events, "updated")).toEqual([]);
  });

  it("does not go on with batches that an earlier version took in another order", async () => {
    const data = recordedData(EPISODES.map((each) => ({ ...each, task: "one" })));
    const checkpoints = new MemoryStore();
    await train(options({ data, checkpoints }));
    const { batches, ...earlier } = checkpoints.saved.at(-1)!.state.fingerprint;
    expect(batches).toMatch(/^[0-9a-f]{64}$/);
    checkpoints.saved.at(-1)!.state.fingerprint = earlier;
    await expect(train(options({ data, checkpoints }))).rejects.toThrow(/it differs in batches;/);
    // Where each task comes once, the order is what it was.
    const single = new MemoryStore();
    await train(options({ checkpoints: single }));
    expect(single.saved.at(-1)!.state.fingerprint).not.toHaveProperty("batches");
  });

  it.each([
    ["data", { data: recordedData(EPISODES.slice(1)) }],
    ["settings", { settings: { ...SETTINGS, clip: 0.1 } }],
    ["method", { method: METHODS.opd }],
    ["teacher", { fingerprint: { teacher: "other" } }],
  ])("refuses a checkpoint that differs in %s, by name", async (name, overrides) => {
    const checkpoints = new MemoryStore();
    await train(options({ checkpoints, fingerprint: { teacher: "one" } }));
    await expect(
      train(options({ checkpoints, fingerprint: { teacher: "one" }, ...overrides })),
    ).rejects.toThrow(new RegExp(`another run: it differs in ${name};`));
  });

  it.each([
    ["recorded episodes", () => recordedData(EPISODES)],
    ["fresh episodes", () => freshData(TASKS, ROLLOUT)],
  ])(
    "a run over %s that continues a vanilla parent gives the numbers of the one that never stopped",
    async (_, data) => {
      const staged = (...epochs: number[]) => {
        const { stages, ...method } = METHODS["gc-opd"];
        return { ...method, stages: stages.map((stage, n) => ({ ...stage, epochs: epochs[n]! })) };
      };
      const whole = options({ data: data() });
      const expected = await train(whole);
      const kept = new MemoryStore();
      await train(options({ data: data(), method: staged(1, 0), checkpoints: kept }));
      const { folder, state } = (await kept.latest())!;
      const checkpoints = new MemoryStore();
      const child = (overrides: Partial<TrainOptions> = {}) =>
        options({
          data: data(),
          method: staged(0, 1),
          parent: { name: folder.name, step: state.step },
          openStudent: async (own) => ToyModel.open(own ?? folder),
          fingerprint: { parent: "one" },
          checkpoints,
          ...overrides,
        });
      const run = child();
      const result = await train(run);
      expect(run.events[0]).toMatchObject({ resumedFrom: null, parent: { step: 3 }, steps: 6 });
      expect(result).toMatchObject({ step: 6, finished: true });
      expect((result.student as ToyModel).logits).toEqual((expected.student as ToyModel).logits);
      expect((result.student as ToyModel).momentum).toEqual((expected.student as ToyModel).momentum);
      const figures = (events: TrainEvent[]) => ({
        batches: of(events, "step").filter(({ stage }) => stage === 1),
        metrics: of(events, "updated").flatMap(({ stage, step, metrics }) =>
          stage === 1 ? [{ step, metrics }] : [],
        ),
      });
      expect(figures(run.events)).toEqual(figures(whole.events));
      expect(figures(run.events).batches).toHaveLength(3);

      const resumed = child();
      expect(await train(resumed)).toMatchObject({ step: 6, finished: true });
      expect(resumed.events[0]).toMatchObject({ resumedFrom: 6, steps: 6 });
      await expect(train(child({ fingerprint: { parent: "two" } }))).rejects.toThrow(/it differs in parent;/);
    },
  );

  it("aborts inside a step when told to", async () => {
    const controller = new AbortController();
    const run = options({ signal: controller.signal });
    run.onEvent = (event) => {
      if (event.type === "scored") controller.abort(new Error("enough"));
    };
    await expect(train({ ...run, batchSize: 1 })).rejects.toThrow("enough");
  });
});

describe("fresh episodes", () => {
  it("are sampled from the current student, with p_old", async () => {
    const run = options({ data: freshData(TASKS, ROLLOUT) });
    await train(run);
    const rollouts = of(run.events, "rollout");
    expect(rollouts).toHaveLength(6);
    for (const event of rollouts) expect(event.ended).toEqual({ horizon: event.episodes });
    for (const { rolloutPolicy } of of(run.events, "scored")) expect(rolloutPolicy).toBe("recorded");
    for (const { metrics } of of(run.events, "updated")) expect(metrics.rolloutKl).toBeCloseTo(0, 6);
  });

  it("resume to the same numbers, sampling included", async () => {
    const fresh = () => ({ data: freshData(TASKS, ROLLOUT) });
    const whole = await train(options(fresh()));
    const checkpoints = new MemoryStore();
    const stop = new AbortController();
    await train(
      options({
        ...fresh(),
        checkpoints,
        stop: stop.signal,
        onEvent: (event) => {
          if (event.type === "updated" && event.step === 2) stop.abort();
        },
      }),
    );
    const resumed = await train(options({ ...fresh(), checkpoints }));
    expect((resumed.student as ToyModel).logits).toEqual((whole.student as ToyModel).logits);
  });
});

describe("episodes that end for technical reasons", () => {
  const broken = (id: string): Episode => {
    const whole = episode(id, ["go", "stop"]);
    return { ...whole, outcome: { ...whole.outcome, complete: false, verified: false, ended: "technical" } };
  };
  const METHOD = { ...METHODS.opd, stages: [{ ...METHODS.opd.stages[0]!, epochs: 1 }] };

  it("are no part of the update: the numbers are those of the batch without them", async () => {
    const whole = EPISODES.slice(0, 3);
    const expected = await train(options({ method: METHOD, data: recordedData(whole), batchSize: 4 }));
    const run = options({ method: METHOD, data: recordedData([...whole, broken("x")]), batchSize: 4 });
    const result = await train(run);
    const [excluded] = of(run.events, "excluded");
    expect(excluded).toMatchObject({ step: 1, episodes: [{ episode: "x", reason: null }], of: 4, steps: 1 });
    expect(of(run.events, "updated")[0]!.metrics.episodes).toBe(3);
    const [a, b] = [result, expected].map(({ student }) => (student as ToyModel).logits);
    // The sums are of the same terms, in the order of another batch.
    a!.forEach((logit, i) => {
      expect(logit).toBeCloseTo(b![i]!, 12);
    });
  });

  it("take no step where a batch has no other, and the run says so and goes on", async () => {
    const data = recordedData([...EPISODES.slice(0, 2), broken("x"), broken("y")]);
    const checkpoints = new MemoryStore();
    const run = options({ method: METHOD, data, batchSize: 1, checkpoints, checkpointEvery: 10 });
    const result = await train(run);
    expect(result).toMatchObject({ step: 2, finished: true });
    expect(of(run.events, "start")[0]!.steps).toBe(4);
    expect(of(run.events, "excluded").map(({ steps }) => steps)).toEqual([3, 2]);
    expect(of(run.events, "updated").map(({ step }) => step)).toEqual([1, 2]);
    expect(checkpoints.saved.map(({ state }) => state.step)).toEqual([2]);
    const again = options({ method: METHOD, data, batchSize: 1, checkpoints });
    expect(await train(again)).toMatchObject({ step: 2, finished: true });
    expect(of(again.events, "updated")).toEqual([]);
  });

  it("end a run in which nothing else happened, saying so", async () => {
    const run = options({ data: freshData(RECORDINGS, ROLLOUT) });
    await expect(train(run)).rejects.toThrow(
      "no step was taken: every episode of all 6 batches ended for technical reasons",
    );
    for (const { ended, episodes } of of(run.events, "rollout"))
      expect(ended).toEqual({ technical: episodes });
    const [excluded] = of(run.events, "excluded");
    expect(excluded!.episodes[0]!.reason).toMatch(/^the recording of [a-e] holds no answer to /);
    expect(of(run.events, "scored")).toEqual([]);
  });

  it("are told from records that do not say how they ended", async () => {
    const unknown = { ...broken("x"), outcome_unknown: true };
    const run = options({ method: METHOD, data: recordedData([...EPISODES, unknown]), batchSize: 6 });
    await train(run);
    expect(of(run.events, "excluded")).toEqual([]);
    expect(of(run.events, "updated")[0]!.metrics.episodes).toBe(6);
  });
});

describe("prompts over the environment's limit", () => {
  // Two ids follow the text.
  const long = (text: string) => ({ ...EPISODES[0]!.decisions[0]!, prompt: text.padStart(10_239, "x") });
  const prompted = (environment: string, prompt: string): Episode => ({
    ...EPISODES[0]!,
    environment,
    decisions: [{ ...long(prompt) }, EPISODES[0]!.decisions[0]!],
  });

  it("are cut to their last tokens in ScienceWorld, which the events tell", async () => {
    const read: number[][] = [];
    const run = options({
      method: METHODS.opd,
      data: recordedData([prompted("scienceworld", "a prompt")]),
      contexts: async () => (_decision, promptIds) => {
        read.push([...promptIds]);
        return { promptIds, successReference: false, failureReference: false, backReferences: false };
      },
    });
    await train(run);
    expect(of(run.events, "scored").map(({ cutPrompts }) => cutPrompts)).toEqual([1, 1]);
    expect(read[0]).toHaveLength(10_240);
    expect(toyCodec.decode(read[0]!.slice(-10, -2))).toBe("a prompt");
    expect(read[1]!.length).toBeLessThan(10);
  });

  it("are told of where the student plays, too", async () => {
    const [task] = TASKS;
    const open = async () => ({
      ...patient("a"),
      prompt: () => ({ message: long("go").prompt!, earlier: [] }),
    });
    const run = options({ method: METHODS.opd, data: freshData([{ ...task!, open }], ROLLOUT) });
    await train(run);
    expect(of(run.events, "scored").map(({ cutPrompts }) => cutPrompts)).toEqual([2, 2]);
  });

  it.each(["alfworld", "webshop"])("are an error in %s, before anything is scored", async (environment) => {
    const prompt = environment === "webshop" ? "a prompt".padStart(63_487, "x") : "a prompt";
    const run = options({ data: recordedData([prompted(environment, prompt)]) });
    await expect(train(run)).rejects.toThrow(
      new RegExp(`a, decisions\\[0\\]\\.prompt: \\d+ tokens; a student prompt of ${environment} has at most`),
    );
    expect(of(run.events, "scored")).toEqual([]);
  });
});

describe("bad input", () => {
  it.each(["prompt", "response"] as const)("a decision without %s is named", async (key) => {
    const bad = episode("x", ["go"]);
    delete bad.decisions[0]![key];
    await expect(train(options({ data: recordedData([bad]) }))).rejects.toThrow(
      `x, decisions[0].${key}: missing`,
    );
  });

  it("log-probabilities of another length are named", async () => {
    const bad = episode("x", ["go"], -1);
    bad.decisions[0]!.rollout_logprobs!.pop();
    await expect(train(options({ data: recordedData([bad]) }))).rejects.toThrow(
      'episode "x", decisions[0].rollout_logprobs: 2 log-probabilities for 3 response tokens',
    );
  });

  it("no episode, and two of one name", () => {
    expect(() => recordedData([])).toThrow("nothing to train on");
    expect(() => recordedData([EPISODES[0]!, EPISODES[0]!])).toThrow("two episodes are named a");
  });
});

describe("a device that fails inside a step", () => {
  const lost = () => new DeviceError("The WebGPU device was lost (unknown).", "lost");

  /** The toy student; steps whose number is in `failing` fail that many times, after having changed it. */
  function failing(times: Record<number, number>) {
    const store = new MemoryStore();
    const opened: (number | null)[] = [];
    class Failing extends ToyModel {
      override async step(...args: Parameters<ToyModel["step"]>) {
        const report = await super.step(...args);
        if ((times[report.step] ?? 0) > 0) {
          times[report.step]! -= 1;
          throw lost();
        }
        return report;
      }
    }
    const run = options({
      checkpoints: store,
      openStudent: async (folder) => {
        const from = folder === null ? new ToyModel(2) : await ToyModel.open(folder);
        const student = new Failing(0);
        student.logits.set(from.logits);
        student.momentum.set(from.momentum);
        student.steps = from.steps;
        opened.push(folder === null ? null : from.steps);
        return student;
      },
      reopen: async () => new ToyModel(1, "teacher"),
    });
    return { run, opened };
  }

  it("goes on from its last checkpoint, loses no step and ends at the same numbers", async () => {
    const whole = await train(options());
    const { run, opened } = failing({ 1: 1, 4: 2 });
    const { student, step, finished } = await train(run);
    expect({ step, finished }).toEqual({ step: 6, finished: true });
    expect(opened).toEqual([null, null, 3, 3]);
    expect((student as ToyModel).logits).toEqual((whole.student as ToyModel).logits);
    expect(of(run.events, "updated").map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(of(run.events, "fault").map(({ step, attempt }) => [step, attempt])).toEqual([
      [0, 1],
      [3, 1],
      [3, 2],
    ]);
    expect(of(run.events, "start").map(({ resumedFrom }) => resumedFrom)).toEqual([null, null, 3, 3]);
  });

  it("ends the run when the fault keeps coming back, also with steps taken again between", async () => {
    const { run, opened } = failing({ 3: 99 });
    await expect(train({ ...run, checkpointEvery: 4 })).rejects.toThrow("The WebGPU device was lost");
    expect(opened).toEqual([null, null, null, null]);
    expect(of(run.events, "fault").map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it("counts a device that does not open as one more attempt", async () => {
    const { run } = failing({ 2: 1 });
    let times = 0;
    const reopen = async () => {
      times += 1;
      if (times < 3) throw new InputError("no WebGPU device: no adapter was found");
      return new ToyModel(1, "teacher");
    };
    const { step } = await train({ ...run, reopen });
    expect(step).toBe(6);
    expect(of(run.events, "fault").map(({ message }) => message.slice(0, 10))).toEqual([
      "The WebGPU",
      "no WebGPU ",
      "no WebGPU ",
    ]);
  });

  it("ends the run where nothing is kept to go on from", async () => {
    const { run } = failing({ 2: 1 });
    await expect(train({ ...run, checkpoints: null })).rejects.toBeInstanceOf(DeviceError);
    const { run: again } = failing({ 2: 1 });
    await expect(train({ ...again, reopen: undefined })).rejects.toBeInstanceOf(DeviceError);
  });
});
