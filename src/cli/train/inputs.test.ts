import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  at,
  episodes,
  folder,
  freshFolder,
  lines,
  MODEL,
  type Record_,
  sources,
  TOKENIZER,
} from "../../../test/support/bad-input.ts";
import { FileFaults } from "../../../test/support/file-faults.ts";
import { InputError } from "../../core/errors.ts";
import { batchRows } from "../../core/loop/index.ts";
import { readInputs } from "./inputs.ts";
import { readTrainConfig } from "./read-config.ts";
import { teacherOf } from "./teacher.ts";

freshFolder();

/** What a config's files hold, and what is told while they are read. */
async function read(changes: object) {
  const files = { library: "sources.jsonl", episodes: "episodes.jsonl", tokenizer: TOKENIZER };
  writeFileSync(at("config.json"), JSON.stringify({ ...files, teacher: MODEL, student: MODEL, ...changes }));
  const notes: string[] = [];
  const config = await readTrainConfig(at("config.json"));
  const inputs = await readInputs({
    config,
    configFile: at("config.json"),
    onNote: (note) => notes.push(note),
  });
  await inputs.close();
  return { inputs, notes };
}

const told = async (changes: object): Promise<string[]> => (await read(changes)).notes;

it("ends responses recorded as text with the end of their turn, or not, as the config says", async () => {
  const rowsOf = async (changes: object) => {
    const { inputs } = await read(changes);
    return { rows: batchRows(inputs.episodes, inputs.tokenizer.codec), codec: inputs.tokenizer.codec };
  };
  const [given, { rows: without }] = [await rowsOf({}), await rowsOf({ end_of_turn: false })];
  expect(given.rows.length).toBeGreaterThan(1);
  for (const [n, { responseIds }] of given.rows.entries())
    expect(responseIds).toEqual([...without[n]!.responseIds, given.codec.endOfTurnId]);
  // L_e counts it.
  const episode = given.rows.filter((row) => row.episode === given.rows[0]!.episode);
  const tokens = episode.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
  expect(episode[0]!.weight).toBeCloseTo(
    1 / (new Set(given.rows.map(({ episode: { episode: id } }) => id)).size * tokens),
    12,
  );
});

it("says which tasks the library has no source of, where a stage retrieves", async () => {
  const tasks = new Set(episodes.map(({ task }) => task)).size;
  expect(await told({})).toEqual([]);
  writeFileSync(
    at("episodes.jsonl"),
    lines([...episodes, { ...episodes[0], episode: "far", task: "unknown" }]),
  );
  expect(await told({})).toEqual([
    `gcopd: warning: ${at("sources.jsonl")} has no source of 1 of the ${tasks + 1} tasks that are trained on: ` +
      'nothing can be retrieved for "unknown"',
  ]);
  expect(await told({ method: "opd" })).toEqual([]);
  writeFileSync(
    at("sources.jsonl"),
    lines(sources.map((source) => ({ ...source, task: `other ${String(source.task)}` }))),
  );
  const [warning] = await told({});
  expect(warning).toContain(`has no source of ${tasks + 1} of the ${tasks + 1} tasks`);
});

it("says how many visits a custom environment's feedback takes out of retrieval", async () => {
  const named = { environment: "kitchen" };
  const [first] = sources;
  const decisions = first!.decisions as object[];
  const two = [decisions[0]!, decisions[0]!].map((decision) => ({ ...decision, feedback: "Done." }));
  const outcome = { complete: true, success: true, score: 1, ended: "environment", verified: true };
  writeFileSync(at("sources.jsonl"), lines([{ ...first, ...named, decisions: two, outcome }]));
  writeFileSync(at("episodes.jsonl"), lines(episodes.map((episode) => ({ ...episode, ...named }))));
  expect((await told({})).at(-1)).toBe(
    `gcopd: note: ${at("sources.jsonl")}: 1 of 2 visits of trusted successes of kitchen cannot be retrieved: ` +
      "a feedback after the visit differs from the next observation (docs/library-format.md)",
  );
});

it("says which tasks have sources, but none that the method keeps", async () => {
  const keeps = (limits: string, some: string) =>
    `gcopd: warning: the method (${limits}) keeps no source of ${some}: nothing can be retrieved for `;
  const tasks = [...new Set(episodes.map(({ task }) => task))];
  const [first] = tasks;
  const write = (changes: object) =>
    writeFileSync(
      at("sources.jsonl"),
      lines(
        sources.map((source, n) =>
          source.task === first ? { ...source, repetition: 16 + n, ...changes } : source,
        ),
      ),
    );
  const some = `1 of the ${tasks.length} tasks that are trained on`;
  write({});
  expect(await told({})).toEqual([
    `${keeps("sources_per_task 16, augmentation false", some)}${JSON.stringify(first)}`,
  ]);
  expect(await told({ sources_per_task: 100 })).toEqual([]);
  expect(await told({ method: "opd" })).toEqual([]);
  write({ origin: { kind: "planner" } });
  expect(await told({ sources_per_task: 100 })).toEqual([
    `${keeps("sources_per_task 100, augmentation false", some)}${JSON.stringify(first)}`,
  ]);
  expect(await told({ method: "gc-opd+ga" })).toEqual([]);
});

describe("a watched decision", () => {
  const [first, second, third] = episodes as [Record_, Record_, Record_];
  const trainedOf = async (changes: object, watched: readonly Record_[]) => {
    writeFileSync(at("watched.jsonl"), lines(watched));
    const decisions = watched.map(({ episode }) => ({ episode, decision: 0 }));
    const watch = { decisions, episodes: "watched.jsonl" };
    const { inputs } = await read({ method: "opd", watch, ...changes });
    return inputs.watch!.decisions.map(({ trained, taskTrained }) => [trained, taskTrained]);
  };

  it("is of an episode, a task or neither that the run trains on", async () => {
    const far = { ...episodes[3], episode: second.episode, task: "unknown" };
    const told = { episode_ids: [first.episode, second.episode] };
    expect(await trainedOf(told, [first, third, far])).toEqual([
      [true, true],
      [false, true],
      // An equal id, of an episode that is another.
      [false, false],
    ]);
    const other = { ...first, initial_observation: "Another hall." };
    expect(await trainedOf(told, [other])).toEqual([[false, true]]);
  });

  it("is of a task where the student plays what it trains on", async () => {
    expect(await trainedOf({ sample: {} }, [first])).toEqual([[false, true]]);
    const environment = {
      ...{ name: "alfworld", made: { count: 1, seed: 0, size: "small" } },
      ...{ max_decisions: 2, max_tokens: 2 },
    };
    const live = { environment, episodes: undefined };
    const { inputs } = await read({ ...live, method: "opd" });
    const { task } = inputs.games!.tasks[0]!;
    const played = { ...second, environment: "alfworld", task };
    expect(await trainedOf(live, [first, played])).toEqual([
      [false, false],
      [false, true],
    ]);
  });
});

describe("references that a stage replays", () => {
  const environment = {
    ...{ name: "alfworld", made: { count: 2, seed: 0, size: "small" } },
    ...{ max_decisions: 2, max_tokens: 2 },
  };
  const changes = { method: "tcod-b2f", episodes: undefined, environment };
  const [source] = sources;
  /** A library in which a planner solved the tasks. */
  const planned = async (solved: (tasks: string[]) => string[], records: object = {}) => {
    const { inputs } = await read({ ...changes, method: "opd" });
    const tasks = inputs.games!.tasks.map(({ task }) => task);
    const outcome = { complete: true, success: true, score: 100, ended: "environment", verified: true };
    const plans = solved(tasks).map((task) => ({
      ...{ ...source, environment: "alfworld", task, origin: { kind: "planner" }, outcome },
      ...records,
    }));
    writeFileSync(at("sources.jsonl"), lines([...plans, source]));
  };

  it("are counted: a note says how many tasks have none", async () => {
    await planned((tasks) => tasks);
    expect(await told(changes)).toEqual([]);
    await planned(([first]) => [first!]);
    expect(await told(changes)).toEqual([
      "gcopd: warning: 1 of 2 tasks have no reference and start at their beginning",
    ]);
    expect(await told({ ...changes, method: "opd" })).toEqual([]);
  });

  it("are needed for one task at least", async () => {
    await planned((tasks) => tasks, { origin: { kind: "teacher" } });
    await expect(read(changes)).rejects.toMatchObject({
      reason: expect.stringContaining(
        "no task that is trained on has a planner or oracle record that can be replayed",
      ),
      where: { file: at("config.json"), key: "library" },
    });
  });
});

it("says of how many tasks the method keeps more records than its budget, since repetitions are not unique", async () => {
  const tasks = [...new Set(episodes.map(({ task }) => task))];
  const all = sources.filter(({ task }) => task === tasks[0]);
  const again = [1, 2].flatMap((n) => all.map((each) => ({ ...each, source: `${each.source} ${n}` })));
  writeFileSync(at("sources.jsonl"), lines([...sources, ...again]));
  expect(await told({})).toEqual([]);
  expect(await told({ sources_per_task: 1 })).toEqual([
    `gcopd: warning: more sampled sources than sources_per_task are kept of 1 of the ${tasks.length} tasks that are ` +
      "trained on, up to 3: it counts repetitions, and sources share them",
  ]);
  expect(await told({ sources_per_task: 1, method: "opd" })).toEqual([]);
});

describe("the file of a method", () => {
  const stage = { name: "mine", epochs: 2, evidence: { kind: "none" } };
  const readWith = (method: unknown) => {
    writeFileSync(at("my-method.json"), typeof method === "string" ? method : JSON.stringify(method));
    return read({ method: "my-method.json" });
  };

  it("is read from beside the config, and runs as any other", async () => {
    const { inputs } = await readWith({ name: "my method", source: "a paper", stages: [stage] });
    expect(inputs.method).toEqual({ id: "my method", description: "", source: "a paper", stages: [stage] });
  });

  it.each([
    ["{", "not JSON", undefined],
    [{ name: "mine" }, "missing; expected array", "stages"],
    [{ name: "mine", stages: [{ ...stage, weight: 1 }] }, 'unknown key "weight"', "stages[0]"],
    [
      { name: "mine", stages: [{ ...stage, sampling: { kind: "depth", every: 0 } }] },
      "expected at least 1, received 0",
      "stages[0].sampling.every",
    ],
    [
      { name: "mine", stages: [{ ...stage, weights: { kind: "heavy" } }] },
      "Expected 'episode' | 'turn-balanced' | 'step-divergence' | 'turn-utility'",
      "stages[0].weights.kind",
    ],
  ])("is refused by file and key: %j", async (method, message, key) => {
    await expect(readWith(method)).rejects.toMatchObject({
      reason: expect.stringContaining(message),
      where: { file: at("my-method.json"), ...(key === undefined ? {} : { key }) },
    });
  });

  it("is refused where there is none, and where its stages need what the config lacks", async () => {
    await expect(read({ method: "other.json" })).rejects.toThrow("other.json");
    await expect(readWith({ name: "mine", stages: [{ ...stage, reward: {} }] })).rejects.toMatchObject({
      reason:
        'the stage "mine" plays each task several times: it needs a live environment, not recorded episodes',
      where: { file: at("config.json"), key: "environment" },
    });
  });
});

it("takes the student's folder as the teacher's where it is its own, and none where no stage asks", async () => {
  const stages = [{ name: "mine", epochs: 1, evidence: { kind: "none" } }];
  const config = async (changes: object) => {
    writeFileSync(
      at("config.json"),
      JSON.stringify({
        ...{ library: "sources.jsonl", episodes: "episodes.jsonl", tokenizer: TOKENIZER, student: MODEL },
        ...changes,
      }),
    );
    return readTrainConfig(at("config.json"));
  };
  const own = await config({ method: { name: "own", teacher: "student", stages } });
  expect(teacherOf(own, { parent: null })).toBe(own.student);
  expect(teacherOf(await config({ teacher: "student", stages }), { parent: null })).toBe(own.student);
  await expect(config({ stages })).rejects.toMatchObject({ where: { key: "teacher" } });
  // Before the word had a meaning of its own, this was the folder.
  mkdirSync(at("student"));
  await expect(config({ teacher: "student", stages })).rejects.toMatchObject({
    message: expect.stringContaining('ambiguous: write "./student" for the folder beside the config'),
    where: { file: at("config.json"), key: "teacher" },
  });
  cpSync(MODEL, at("student"), { recursive: true });
  expect((await config({ teacher: "./student", stages })).teacher).toBe(at("student"));
});

describe("each reading of the inputs goes wrong once", () => {
  let files: FileFaults;
  beforeAll(async () => {
    files = await FileFaults.install();
  });
  afterAll(() => files.restore());

  /** What is read of the folder. */
  const READ = [
    ...["episodes.jsonl", "sources.jsonl"],
    ...["model/config.json", "model/model.safetensors"],
    ...["tokenizer/tokenizer.json", "tokenizer/tokenizer_config.json"],
  ];

  it.each(["short", "EIO", "EMFILE"] as const)("%s", async (fault) => {
    // Copies: only what lies in the folder is reached.
    cpSync(MODEL, at("model"), { recursive: true });
    cpSync(TOKENIZER, at("tokenizer"), { recursive: true });
    const models = { tokenizer: at("tokenizer"), teacher: at("model"), student: at("model") };
    const configFile = at("config.json");
    writeFileSync(
      configFile,
      JSON.stringify({ library: "sources.jsonl", episodes: "episodes.jsonl", ...models }),
    );
    const rowsOf = async () => {
      const config = await readTrainConfig(configFile);
      const inputs = await readInputs({ config, configFile, onNote: () => undefined });
      await inputs.close();
      return batchRows(inputs.episodes, inputs.tokenizer.codec);
    };
    const whole = await rowsOf();
    const met = await files.each(
      fault,
      () => folder,
      async () => {
        const result = await rowsOf().catch((error: unknown) => error);
        if (files.injected === null || fault === "short") return expect(result).toEqual(whole);
        expect(result).toBeInstanceOf(InputError);
        expect((result as Error).message).toMatch(/^[^\n]+: [^\n]+$/);
        expect((result as Error).message).toContain(folder);
      },
    );
    const reached = new Set(met.map(({ path }) => relative(folder, path)));
    // A whole file is read by one call of Node's: nothing comes short there.
    const read = fault === "short" ? READ : ["config.json", ...READ];
    expect(read.filter((name) => !reached.has(name))).toEqual([]);
  });
});
