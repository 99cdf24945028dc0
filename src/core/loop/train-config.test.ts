import { describe, expect, it } from "vitest";
import { z } from "zod";
import { PAPER_SETTINGS } from "../ports.ts";
import { checkTrainConfig } from "./check-train-config.ts";
import { configuredMethod, configuredTeacher } from "./configured-method.ts";
import { configuredSettings, namedFiles, trainConfigSchema } from "./train-config.ts";

const REQUIRED = { episodes: "e.jsonl", teacher: "t", student: "s" };
const LIVE = {
  environment: { name: "alfworld", made: { count: 2, seed: 1 } },
  library: undefined,
  student: "s",
};

describe("train config", () => {
  it("lets only the first stage that is trained go on inside itself", () => {
    const config = (more: object) => trainConfigSchema.parse({ ...REQUIRED, method: "gc-opd", ...more });
    expect(() => configuredMethod(config({ epochs: [1, 1], first_epochs: [0, 1] }))).toThrow(
      "first_epochs: expected 0 for stage 2: only the first stage that is trained goes on",
    );
    expect(configuredMethod(config({ epochs: [0, 1], first_epochs: [0, 1] })).stages[1]).toMatchObject({
      firstEpoch: 1,
    });
  });

  it("refuses to go on inside a stage whose ramp is over a share of it", () => {
    const stage = { name: "mine", epochs: 1, evidence: { kind: "none" } };
    const ramp = (over: object) => ({ from: 0, to: 1, over });
    const first = (more: object, first_epochs = [1]) =>
      configuredMethod(
        trainConfigSchema.parse({ ...REQUIRED, stages: [{ ...stage, ...more }], first_epochs }),
      );
    const balanced = (over: object) => ({ weights: { kind: "turn-balanced", balance: ramp(over) } });
    const rewarded = (key: string, over: object) => ({
      reward: { of: "success", group: 2, teacher: 1, factor: 1, [key]: ramp(over) },
    });
    for (const [more, key] of [
      [balanced({ share: 1 }), "weights.balance"],
      [rewarded("teacher", { share: 0.5 }), "reward.teacher"],
      [rewarded("factor", { share: 0.5 }), "reward.factor"],
    ] as const) {
      expect(() => first(more)).toThrow(
        `first_epochs: stage 1 cannot go on: its ${key} changes over a share of the stage`,
      );
      expect(first(more, [0]).stages).toHaveLength(1);
    }
    for (const more of [balanced({ updates: 9 }), rewarded("teacher", { updates: 9 }), {}])
      expect(first(more).stages[0]).toMatchObject({ firstEpoch: 1 });
    expect(() =>
      configuredMethod(
        trainConfigSchema.parse({ ...REQUIRED, method: "turnopd", epochs: [1], first_epochs: [1] }),
      ),
    ).toThrow("its weights.balance changes over a share of the stage");
  });

  it("docs/train-config.schema.json is current (`npx vitest run src/core/loop -u` rewrites it)", async () => {
    const schema = {
      title: "Training job of gcopd train",
      ...z.toJSONSchema(trainConfigSchema, { io: "input" }),
    };
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
      "../../../docs/train-config.schema.json",
    );
  });

  it("defaults to the paper's settings and GC-OPD", () => {
    const config = trainConfigSchema.parse(REQUIRED);
    expect(configuredSettings(config)).toEqual(PAPER_SETTINGS);
    expect(config.batch_size).toBe(32);
    expect(configuredMethod(config).stages.map(({ name, epochs }) => [name, epochs])).toEqual([
      ["vanilla", 1],
      ["graph-conditioned", 1],
    ]);
  });

  it("takes a file, or a list of files, of sources and of episodes", () => {
    const { library, episodes } = trainConfigSchema.parse({ ...REQUIRED, library: ["a", "b"] });
    expect([namedFiles(library), namedFiles(episodes)]).toEqual([["a", "b"], ["e.jsonl"]]);
    expect(namedFiles(undefined)).toEqual([]);
    for (const bad of [[], "", [""], 3, ["a", 3]])
      expect(trainConfigSchema.safeParse({ ...REQUIRED, library: bad }).success).toBe(false);
  });

  it("takes epochs, control and stages of its own", () => {
    const method = configuredMethod(
      trainConfigSchema.parse({ ...REQUIRED, epochs: [0, 3], control: "success-only" }),
    );
    // A skipped stage keeps its number, which decides the order of the episodes in those after it.
    expect(method.stages).toEqual([
      { name: "vanilla", epochs: 0, evidence: { kind: "none" } },
      {
        name: "graph-conditioned",
        epochs: 3,
        evidence: {
          kind: "graph-conditioned",
          control: "success-only",
          sourcesPerTask: 16,
          augmentation: false,
        },
      },
    ]);
    const stages = [{ name: "mine", epochs: 2, evidence: { kind: "graph-conditioned" } }];
    expect(configuredMethod(trainConfigSchema.parse({ ...REQUIRED, stages })).stages[0]!.evidence).toEqual({
      kind: "graph-conditioned",
      control: "graph",
    });
  });

  it("takes the options of the ablations for all stages or for one, and leaves out what is absent", () => {
    const subset = { success_tasks: 0.5, failures: 0.25, seed: 3 };
    const keys = { sources_per_task: 4, augmentation: false, terminal_failure_note: true, subset };
    const named = { successTasks: 0.5, failures: 0.25, seed: 3 };
    const names = { sourcesPerTask: 4, augmentation: false, terminalFailureNote: true, subset: named };
    const evidence = (config: object) =>
      configuredMethod(trainConfigSchema.parse({ ...REQUIRED, ...config })).stages.at(-1)!.evidence;
    expect(evidence({ method: "minimum-prefix", ...keys })).toStrictEqual({
      kind: "graph-conditioned",
      control: "minimum-prefix",
      ...names,
    });
    const stage = (...more: object[]) => ({
      stages: [{ name: "mine", epochs: 1, evidence: Object.assign({ kind: "graph-conditioned" }, ...more) }],
    });
    expect(evidence(stage(keys))).toStrictEqual({ kind: "graph-conditioned", control: "graph", ...names });
    expect(evidence({ ...stage(keys), sources_per_task: 1 })).toMatchObject({ ...names, sourcesPerTask: 1 });
    // What is absent stays absent: the fingerprint of a run without these options does not change.
    expect(evidence(stage())).toStrictEqual({ kind: "graph-conditioned", control: "graph" });
    for (const bad of [
      ...[{ sources_per_task: 0 }, { sources_per_task: 1.5 }, { augmentation: "on" }],
      ...[{ subset: { failures: 1.1 } }, { subset: { success: 0.5 } }],
    ]) {
      expect(trainConfigSchema.safeParse({ ...REQUIRED, ...bad }).success).toBe(false);
    }
  });

  it("refuses epochs that do not fit the stages", () => {
    for (const epochs of [
      [1, 1, 1],
      [0, 0],
    ]) {
      const config = trainConfigSchema.parse({ ...REQUIRED, epochs });
      expect(() => configuredMethod(config)).toThrow(/^epochs: /);
    }
    const stages = [{ name: "mine", epochs: 0, evidence: { kind: "none" } }];
    expect(() => configuredMethod(trainConfigSchema.parse({ ...REQUIRED, stages }))).toThrow(/^stages: /);
  });

  it("takes a method by name, as it is, or as a file that only commands read", () => {
    const stages = [{ name: "mine", epochs: 2, evidence: { kind: "none" } }];
    const config = trainConfigSchema.parse({ ...REQUIRED, method: { name: "my method", stages } });
    expect(configuredMethod(config)).toMatchObject({ id: "my method", stages });
    expect(() => configuredMethod(trainConfigSchema.parse({ ...REQUIRED, method: "my.json" }))).toThrow(
      'method: expected a method, received "my.json"; only commands read a file by its name',
    );
  });

  it("knows who the teacher is: the config's, the student where the method says so, or none", () => {
    const teacher = (more: object) => configuredTeacher(trainConfigSchema.parse({ ...LIVE, ...more }));
    expect(teacher({ teacher: "t" })).toBe("t");
    expect(teacher({ teacher: "student", method: "opd" })).toBe("student");
    expect(teacher({ method: "self-distillation" })).toBe("student");
    expect(teacher({ method: "grpo" })).toBe(null);
    expect(teacher({ method: "grpo", teacher: "t" })).toBe(null);
    expect(() => teacher({ method: "opd" })).toThrow("teacher: missing: name a model that scores");
    expect(() => teacher({ method: "self-distillation", teacher: "t" })).toThrow(
      "teacher: the teacher of self-distillation is the student itself: leave it out",
    );
  });

  it.each([
    [
      "tcod-f2b",
      'environment: the stage "forward to backward" cuts episodes at a depth: it needs a live environment, not recorded episodes',
    ],
    [
      "tcod-b2f",
      'environment: the stage "backward to forward" plays behind replayed actions: it needs a live environment, not recorded episodes',
    ],
    [
      "grpo",
      'environment: the stage "group-relative" plays each task several times: it needs a live environment, not recorded episodes',
    ],
  ])("refuses %s over recorded episodes in one line", (method, message) => {
    const config = trainConfigSchema.parse({ ...REQUIRED, library: "l", method });
    expect(() => checkTrainConfig(config)).toThrow(message);
  });

  it("refuses what a stage lacks, and names the key", () => {
    const check = (more: object) =>
      checkTrainConfig(trainConfigSchema.parse({ ...LIVE, teacher: "t", ...more }));
    for (const method of ["tcod-f2b", "turnopd", "grpo", "sod", "atod"]) check({ method });
    check({ method: "tcod-b2f", library: "l" });
    expect(() => check({ method: "tcod-b2f" })).toThrow(
      "library: missing: the references that are replayed come from it",
    );
    expect(() => check({ method: "sod", batch_size: 8 })).toThrow(
      'batch_size: the stage "step-wise" plays each task 16 times: expected at least as many, received 8',
    );
    const stage = { name: "mine", epochs: 1, evidence: { kind: "none" }, reward: { teacher: 0 } };
    expect(() => check({ stages: [{ ...stage, weights: { kind: "turn-utility" }, bridge: {} }] })).toThrow(
      'stages: the stage "mine" has weights by turn-utility and a bridge, which the teacher\'s signal decides, and asks no teacher',
    );
    expect(() => check({ stages: [{ ...stage, reward: {}, bridge: {} }] })).toThrow(
      'stages: the stage "mine" has a bridge beside a reward, of which its row would get none',
    );
    const elsewhere = { kind: "depth", every: { webshop: 4 } };
    expect(() => check({ stages: [{ ...stage, reward: undefined, sampling: elsewhere }] })).toThrow(
      'stages: the stage "mine" has no sampling.every for alfworld, only for webshop',
    );
    const divergence = { name: "mine", epochs: 1, evidence: { kind: "none" }, signal: { kind: "top-k" } };
    for (const [key, more] of [
      ["reward", { reward: {} }],
      ["bridge", { bridge: {} }],
      ["weights", { weights: { kind: "turn-utility" } }],
    ] as const)
      expect(() => check({ stages: [{ ...divergence, ...more }] })).toThrow(
        `stages: stage "mine": \`${key}\` needs the signal "sampled-token", received "top-k"`,
      );
    check({ stages: [{ ...divergence, weights: { kind: "turn-balanced" } }] });
    expect(() =>
      check({
        ...{ teacher: undefined, method: "self-distillation", library: "l", parent: "p" },
        tinker: { url: "http://127.0.0.1:1" },
      }),
    ).toThrow("teacher: the student as its own teacher has its weights on the server: name a folder");
  });

  it("refuses unknown keys and impossible values", () => {
    for (const bad of [
      { ...REQUIRED, batchsize: 3 },
      { ...REQUIRED, batch_size: 0 },
      { ...REQUIRED, settings: { clip: 0 } },
      { ...REQUIRED, method: "magic" },
      { ...REQUIRED, method: { name: "no stages" } },
      { episodes: "e", teacher: "t" },
    ]) {
      expect(trainConfigSchema.safeParse(bad).success).toBe(false);
    }
  });
});
