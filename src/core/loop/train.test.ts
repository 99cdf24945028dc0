import { describe, expect, it } from "vitest";
import { MemoryStore, ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import {
  EPISODES,
  episode,
  of,
  options,
  patient,
  RECORDINGS,
  ROLLOUT,
  SETTINGS,
  TASKS,
} from "../../../test/support/toy-training.ts";
import { METHODS } from "../method/index.ts";
import type { FolderWriter } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { freshData, recordedData } from "./data.ts";
import { type StepWork, train } from "./train.ts";

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

  it("reports the progress of a large checkpoint, and none of small ones", async () => {
    const works: StepWork[] = [];
    class Large extends ToyModel {
      override readonly info = { ...new ToyModel(2).info, parameters: 20_000_000 };
      override async save(writer: FolderWriter): Promise<void> {
        await writer.write("large.bin", [new Uint8Array(70e6), new Uint8Array(70e6)]);
        await super.save(writer);
      }
    }
    const onWork = (work: StepWork): void => void works.push(work);
    const checkpoints = () => new MemoryStore();
    const run = options({ onWork, checkpoints: checkpoints(), openStudent: async () => new Large(2) });
    await train(run);
    const kept = works.filter(({ what }) => what === "checkpoint").map(({ done, total }) => [done, total]);
    expect(kept).toHaveLength(2 * of(run.events, "checkpoint").length);
    expect(kept.slice(0, 2)).toEqual([
      [70, 240],
      [140, 240],
    ]);
    works.length = 0;
    await train(options({ onWork, checkpoints: checkpoints() }));
    expect(works.filter(({ what }) => what === "checkpoint")).toEqual([]);
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

  it("are not part of the update: the numbers are those of the batch without them", async () => {
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

  it("are counted apart from those without a decision, which N does not count either", async () => {
    const whole = EPISODES.slice(0, 3);
    const expected = await train(options({ method: METHOD, data: recordedData(whole), batchSize: 4 }));
    const empty = episode("x", []);
    const run = options({ method: METHOD, data: recordedData([...whole, empty]), batchSize: 4 });
    const { student } = await train(run);
    expect(of(run.events, "excluded")[0]).toMatchObject({
      episodes: [{ episode: "x", reason: "it has no decision", noTurn: true }],
      of: 4,
    });
    (student as ToyModel).logits.forEach((logit, i) => {
      expect(logit).toBeCloseTo((expected.student as ToyModel).logits[i]!, 12);
    });
  });

  it("and batches in which no response has a token: neither ends the run", async () => {
    const silent = episode("y", ["go"]);
    for (const decision of silent.decisions)
      Object.assign(decision, { prompt_ids: [1], response_ids: [], rollout_logprobs: [] });
    const data = recordedData([...EPISODES.slice(0, 2), episode("x", []), silent]);
    const run = options({ method: METHOD, data, batchSize: 1 });
    expect(await train(run)).toMatchObject({ step: 2, finished: true });
    const reasons = of(run.events, "excluded").flatMap(({ episodes }) =>
      episodes.map(({ reason }) => reason),
    );
    expect(reasons.sort()).toEqual(["it has no decision", "no response of the batch has a token"]);
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
        return { promptIds, successReference: null, failureReference: null, backReferences: false };
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
