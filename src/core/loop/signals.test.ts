import { describe, expect, it } from "vitest";
import { ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { contexts, EPISODES, of, options, SETTINGS } from "../../../test/support/toy-training.ts";
import { MOST_DISTRIBUTION_BYTES } from "../distribution-bound.ts";
import type { Method, Signal } from "../method/index.ts";
import type { Trainer } from "../ports.ts";
import { checkTrainConfig } from "./check-train-config.ts";
import { configuredMethod } from "./configured-method.ts";
import { batchRows } from "./rows.ts";
import { scoreBatch, unscoredItems } from "./score-batch.ts";
import { train } from "./train.ts";
import { trainConfigSchema } from "./train-config.ts";

const schedule = (signal?: Signal, epochs = 1): Method => ({
  id: "custom",
  description: "",
  stages: [{ name: "one", epochs, evidence: { kind: "none" }, ...(signal && { signal }) }],
});
const SIGNALS: Signal[] = [{ kind: "top-k", k: 8 }, { kind: "full-vocabulary" }];

describe("a stage's signal", () => {
  it.each(SIGNALS)("$kind: the loop asks the teacher for it, and the mean KL falls", async (signal) => {
    const teacher = new ToyModel(1, "teacher");
    const run = options({ teacher, method: schedule(signal, 6), batchSize: 5 });
    await train(run);
    expect(of(run.events, "stage")).toMatchObject([{ signal }]);
    const asked = signal.kind === "top-k" ? { topK: 8 } : { distribution: true };
    for (const each of teacher.scoreCalls) expect(each).toEqual(asked);
    const metrics = of(run.events, "updated").map((event) => event.metrics);
    for (const [n, { loss, clipFraction }] of metrics.entries()) {
      expect(clipFraction).toBe(0);
      expect(loss).toBeGreaterThan(0);
      if (n > 0) expect(loss).toBeLessThan(metrics[n - 1]!.loss);
    }
  });

  it("the loss is the mean KL over tokens of an episode, then over episodes, and A is −KL", async () => {
    const teacher = new ToyModel(1);
    const student = new ToyModel(2);
    const reports: Awaited<ReturnType<Trainer["step"]>>[] = [];
    const step = student.step.bind(student);
    student.step = async (items, settings) => {
      reports.push(await step(items, settings));
      return reports.at(-1)!;
    };
    await train(
      options({ teacher, method: schedule(SIGNALS[1]), batchSize: 5, openStudent: async () => student }),
    );
    const before = new ToyModel(2);
    const means = EPISODES.map((episode) => {
      const all = batchRows([episode], toyCodec).flatMap(({ promptIds, responseIds }) =>
        responseIds.map((_, i) => {
          const previous = i === 0 ? promptIds.at(-1)! : responseIds[i - 1]!;
          const [own, other] = [before.row(previous), teacher.row(previous)];
          return own.reduce((sum, logprob, v) => sum + Math.exp(logprob) * (logprob - other[v]!), 0);
        }),
      );
      return all.reduce((a, b) => a + b) / all.length;
    });
    const [report] = reports;
    expect(report!.loss).toBeCloseTo(means.reduce((a, b) => a + b) / means.length, 6);
    const shortest = report!.items.filter(({ episode }) => episode === "a").flatMap((i) => [...i.advantage]);
    expect(shortest.reduce((a, b) => a + b) / -shortest.length).toBeCloseTo(means[0]!, 6);
  });

  it("a mask leaves the end of a turn out of the loss, under every signal", async () => {
    const mask = [toyCodec.endOfTurnId];
    for (const signal of [{ kind: "sampled-token" } as const, ...SIGNALS]) {
      const student = new ToyModel(2);
      const rows = batchRows([EPISODES[0]!], toyCodec);
      const stage = { evidence: { kind: "none" } as const, signal: { ...signal, mask } };
      const { items } = await scoreBatch(rows, stage, new ToyModel(1), contexts);
      for (const { responseIds, masked } of items)
        expect([...masked!]).toEqual(responseIds.map((id) => (id === mask[0] ? 1 : 0)));
      const report = await student.step(items, SETTINGS);
      for (const [n, { advantage }] of report.items.entries())
        advantage.forEach((value, i) => {
          expect(value === 0).toBe(items[n]!.masked![i] === 1);
        });
      // Where the reward alone decides, no teacher is asked.
      const unscored = unscoredItems(rows, stage);
      expect(unscored.map(({ masked }) => masked)).toEqual(items.map(({ masked }) => masked));
    }
  });

  it("distributions of a batch that would not fit are refused before the teacher is asked", async () => {
    const teacher = new ToyModel(1);
    const rows = batchRows(EPISODES, toyCodec);
    const tokens = rows.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
    const vocabulary = Math.floor(MOST_DISTRIBUTION_BYTES / 4 / tokens) + 1;
    const stage = { evidence: { kind: "none" } as const, signal: SIGNALS[1]! };
    const large = { score: teacher.score.bind(teacher), info: { ...teacher.info, vocabulary } };
    await expect(scoreBatch(rows, stage, large, contexts)).rejects.toThrow(
      `the teacher's scores of a batch: the distributions of ${tokens} tokens over a vocabulary of ${vocabulary} take 2.0 GiB`,
    );
    expect(teacher.scoreCalls).toEqual([]);
  });

  it("a teacher that does not tell what is compared is refused", async () => {
    const teacher = new ToyModel(1);
    const stage = { evidence: { kind: "none" } as const, signal: SIGNALS[0]! };
    const plain = { info: teacher.info, score: (r: Parameters<ToyModel["score"]>[0]) => teacher.score(r) };
    await expect(scoreBatch(batchRows(EPISODES, toyCodec), stage, plain, contexts)).rejects.toThrow(
      'a#0: the teacher did not tell what the signal "top-k" compares',
    );
  });
});

describe("in a config", () => {
  const config = (signal: unknown, more: object = {}) =>
    trainConfigSchema.parse({
      ...{ episodes: "e", teacher: "t", student: "s", ...more },
      stages: [{ name: "one", epochs: 1, evidence: { kind: "none" }, ...(signal ? { signal } : {}) }],
    });
  const stageOf = (signal: unknown) => configuredMethod(config(signal)).stages[0];

  it("names a signal; one that is the paper's own makes the stage of a config without it", () => {
    expect(stageOf({ kind: "top-k" })).toMatchObject({ signal: { kind: "top-k", k: 32 } });
    expect(stageOf({ kind: "full-vocabulary", mask: [3] })).toMatchObject({
      signal: { kind: "full-vocabulary", mask: [3] },
    });
    const plain = JSON.stringify(schedule().stages[0]);
    expect(JSON.stringify(stageOf(undefined))).toBe(plain);
    expect(JSON.stringify(stageOf({ kind: "sampled-token" }))).toBe(plain);
  });

  it("has one for all stages, in place of theirs", () => {
    const own = { kind: "top-k", k: 5 };
    const of = (signal: unknown) => configuredMethod(config(own, { signal })).stages[0];
    expect(of("full-vocabulary")).toMatchObject({ signal: { kind: "full-vocabulary" } });
    expect(of({ kind: "top-k", k: 7 })).toMatchObject({ signal: { kind: "top-k", k: 7 } });
    expect(JSON.stringify(of("sampled-token"))).toBe(JSON.stringify(schedule().stages[0]));
    expect(() => of("all")).toThrow();
  });

  it.each([
    { kind: "top-k", k: 1 },
    { kind: "top-k", k: 65 },
    { kind: "full-vocabulary", k: 3 },
    { kind: "sampled-token", mask: [] },
    { kind: "all" },
  ])("refuses %j", (signal) => {
    expect(() => config(signal)).toThrow();
  });

  it("refuses a divergence with a teacher or a student on a server", () => {
    const served = { teacher: "http://127.0.0.1:8000" };
    expect(() => checkTrainConfig(config({ kind: "top-k" }, served))).toThrow(
      'stages: stage "one": a teacher on a server tells log-probabilities of sampled tokens only: expected the signal "sampled-token", received "top-k"',
    );
    const tinker = { tinker: { url: "http://127.0.0.1:8000" } };
    expect(() => checkTrainConfig(config({ kind: "full-vocabulary" }, tinker))).toThrow(
      "a student on a server trains on sampled tokens only",
    );
    for (const more of [served, tinker, {}])
      expect(() => checkTrainConfig(config({ kind: "sampled-token", mask: [0] }, more))).not.toThrow();
  });
});
